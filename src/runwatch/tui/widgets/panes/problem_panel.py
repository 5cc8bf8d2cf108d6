"""The panel that shows a Problem the same way everywhere: first its instance, the id support asks for, uncut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.message import Message

from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import CopyRequested, PanelClosed
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.lists.detail_layout import DetailLink
from runwatch.tui.widgets.lists.detail_view import DetailView, text_section
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.problems import explanations
from runwatch.view.problems.explanations import describe_submit_effect, support_block
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.format import duration
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, block, line
from runwatch.view.text.shell_commands import add_service

NO_INSTANCE = "none: this response did not come from the API"


class ProblemPanel(Pane):
    """The panel. ``y`` copies the instance, ``Y`` the support block, ``enter`` does a next step that the screen can do,
    ``esc`` leaves.
    """

    BINDINGS = make_bindings("screen.back", "screen.copy", "screen.copy_menu")

    DEFAULT_CSS = """
    ProblemPanel {
        padding: 1 0;
    }
    """

    @dataclass(eq=False, repr=False)
    class NextStepRequested(Message):
        """The user pressed enter to do the problem's next step."""

        entry: ProblemEntry

    entry: ProblemEntry | None = None
    """The problem shown."""

    has_next_step = False
    """Whether the screen does the next step of the problem shown; set before it is shown."""

    def compose(self) -> ComposeResult:
        yield _Fields()

    def show(
        self,
        entry: ProblemEntry,
        *,
        next_step: SafeText | None = None,
        links: Sequence[DetailLink] = (),
        request: object = None,
    ) -> None:
        """Show a problem.

        Args:
            entry: The problem, and where and when it occurred.
            next_step: Replaces the next step from the code's explanation.
            links: Links to related records.
            request: Link target of the line that names the request; ``None`` for no link.
        """
        self.entry = entry
        app, problem = get_app(self), entry.problem
        status = entry.status if entry.status is not None else problem.status
        name = line(problem.code or entry.code or "problem")
        parts = [f"{app.glyphs.bad} {name}", *([f"HTTP {line(status)}"] if status is not None else [])]
        if problem.title:
            parts.append(line(problem.title))
        title = line(f" {app.glyphs.dot} ".join(parts))
        where = line(f" {app.glyphs.dot} ".join(line(part) for part in (entry.profile, entry.host) if part))
        self.set_border_text(title=((title, Role.BAD),), age=where)
        self._fields.show(self._sections(entry, status, next_step, request), links)

    def show_raw(self, entry: ProblemEntry, json: SafeText) -> None:
        """Show everything stored about a problem as JSON instead of its fields."""
        self.show(entry)
        self._fields.show([text_section(json)])

    def clear(self) -> None:
        self.entry = None
        self.set_border_text(title=line(""), age=line(""))
        self._fields.show(())

    def start_over(self) -> None:
        """Move to the first line, for another problem."""
        self._fields.reset()

    def action_copy(self) -> None:
        instance = self.entry.problem.instance if self.entry is not None else None
        if instance:
            self.post_message(CopyRequested(line("instance"), copied_word(instance)))

    def action_copy_menu(self) -> None:
        if self.entry is not None:
            self.post_message(CopyRequested(line("support block"), support_block(self.entry), several_lines=True))

    def action_back(self) -> None:
        self.post_message(PanelClosed())

    def action_next_step(self) -> None:
        if self.entry is not None:
            self.post_message(self.NextStepRequested(self.entry))

    @property
    def _fields(self) -> _Fields:
        return self.query_one(_Fields)

    def _sections(
        self,
        entry: ProblemEntry,
        status: int | None,
        next_step: SafeText | None,
        request: object,
    ) -> list[DetailSection]:
        problem = entry.problem
        code = problem.code or entry.code or ""
        service = get_app(self).find_shell_service(entry.profile)
        keys = get_app(self).keys
        copy = f"{keys.shown('screen.copy')} copy   {keys.shown('screen.copy_menu')} support block"
        first = [DetailLine(line("request"), line(self._request(entry), None), target=request)]
        if problem.instance or status is not None:
            # Where no response came, there is nothing that could have an instance.
            shown = line(problem.instance or NO_INSTANCE, None)
            first.insert(0, DetailLine(line("instance"), shown, note=copy if problem.instance else ""))
        if entry.is_submit:
            is_problem = problem.conforms(status)
            effect = describe_submit_effect(
                code,
                status,
                entry.attempt or 1,
                is_problem=is_problem,
                had_no_effect=entry.had_no_effect is True,
            )
            first.append(DetailLine(line("effect"), line(effect, None)))
        if problem.detail:
            first.append(DetailLine(line("detail"), block(add_service(problem.detail, service))))
        if entry.cause:
            first.append(DetailLine(line("cause"), block(entry.cause)))
        sections = [DetailSection(_UNTITLED, tuple(first))]
        if fields := [
            (line(error.field or "?"), line(add_service(error.message or "", service), None))
            for error in problem.errors or ()
        ]:
            widest = max(len(field) for field, _ in fields)
            sections.append(
                DetailSection(
                    _UNTITLED,
                    tuple(
                        DetailLine(
                            line("" if number else "fields"),
                            line(f"{field.ljust(widest)}   {message}", None),
                            hanging=widest + 3,
                        )
                        for number, (field, message) in enumerate(fields)
                    ),
                )
            )
        step = line(add_service(next_step or explanations.next_step(code, status), service), None)
        return [*sections, DetailSection(_UNTITLED, (DetailLine(line("next"), step),))]

    def _request(self, entry: ProblemEntry) -> str:
        parts: list[str] = [line(entry.request)]
        if entry.time is not None:
            parts.append(f"{entry.time:%H:%M:%S} UTC")
        if entry.elapsed_s is not None:
            parts.append(duration(entry.elapsed_s))
        if entry.attempt is not None:
            parts.append(f"attempt {entry.attempt}")
        if entry.key:
            parts.append(f"key {line(entry.key)[:4]}{get_app(self).glyphs.ellipsis}")
        return "   ".join(parts)


class _Fields(DetailView, inherit_bindings=False):
    BINDINGS = make_bindings("detail")

    @property
    def enter_label(self) -> str | None:
        return "next step" if self._does_step else super().enter_label

    def line_opened(self) -> None:
        if self._does_step:
            assert isinstance(self.parent, ProblemPanel)
            self.parent.action_next_step()
        else:
            super().line_opened()

    @property
    def _does_step(self) -> bool:
        return isinstance(self.parent, ProblemPanel) and self.parent.has_next_step and not self.has_target


_UNTITLED = line("")
