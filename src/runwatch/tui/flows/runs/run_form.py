"""Starting a run: the form of a run request, whose draft is kept until the run is accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from textual.widget import Widget
from textual.widgets import Static

from runwatch.api.operations import SUBMIT
from runwatch.tui.core.rendering import StyledSpans, to_content
from runwatch.tui.flows.form_screen import FormScreen
from runwatch.tui.flows.runs.run_dialogs import build_submit_sender, forget_draft
from runwatch.view.actions.run_form import FORM, RunPrefill, prefill_from_run, start_values
from runwatch.view.text.format import short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.flows.writes.write_sender import WriteSender
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen
    from runwatch.view.runs.run_facts import RunFacts

_BEGINS_IN: Final = "objective"
"""The field that users usually fill in first."""


def open_run_form(screen: ConsoleScreen, like: RunFacts | None = None, *, field: str = "") -> None:
    """Open the form for a new run or one like an earlier run, filled in from that run or its draft, and focus a field.

    While the service is not connected yet, the form can be filled in; it says so when it is reviewed.
    """
    if not _may_open(screen):
        return
    known = RunPrefill("", start_values()) if like is None else prefill_from_run(like)
    draft = screen.console.run_drafts.get(known.run_id, known)
    screen.app.push_screen(RunFormScreen(draft, field, is_draft=draft.values != known.values))


def open_last_draft(screen: ConsoleScreen, field: str) -> None:
    """Open the form that was filled in last, and focus a field; the form for a new run if there is none."""
    draft = next(reversed(screen.console.run_drafts.values()), None)
    if draft is None:
        open_run_form(screen, field=field)
    elif _may_open(screen):
        screen.app.push_screen(RunFormScreen(draft, field, is_draft=True))


def _may_open(screen: ConsoleScreen) -> bool:
    console = screen.console
    return not (console.has_file or console.session is not None) or screen.writing_session() is not None


class RunFormScreen(FormScreen):
    """The form. The draft is kept however the form is left, until the run is accepted.

    Args:
        prefill: Initial values, and the earlier run they come from; its id is empty for a new run.
        field: The field to focus; empty for the first one users usually fill in.
        is_draft: Whether the values are those of a form that was left; the screen says so, and typing replaces them.
    """

    GO_LABEL = "Start…"
    CRUMBS = ("Runs", "New run")
    DEFAULT_CSS = """
    RunFormScreen {
        & #like {
            height: auto;
            padding: 0 1 1 1;
        }
    }
    """

    def __init__(self, prefill: RunPrefill, field: str = "", *, is_draft: bool = False) -> None:
        super().__init__(FORM, prefill.values, field or _BEGINS_IN)
        self._prefill = prefill
        self.is_draft = is_draft

    def form_title(self) -> StyledSpans:
        """Return the title: a new run, or one like another."""
        title = "New run"
        if self._prefill.run_id:
            title = f"New run like {short_id(self._prefill.run_id, self.console.glyphs)}"
        return line(title)

    @property
    def request(self) -> tuple[str, Mapping[str, str]]:
        return SUBMIT, {}

    def before_fields(self) -> Sequence[Widget]:
        """Create a note about what is unknown of the earlier run."""
        if not self._prefill.note:
            return ()
        return (Static(to_content(line(self._prefill.note, None), Role.WARN), id="like"),)

    def typed(self, values: Mapping[str, str]) -> None:
        """Keep the draft at every change, because the form can be left in other ways than by its own key."""
        drafts, run_id = self.console.run_drafts, self._prefill.run_id
        drafts.pop(run_id, None)
        drafts[run_id] = replace(self._prefill, values=dict(values))

    def build_sender(self, session: ServiceSession, body: bytes, shown: Any, key: str) -> WriteSender:
        return build_submit_sender(
            self, session, body, shown, key=key, done=partial(_accepted, self.console, body), refused=self.refused
        )


def _accepted(console: Console, body: bytes, run_id: str, is_watched: bool) -> None:
    forget_draft(console, body)
    if is_watched:
        console.show_run(run_id)
