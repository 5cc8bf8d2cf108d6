"""Records of several profiles in one list, each row with its profile.

The list shows, compares and exports. Records cannot be changed here: ``enter`` on the profile opens the record in that
profile, so no action ever reaches a profile other than the one in the header bar.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from runwatch.base.json import dumps
from runwatch.records.record import Record
from runwatch.records.template import Template
from runwatch.settings.view_state import ViewState
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.tui.core.rendering import StyledSpan, label_span
from runwatch.tui.flows.profile_switch import open_chosen_profiles, open_view_in_profile
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.sources.merged_source import MergedSource
from runwatch.tui.sources.row_sources import RowSource
from runwatch.tui.sources.store_source import StoreSource
from runwatch.tui.sources.template_source import TemplateSource
from runwatch.tui.widgets.bars.status_bar import KeyHint
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.panes.menu import MenuItem
from runwatch.tui.widgets.panes.pane import Pane
from runwatch.view.detail.pane_state import FAILED_STATES, empty_state_lines, freshness_text
from runwatch.view.export.file_formats import FileFormat, encode_for_file, export_records
from runwatch.view.export.template_report import ProfileTemplates, render_multi_profile_report
from runwatch.view.spec.resource import Column, ResourceSpec
from runwatch.view.table.profile_column import RecordProfiles
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import short_duration
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import StyledText

if TYPE_CHECKING:
    from runwatch.store.live.list_continuation import ListContinuation
    from runwatch.store.session import ServiceSession
    from runwatch.view.detail.sections import DetailSection
    from runwatch.view.text.format import RenderContext

SUPPORTED_RESOURCES: Final = ("runs", "templates", "receipts")
"""Resources this screen can list for several profiles."""

_FRESH: Final = frozenset({LoadState.FRESH, LoadState.EMPTY, LoadState.REFRESHING, LoadState.PARTIAL})


@dataclass(frozen=True, slots=True)
class _Home:
    """Link to a record in its own profile."""

    profile: str
    record_id: str


@dataclass(frozen=True, slots=True)
class _Exported:
    id: str
    raw: Mapping[str, Any]


class MultiProfileBase(ResourceScreen):
    """A list of several profiles, in front of the current profile's screen."""

    HAS_SEVERAL_PROFILES = True

    def breadcrumbs(self) -> Sequence[str]:
        here, *rest = super().breadcrumbs()
        count = len(self.console.profiles.shown)
        return (here, f"{count} profile{'s' * (count != 1)}", *rest)

    @property
    def is_at_root(self) -> bool:
        """False: it is always in front of another screen."""
        return False

    def use(self, source: RowSource) -> None:
        """Use the new sources: another profile is connected."""
        self.profiles_chosen()

    def profiles_chosen(self) -> None:
        raise NotImplementedError

    def action_back(self) -> None:
        """Leave detail and filter, then return to the current profile's screen."""
        if super().is_at_root:
            self.stop_going()
            self.app.pop_screen()
        else:
            super().action_back()


