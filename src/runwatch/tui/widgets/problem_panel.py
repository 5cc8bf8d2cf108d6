"""A Problem, in the one form it has everywhere: the id that support staff ask for stands first, alone and whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from runwatch.tui.actions import bindings
from runwatch.tui.draw import word
from runwatch.tui.kit import kit
from runwatch.tui.messages import CopyWanted, FromWidget, PanelLeft
from runwatch.tui.widgets.detail_rows import DetailLink
from runwatch.tui.widgets.detail_view import DetailView
from runwatch.tui.widgets.pane import Pane
from runwatch.view import explain
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import Drawn, block, line
from runwatch.view.entries import ProblemEntry
from runwatch.view.explain import submit_effect, support_block
from runwatch.view.format import duration
from runwatch.view.glyphs import Role

NO_INSTANCE = "none: this answer did not come from the service's own error handling"


@dataclass(eq=False, repr=False)
class NextStepTaken(FromWidget):
    """A person pressed enter on a problem, to do what it says comes next."""

    widget: ProblemPanel


class ProblemPanel(Pane):
    """The panel. ``y`` copies the instance, ``Y`` the support block, ``enter`` does what comes next, ``esc`` leaves.

    Args:
        id: The widget's id.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("screen", only=("screen.back", "screen.copy", "screen.copy_menu"))

    DEFAULT_CSS = """
    ProblemPanel {
        padding: 1 0;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._entry: ProblemEntry | None = None
        self._next_step: Drawn | None = None

    def compose(self) -> ComposeResult:
        """The fields."""
        yield _Fields()

    @property
    def entry(self) -> ProblemEntry | None:
        """The problem that is shown."""
        return self._entry

    def show(
        self,
        entry: ProblemEntry,
        *,
        next_step: Drawn | None = None,
        attempts: int | None = None,
        links: Sequence[DetailLink] = (),
    ) -> None:
        """Show a problem.

        Args:
            entry: The problem, and where and when it was met.
            next_step: What comes next, where the screen knows better than the code's own explanation.
            attempts: How often the request was sent, where that is known.
            links: Ways to what the problem belongs to.
        """
        self._entry = entry
        app, problem = kit(self), entry.problem
        status = entry.status if entry.status is not None else problem.status
        name = line(problem.code or entry.code or "problem")
        parts = [f"{app.glyphs.bad} {name}", *([f"HTTP {line(status)}"] if status is not None else [])]
        if problem.title:
            parts.append(line(problem.title))
        title = line(f" {app.glyphs.dot} ".join(parts))
        where = line(f" {app.glyphs.dot} ".join(line(part) for part in (entry.profile, entry.host) if part))
        self.show_edge(title=((title, Role.BAD),), age=where, counters=(word("esc back"),))
        self._fields.show(self._sections(entry, status, next_step, attempts), links)

    def show_raw(self, entry: ProblemEntry, json: Drawn) -> None:
        """Show a problem's JSON in the place of its fields.

        Args:
            entry: The problem.
            json: Everything that is kept of it.
        """
        self.show(entry)
        self._fields.show([Section(_UNTITLED, (Line(_UNTITLED, json),))])

    def clear(self) -> None:
        """Show no problem."""
        self._entry = None
        self.show_edge(title=line(""), age=line(""), counters=line(""))
        self._fields.show(())

    def start_over(self) -> None:
        """Go to the first line, as for another problem."""
        self._fields.start_over()

    def action_copy(self) -> None:
        """Ask the screen to copy the instance."""
        from runwatch.view.copies import id_to_copy

        instance = self._entry.problem.instance if self._entry is not None else None
        if instance:
            self.post_message(CopyWanted(self, line("instance"), id_to_copy(instance)))

    def action_copy_menu(self) -> None:
        """Ask the screen to copy the support block."""
        if self._entry is not None:
            self.post_message(CopyWanted(self, line("support block"), support_block(self._entry), several_lines=True))

    def action_back(self) -> None:
        """Ask the screen to leave the panel."""
        self.post_message(PanelLeft(self))

    def action_next_step(self) -> None:
        """Ask the screen to do what comes next."""
        self.post_message(NextStepTaken(self))

    @property
    def _fields(self) -> _Fields:
        return self.query_one(_Fields)

    def _sections(
        self, entry: ProblemEntry, status: int | None, next_step: Drawn | None, attempts: int | None
    ) -> list[Section]:
        problem = entry.problem
        code = problem.code or entry.code or ""
        keys = kit(self).keys
        copy = f"{keys.shown('screen.copy')} copy   {keys.shown('screen.copy_menu')} support block"
        first = [
            Line(line("instance"), line(problem.instance or NO_INSTANCE, None), note=copy if problem.instance else ""),
            Line(line("request"), line(self._request(entry, attempts), None)),
        ]
        if entry.is_submit:
            is_problem = problem.conforms(status)
            effect = submit_effect(code, status, attempts or entry.attempt or 1, is_problem=is_problem)
            first.append(Line(line("effect"), line(effect, None)))
        if problem.detail:
            first.append(Line(line("detail"), block(problem.detail)))
        if entry.cause:
            first.append(Line(line("cause"), block(entry.cause)))
        sections = [Section(_UNTITLED, tuple(first))]
        if fields := [(line(error.field or "?"), line(error.message, None)) for error in problem.errors or ()]:
            widest = max(len(field) for field, _ in fields)
            sections.append(
                Section(
                    _UNTITLED,
                    tuple(
                        Line(line("" if number else "fields"), line(f"{field.ljust(widest)}   {message}", None))
                        for number, (field, message) in enumerate(fields)
                    ),
                )
            )
        step = next_step or line(explain.next_step(code), None)
        return [*sections, Section(_UNTITLED, (Line(line("next"), step),))]

    def _request(self, entry: ProblemEntry, attempts: int | None) -> str:
        parts: list[str] = [line(entry.request)]
        if entry.time is not None:
            parts.append(f"{entry.time:%H:%M:%S} UTC")
        if entry.elapsed_s is not None:
            parts.append(duration(entry.elapsed_s))
        if entry.attempt is not None:
            parts.append(f"attempt {entry.attempt}" + (f" of {attempts}" if attempts else ""))
        if entry.key:
            parts.append(f"key {line(entry.key)[:4]}{kit(self).glyphs.ellipsis}")
        return "   ".join(parts)


class _Fields(DetailView, inherit_bindings=False):
    BINDINGS: ClassVar[list[BindingType]] = bindings("detail")

    def line_chosen(self) -> None:
        if self.has_target:
            super().line_chosen()
            return
        assert isinstance(self.parent, ProblemPanel)
        self.parent.action_next_step()


_UNTITLED = line("")
