"""Starting a run: the form of a run request, kept for the next time until the run is accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.widget import Widget
from textual.widgets import Static

from runwatch.tui.draw import Pieces, content
from runwatch.tui.mutations import submit_run
from runwatch.tui.screens.form import FormScreen
from runwatch.view.draft import FORM, Again, start_values
from runwatch.view.drawn import line
from runwatch.view.format import short_id
from runwatch.view.glyphs import Role

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.tui.sending import Sending


class RunForm(FormScreen):
    """The form. What is typed is kept for the next time, whichever way the form is left, until the run is accepted.

    Args:
        values: What it holds at first, by field; ``None`` for a new run.
        field: The field to begin in; empty for the first one that people fill in.
        like: The earlier run that the values are from.
    """

    BEGINS_IN: ClassVar[str] = "objective"
    DEFAULT_CSS = """
    RunForm {
        & #like {
            height: auto;
            padding: 0 1 1 1;
        }
    }
    """

    def __init__(self, values: Mapping[str, str] | None = None, field: str = "", *, like: Again | None = None) -> None:
        super().__init__(FORM, {**start_values(), **(values or {})}, field)
        self._like = like

    def form_title(self) -> Pieces:
        """A new run, or one like another."""
        title = "New run"
        if self._like is not None:
            title = f"New run like {short_id(self._like.run_id, self.console.glyphs)}"
        return line(f"{title} {self.console.glyphs.dot} postExecutions")

    def request_line(self) -> Pieces:
        """Where runs are submitted."""
        return line("POST /v1/executions")

    def go_label(self) -> str:
        """What comes next is the sheet."""
        return "Start…"

    def before_fields(self) -> Sequence[Widget]:
        """What is not known of the earlier run."""
        if self._like is None or not self._like.note:
            return ()
        return (Static(content(line(self._like.note, None), Role.WARN), id="like"),)

    def crumbs(self) -> Sequence[str]:
        """Below the runs."""
        return ("Runs", "New run")

    def typed(self, values: Mapping[str, str]) -> None:
        """Keep it with every letter, because a form can be left in more ways than by its own key."""
        self.console.draft = dict(values)

    def sheet_for(self, desk: Desk, body: bytes, shown: Any, key: str) -> Sending:
        """The sheet that submits the run."""
        return submit_run(self, desk, body, shown, key=key, done=self._accepted, refused=self.refused)

    def _accepted(self, run_id: str) -> None:
        self.console.draft = None
        self.console.show_run(run_id)