class MultiProfileListScreen(MultiProfileBase):
    """A list read from the services of several profiles, of a resource as it is listed for one."""

    HINTS: ClassVar[Sequence[KeyHint]] = (
        "list.open", "screen.filter", "screen.copy", "screen.compare",
        "screen.export", "screen.raw", "screen.refresh", "screen.back",
    )  # fmt: skip

    def __init__(self, own: ResourceSpec[Any]) -> None:
        self._owners: Final = RecordProfiles()
        self._parts: dict[str, RowSource] = {}
        self._resource: Final = own
        bare = replace(own, actions=(), create_actions=(), links=())
        merged = MergedSource(lambda: self._parts, self._owners, self._is_unreached)
        super().__init__(self._owners.add_column(bare), merged)

    def continuations(self) -> Sequence[ListContinuation]:
        sessions = map(self.console.profiles.session, self._parts)
        found = (session.live.continuation(self.spec.kind) for session in sessions if session is not None)
        return [continuation for continuation in found if continuation is not None]

    def _is_unreached(self) -> bool:
        return any(name in self.console.profiles.failures for name in self._parts)

    # For subclasses to override.

    def part(self, name: str) -> RowSource:
        """Return the records of one profile, with its current session."""
        console, profiles = self.console, self.console.profiles
        inner = StoreSource(self._resource, console.store, name, console.clock, profiles.session(name))
        return TemplateSource(inner, lambda: profiles.session(name)) if self.spec.record is Template else inner

    def begin_reading(self, session: ServiceSession) -> None:
        if session is not self.console.session:
            session.live.start_list(self.spec.record)

    def end_reading(self, session: ServiceSession) -> None:
        if session is not self.console.session:
            session.live.stop_list(self.spec.record)

    def read_again(self, session: ServiceSession) -> None:
        session.live.ask(self.spec.record)

    def fields_of(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return the fields of a record; the caller removes their links."""
        return super().detail_sections(row, context)

    def go_home(self, profile: str, record_id: str) -> None:
        """Open a record in its own profile, where actions are available."""
        open_view_in_profile(self, profile, ViewState(self.spec.name, selected=record_id, is_open=True))

    # Layout.

    def _columns(self) -> Sequence[Column[Any]]:
        """Return the profile column, then the columns of the single-profile list."""
        columns = [column for column in super()._columns() if column.id != self.spec.columns[0].id]
        return (self.spec.columns[0], *columns)

    def focus_detail(self) -> None:
        """Move to the link to the record's own profile."""
        super().focus_detail()
        self.query_one(DetailView).go_to_target(_Home)

    def detail_sections(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return a link to the record's own profile, then its fields without links."""
        from runwatch.view.detail.sections import DetailLine, DetailSection

        profile = self._owners.of(row.subject)
        home = DetailLine(line("profile"), line(profile), target=_Home(profile, row.id), does="enter goes there")
        return [
            DetailSection(line("Profile"), (home,)),
            *(
                replace(section, lines=tuple(replace(entry, target=None, does="") for entry in section.lines))
                for section in self.fields_of(row, context)
            ),
        ]

    def all_hints(self) -> Sequence[KeyHint]:
        """Return the hints; in the detail, only the line of the profile opens something."""
        is_in_detail = isinstance(self.focused, DetailView)
        return (("detail.open", "go to its profile"), *self.HINTS[1:]) if is_in_detail else self.HINTS

    # Events.

    def on_mount(self) -> None:
        self.profiles_chosen()
        self.watch_notes()

    def on_unmount(self) -> None:
        for name in self._parts:
            session = self.console.profiles.session(name)
            if session is not None:
                self.end_reading(session)

    def profiles_chosen(self) -> None:
        self.resume()
        self._take_parts()
        open_chosen_profiles(self, partial(self._take_parts))

    def action_refresh(self) -> None:
        """Read all profiles now, and retry those that failed to connect."""
        profiles = self.console.profiles
        profiles.failures.clear()
        for name in profiles.shown:
            session = profiles.session(name)
            if session is not None:
                self.read_again(session)
        self.profiles_chosen()

    def _take_parts(self) -> None:
        """Update the sources of the chosen profiles with their current sessions."""
        if not self.is_attached:
            return
        console, before = self.console, self._parts
        self._parts = {name: self.part(name) for name in console.profiles.shown}
        for name in {*before, *self._parts}:
            session = console.profiles.session(name)
            if session is not None:
                (self.begin_reading if name in self._parts else self.end_reading)(session)
        self.show_crumbs()
        self.read_source()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Read templates again for new decisions and versions."""
        super().data_changed(kinds)
        if Template.KIND in kinds and self.spec.record is Template:
            self.read_source()

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return the current profile's lists; other sessions poll their own."""
        return (self.spec.record,)

    # User input.

    def on_detail_view_link_opened(self, message: DetailView.LinkOpened) -> None:
        """Open the record in its own profile, where actions are available."""
        if isinstance(message.link, _Home):
            self.go_home(message.link.profile, message.link.record_id)

    def action_export(self) -> None:
        from runwatch.tui.flows.exports import open_export_menu

        forms: tuple[FileFormat, ...] = ("md", "csv") if self.spec.record is Template else ()
        what = line("eligibility: profile by profile, with next actions and decisions")
        open_export_menu(self, [MenuItem(line(f"report {form}"), partial(self._report, form), what) for form in forms])

    def export_pieces(self, form: FileFormat, rows: Sequence[RecordRow[Any]]) -> Iterator[str]:
        """Yield each record with its profile: beside the record in JSON, otherwise as a column."""
        context = self.console.render_context()
        if form == "md":
            yield from export_records(form, self.spec, [row.subject for row in rows], context)
        elif form == "csv":
            found = [_Exported(row.id, {**row.subject.raw, "profile": self._owners.of(row.subject)}) for row in rows]
            yield from export_records(form, self.spec, found, context)
        else:
            beside = [{"profile": self._owners.of(row.subject), "record": dict(row.subject.raw)} for row in rows]
            yield from (f"{dumps(record)}\n" for record in (beside if form == "ndjson" else [beside]))

    def _report(self, form: FileFormat) -> None:
        from runwatch.tui.flows.exports import choose_export_path, write_export

        rows = self.rows_to_export()
        reports = [
            ProfileTemplates(
                name, [row.subject for row in rows if self._owners.of(row.subject) == name], self._failure(name)
            )
            for name in self._parts
        ]
        pieces = [
            encode_for_file(text) for text in render_multi_profile_report(form, reports, self.console.clock.now())
        ]
        path = choose_export_path(self.console, "template-report", form)
        write_export(self, path, pieces, f"report on {len(reports)} profile{'s' * (len(reports) != 1)}")

    # Frame texts.

    def empty_text(self, state: PaneState) -> tuple[SafeText, ...]:
        """Return why a profile's records are missing or old, or that the filter matches nothing."""
        failures = [line(f"{name}: {failure}") for name in self._parts if (failure := self._failure(name))]
        if failures:
            return tuple(failures)
        if self._total and not self.listing.shown_rows:
            return super().empty_text(state)
        return empty_state_lines(self.spec, state, self.console.render_context(), self.console.keys.shown)

    def _failure(self, name: str) -> str:
        """Return why a profile's records cannot be read, or an empty text."""
        error = self.console.profiles.failures.get(name)
        if error is not None:
            return error.title
        state = self._parts[name].state()
        if state.load not in FAILED_STATES:
            return ""
        return state.failure.title if state.failure is not None else state.load.value

    def _show_edge(self) -> None:
        super()._show_edge()
        pieces: list[StyledSpan] = []
        for name in self._parts:
            pieces += [label_span("   ")] if pieces else []
            state = self.state_of(name)
            pieces.append(label_span(f"{name} {state.text}", state.role))
        self.query_one("#list", Pane).set_border_text(age=tuple(pieces))

    def state_of(self, name: str) -> StyledText:
        """Return the age of a profile's records or its failure."""
        profiles = self.console.profiles
        if name in profiles.failures:
            return StyledText(line("not connected"), Role.BAD)
        state = self._parts[name].state()
        age = "" if state.age_s is None else f", {short_duration(state.age_s)} old"
        if profiles.session(name) is None:
            return StyledText(line(f"connecting{self.console.glyphs.ellipsis}{age}"), Role.QUIET)
        if state.load in _FRESH:
            return StyledText(line(freshness_text(state.age_s)), Role.QUIET)
        return StyledText(line(f"{state.load.value}{age}"), Role.BAD if state.load in FAILED_STATES else Role.WARN)
