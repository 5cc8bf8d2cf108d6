"""Problems seen from this machine, found by an id or by a pasted email that contains one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

from textual import events
from textual.message import Message

from runwatch.store.repositories.id_search import contains_id, looks_like_id
from runwatch.store.state.freshness import PaneState
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.messages import PanelClosed
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.screens.base.resource_screen import NOTHING_SELECTED, ResourceScreen
from runwatch.tui.sources.journal_source import JournalSource
from runwatch.tui.sources.row_sources import RowSource, SearchableSource
from runwatch.tui.widgets.bars.filter_bar import Completer, FilterBar
from runwatch.tui.widgets.inputs.line_input import FilterInput, LineInput
from runwatch.tui.widgets.panes.menu import MenuItem
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.tui.widgets.panes.problem_panel import ProblemPanel
from runwatch.view.actions.run_form import field_named
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.resources.problems import PROBLEMS, find_error_code
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.copied_text import copied_word
from runwatch.view.text.format import grouped_number
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, json_block, line

TYPED_CHARACTERS: Final = 2000
"""Characters of a pasted email shown in the filter line; all of it is searched."""

_MOMENT_ID: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z/")

_TO_THE_FORM: Final = line("enter goes to the first field of the run form; a new key will be used")


class ProblemsScreen(ResourceScreen):
    """The screen of problems.

    Six or more hexadecimal characters from any part of an instance find it. So does a whole email that contains one,
    pasted into the list or the filter. The search covers everything stored, not only the listed problems.
    """

    BINDINGS = make_bindings("screen.copy_menu", "screen.groups")
    HINTS = (
        "list.open", ("screen.filter", "find"), ("screen.copy", "copy instance"),
        ("screen.copy_menu", "support block"), ("screen.export", "bundle"), "screen.groups", "app.around",
        "screen.raw", "screen.time", ("app.requests", "requests"), "app.quit",
    )  # fmt: skip
    KEY_HELP: ClassVar[Mapping[str, str]] = {
        "screen.copy": "Copy the instance, the id that support asks for.",
        "screen.copy_menu": "Copy the support block of this problem.",
        "screen.export": "Export a bundle about this problem for support, or the rows.",
    }

    def __init__(self, source: RowSource, spec: ResourceSpec[Any] = PROBLEMS) -> None:
        super().__init__(spec, source)
        self._sought = ""

    # Layout.

    def detail_pane(self) -> Pane:
        return ProblemPanel(id="detail")

    def filter_bar(self, complete: Completer) -> FilterBar:
        return ProblemFilterBar(complete, id="filter")

    def form_field(self, entry: ProblemEntry) -> str | None:
        """Return the run form's field for a refused submit, or an empty text; ``None`` if the form does not help, or
        cannot be opened here.
        """
        if (
            not self.offers("screen.new")
            or not entry.is_submit
            or find_error_code(entry) not in {"validation_failed", "echo_mode_mismatch"}
        ):
            return None
        return next((field for error in entry.problem.errors or () if (field := field_named(error.field or ""))), "")

    @property
    def panel(self) -> ProblemPanel:
        return self.query_one("#detail", ProblemPanel)

    # Content.

    def on_screen_resume(self) -> None:
        """Read the journal, which may have grown while another screen was in front."""
        self.read_source()

    def use(self, source: RowSource) -> None:
        _seek(source, self._sought)
        super().use(source)

    def show_detail(self) -> None:
        row = self.row
        if row is None:
            self._shown = None
            self.panel.clear()
            self.panel.set_border_text(title=NOTHING_SELECTED)
            return
        if row.id != self._shown:
            self._shown = row.id
            self.panel.start_over()
        entry: ProblemEntry = row.subject
        self.panel.has_next_step = self.form_field(entry) is not None
        if self._is_raw:
            self.panel.show_raw(entry, json_block(dict(entry.raw)))
        else:
            step = _TO_THE_FORM if self.panel.has_next_step else None
            # The line that names the request leads to it.
            request = (RequestEntry.KIND, entry.request_id) if entry.request_id else None
            links = [link for link in self._links(row) if link.target != request]
            self.panel.show(entry, next_step=step, links=links, request=request)

    def focus_detail(self) -> None:
        self.panel.query_one("DetailView").focus()

    def empty_text(self, state: PaneState) -> tuple[SafeText, ...]:
        if self._sought and not self.listing.shown_rows:
            key = self.console.keys.shown("screen.back")
            return (
                line("No problem seen on this machine has an id in this text."),
                line(f"{key} clears it"),
            )
        return super().empty_text(state)

    # Search.

    @property
    def is_filtered(self) -> bool:
        return super().is_filtered or bool(self._sought)

    @property
    def filter_text(self) -> str:
        return " ".join(self._sought.split())[:TYPED_CHARACTERS] or super().filter_text

    def on_paste(self, event: events.Paste) -> None:
        """Search for ids in pasted text without opening the filter first."""
        event.stop()
        if contains_id(event.text):
            self._find(event.text)
        else:
            self.notify_user("The pasted text has no id (six or more hexadecimal characters in a row).", Role.WARN)

    def on_multiline_paste_input_text_pasted(self, message: MultilinePasteInput.TextPasted) -> None:
        """Search for ids in a pasted multi-line text, and keep it in the filter line."""
        self._find(message.text)
        self.query_one(FilterBar).edit(self.filter_text)

    async def _read_rows(self) -> None:
        """Read the rows; a problem that the console is opened at can be older than those listed."""
        await super()._read_rows()
        key, session = self._wanted, self.console.session
        if key is None or session is None or self._sought:
            return
        if any(found.instance == key for found in await session.journal.find(key)):
            self.select_record(key, opened=self._opens_wanted)

    def select_record(self, key: str, *, opened: bool = False) -> None:
        """Move the cursor to a problem, even one older than those listed."""
        super().select_record(key, opened=opened)
        # A problem without an instance is identified by its timestamp, which cannot be searched for.
        if self._wanted is not None and not _MOMENT_ID.match(key):
            self._find(key)

    def _apply_filter(self, text: str, *, is_undoable: bool = True) -> bool:
        if looks_like_id(text):
            self._find(text)
            return True
        self._find("")
        is_filter = super()._apply_filter(text, is_undoable=is_undoable)
        # A filter searches everything stored: the code filtered by may have occurred long ago.
        if isinstance(self._source, JournalSource) and self._source.widen(everything=self._query is not None):
            start_worker(self, self._read_wider(text), "reading problems", group="source", exclusive=True)
            return is_filter
        if contains_id(text) and not (is_filter and self.listing.shown_rows):
            # The text matches nothing as a filter but contains an id, as a line of an email does.
            self._find(text)
            return True
        return is_filter

    async def _read_wider(self, text: str) -> None:
        """Read what the filter searches. If nothing matches and the text contains an id, search for the id."""
        await self._source.read()
        self.show_rows()
        if (
            contains_id(text)
            and self._query is not None
            and not self.listing.shown_rows
            and not self.listing.is_under_way
        ):
            self._find(text)

    def _find(self, text: str) -> None:
        if text == self._sought:
            return
        self._sought = text
        if text:
            self._query = None
        _seek(self._source, text)
        self.resume()
        self.read_source()

    def show_rows(self, *, keeps_detail: bool = False) -> None:
        """Show how many were found, too."""
        super().show_rows(keeps_detail=keeps_detail)
        if self._sought and self.is_mounted:
            self.show_crumbs()

    def crumbs_note(self) -> StyledSpans | None:
        """Return how many were found by an id, or the filter."""
        if self._sought:
            return (label_span(str(len(self.listing.shown_rows)), Role.PLAIN), label_span(" found by its id"))
        return super().crumbs_note()

    def _count_matches(self) -> None:
        if self._sought and self.has_class("-filtering"):
            self.query_one(FilterBar).show_count(
                line(f"{grouped_number(len(self.listing.shown_rows))} found by its id")
            )
        else:
            super()._count_matches()

    # User input.

    async def action_copy(self) -> None:
        self.table.leave_top()
        row = self.row
        if row is None:
            self.nothing_to_copy()
            return
        instance = row.subject.problem.instance
        if instance:
            await self.console.copy_text(copied_word(instance), line("instance"))
        else:
            self.notify_user("No instance: this response did not come from the API.", Role.WARN)

    def action_copy_menu(self) -> None:
        if self.row is None:
            self.nothing_to_copy()
        else:
            self.panel.action_copy_menu()

    def action_export(self) -> None:
        """Export the support bundle of the problem under the cursor, or the rows."""
        from runwatch.tui.flows.activity import export_bundle
        from runwatch.tui.flows.exports import open_export_menu

        row = self.row
        bundle: list[MenuItem] = []
        if row is not None:
            said = line("this problem, activity around it, versions and settings, without secrets")
            bundle.append(MenuItem(line("support bundle"), partial(export_bundle, self, row.subject), said))
        open_export_menu(self, bundle)

    def action_groups(self) -> None:
        self.console.action_go("codes")

    def on_panel_closed(self, message: PanelClosed) -> None:
        self.action_back()

    def on_problem_panel_next_step_requested(self, message: ProblemPanel.NextStepRequested) -> None:
        """Open the form where the error can be corrected."""
        from runwatch.tui.flows.runs.run_form import open_last_draft

        open_last_draft(self, self.form_field(message.entry) or "")


class MultilinePasteInput(FilterInput):
    """A filter's input that reports a multi-line paste with an id."""

    @dataclass
    class TextPasted(Message):
        """Several lines were pasted."""

        text: str

    def _on_paste(self, event: events.Paste) -> None:
        if len(event.text.splitlines()) > 1 and contains_id(event.text):
            event.stop()
            event.prevent_default()
            self.post_message(self.TextPasted(event.text))


class ProblemFilterBar(FilterBar):
    """A filter bar that accepts whole emails."""

    def input_class(self) -> type[LineInput]:
        return MultilinePasteInput


def _seek(source: RowSource, text: str) -> None:
    if isinstance(source, SearchableSource):
        source.seek(text)
