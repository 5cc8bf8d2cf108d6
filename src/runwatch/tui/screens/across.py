"""Records of several profiles in one list, each row with its profile.

It shows, compares and exports. Nothing is done with a record here: ``enter`` on its profile goes to the record on the
screen of that profile, so that no action ever reaches another profile than the one in the bar above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from runwatch.base.json import dumps
from runwatch.records.record import Record
from runwatch.records.template import Template
from runwatch.settings.session import View
from runwatch.store.freshness import LoadState, PaneState
from runwatch.tui.draw import Piece, word
from runwatch.tui.merged import Merged
from runwatch.tui.profile_switch import go_to_view, open_shown
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.sources import Source, StoreSource
from runwatch.tui.template_source import TemplateSource
from runwatch.tui.widgets.detail_view import DetailView, LinkFollowed
from runwatch.tui.widgets.menu import MenuItem
from runwatch.tui.widgets.pane import Pane
from runwatch.tui.widgets.status_line import Hint
from runwatch.view.drawn import Drawn, line
from runwatch.view.exports import Form, encoded, export
from runwatch.view.format import compact
from runwatch.view.glyphs import Role
from runwatch.view.owners import Owners
from runwatch.view.pane_words import TROUBLED, fresh_words, note_lines
from runwatch.view.resource import Column, ResourceSpec, Styled
from runwatch.view.table import Row
from runwatch.view.template_report import Reported, report_over

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.view.detail import Section
    from runwatch.view.format import Context

SHOWN: Final = ("templates", "receipts")
"""The resources whose records services list and this screen lists for several profiles."""

_FRESH: Final = frozenset({LoadState.FRESH, LoadState.EMPTY, LoadState.REFRESHING, LoadState.PARTIAL})


@dataclass(frozen=True, slots=True)
class _Home:
    """The way to a record in its own profile."""

    profile: str
    record_id: str


@dataclass(frozen=True, slots=True)
class _Exported:
    """A record as it is written to a file."""

    id: str
    raw: Mapping[str, Any]


class InFront(ResourceScreen):
    """A list of several profiles, in front of the screen of the present one."""

    def crumbs(self) -> Sequence[str]:
        """The way, with how many profiles there are."""
        here, *rest = super().crumbs()
        count = len(self.console.profiles.shown)
        return (here, f"{count} profile{'s' * (count != 1)}", *rest)

    @property
    def is_at_root(self) -> bool:
        """Never: it stands in front of another screen."""
        return False

    def use(self, source: Source) -> None:
        """Its rows come from several profiles; one of them has become reachable."""
        self.profiles_chosen()

    def profiles_chosen(self) -> None:
        """List the records of the profiles that are chosen now."""
        raise NotImplementedError

    def action_back(self) -> None:
        """Out of the detail and the filter, then back to the screen of the present profile."""
        if super().is_at_root:
            self.app.pop_screen()
        else:
            super().action_back()


class AcrossScreen(InFront):
    """A list that is read from the services of the profiles.

    Args:
        own: The resource, as the list of one profile shows it.
    """

    def __init__(self, own: ResourceSpec[Any]) -> None:
        self._owners: Final = Owners()
        self._parts: dict[str, Source] = {}
        self._resource: Final = own
        bare = replace(own, actions=(), makes=(), links=())
        merged = Merged(lambda: self._parts, self._owners, self._is_unreached)
        super().__init__(self._owners.lead(bare), merged)

    def _is_unreached(self) -> bool:
        return any(name in self.console.profiles.failures for name in self._parts)

    # What subclasses say otherwise.

    def part(self, name: str) -> Source:
        """The records of one profile, with the desk that it has by now."""
        console, profiles = self.console, self.console.profiles
        inner = StoreSource(self._resource, console.store, name, console.clock, profiles.desk(name))
        return TemplateSource(inner, lambda: profiles.desk(name)) if self.spec.record is Template else inner

    def begin_reading(self, desk: Desk) -> None:
        """Have a profile's records read from now on."""
        if desk is not self.console.desk:
            desk.live.show(self.spec.record)

    def end_reading(self, desk: Desk) -> None:
        """Have them read no longer."""
        if desk is not self.console.desk:
            desk.live.hide(self.spec.record)

    def read_again(self, desk: Desk) -> None:
        """Have them read now."""
        desk.live.refresh(self.spec.record)

    def fields_of(self, row: Row[Any], context: Context) -> Sequence[Section]:
        """The fields of a record; what they lead to is left out."""
        return super().detail_sections(row, context)

    def go_home(self, profile: str, record_id: str) -> None:
        """Go to a record where something can be done with it."""
        go_to_view(self, profile, View(self.spec.name, selected=record_id, is_open=True))

    # What it is made of.

    def _columns(self) -> Sequence[Column[Any]]:
        """The profile, then what the list of one profile has."""
        columns = [column for column in super()._columns() if column.id != self.spec.columns[0].id]
        return (self.spec.columns[0], *columns)

    def hints(self) -> Sequence[Hint]:
        """What can be done here."""
        return (
            "list.open", ("detail.open", "go to its profile"), "screen.filter", "screen.copy", "screen.compare",
            "screen.export", "screen.raw", "screen.refresh", "screen.back",
        )  # fmt: skip

    def focus_detail(self) -> None:
        """Stand on the way to the record's own profile."""
        super().focus_detail()
        self.query_one(DetailView).go_to_lead(_Home)

    def detail_sections(self, row: Row[Any], context: Context) -> Sequence[Section]:
        """The way to the record's own profile, then its fields, which lead nowhere from here."""
        from runwatch.view.detail import Line, Section

        profile = self._owners.of(row.subject)
        home = Line(line("profile"), line(profile), target=_Home(profile, row.id), does="enter goes there")
        return [
            Section(line("Profile"), (home,)),
            *(
                replace(section, lines=tuple(replace(entry, target=None, does="") for entry in section.lines))
                for section in self.fields_of(row, context)
            ),
        ]

    # When something changes.

    def on_mount(self) -> None:
        """Open what is not open yet."""
        self.profiles_chosen()
        self.watch_notes()

    def on_unmount(self) -> None:
        """Read the lists of the other profiles no longer."""
        for name in self._parts:
            desk = self.console.profiles.desk(name)
            if desk is not None:
                self.end_reading(desk)

    def profiles_chosen(self) -> None:
        """List the records of the profiles that are chosen now."""
        self._take_parts()
        open_shown(self, partial(self._take_parts))

    def action_refresh(self) -> None:
        """Read all of them now, and try again what could not be opened."""
        profiles = self.console.profiles
        profiles.failures.clear()
        for name in profiles.shown:
            desk = profiles.desk(name)
            if desk is not None:
                self.read_again(desk)
        self.profiles_chosen()

    def _take_parts(self) -> None:
        """The sources of the profiles that are shown, each with the desk that it has by now."""
        if not self.is_attached:
            return
        console, before = self.console, self._parts
        self._parts = {name: self.part(name) for name in console.profiles.shown}
        for name in {*before, *self._parts}:
            desk = console.profiles.desk(name)
            if desk is not None:
                (self.begin_reading if name in self._parts else self.end_reading)(desk)
        self.show_crumbs()
        self.read_source()

    def data_changed(self, kinds: frozenset[str]) -> None:
        """Decisions and versions belong to the templates."""
        super().data_changed(kinds)
        if Template.KIND in kinds and self.spec.record is Template:
            self.read_source()

    def lists(self) -> tuple[type[Record], ...]:
        """Those of the present profile; the others are read by their own desks."""
        return (self.spec.record,)

    # What people do.

    def on_link_followed(self, message: LinkFollowed) -> None:
        """Go to the record where something can be done with it."""
        message.stop()
        if isinstance(message.link, _Home):
            self.go_home(message.link.profile, message.link.record_id)

    def action_export(self) -> None:
        """Write the report on several profiles, or the records."""
        from runwatch.tui.exporting import open_export_menu

        forms: tuple[Form, ...] = ("md", "csv") if self.spec.record is Template else ()
        what = line("eligibility: profile by profile, with next actions and decisions")
        open_export_menu(self, [MenuItem(line(f"report {form}"), partial(self._report, form), what) for form in forms])

    def export_pieces(self, form: Form, rows: Sequence[Row[Any]]) -> Iterator[str]:
        """Each record with its profile: beside it in JSON, as a column elsewhere."""
        context = self.console.context()
        if form == "md":
            yield from export(form, self.spec, [row.subject for row in rows], context)
        elif form == "csv":
            found = [_Exported(row.id, {**row.subject.raw, "profile": self._owners.of(row.subject)}) for row in rows]
            yield from export(form, self.spec, found, context)
        else:
            beside = [{"profile": self._owners.of(row.subject), "record": dict(row.subject.raw)} for row in rows]
            yield from (f"{dumps(one)}\n" for one in (beside if form == "ndjson" else [beside]))

    def _report(self, form: Form) -> None:
        from runwatch.tui.exporting import new_file, write_export

        rows = self.exported()
        reports = [
            Reported(name, [row.subject for row in rows if self._owners.of(row.subject) == name], self._failure(name))
            for name in self._parts
        ]
        pieces = [encoded(text) for text in report_over(form, reports, self.console.clock.now())]
        path = new_file(self.console, "template-report", form)
        write_export(self, path, pieces, f"report on {len(reports)} profile{'s' * (len(reports) != 1)}")

    # What the frame says.

    def _note(self, state: PaneState) -> tuple[Drawn, ...]:
        """Why the records of a profile are missing or old; the filter, where it leaves nothing."""
        told = [line(f"{name}: {failure}") for name in self._parts if (failure := self._failure(name))]
        if told:
            return tuple(told)
        if self._total and not self.listing.shown:
            return super()._note(state)
        return note_lines(self.spec, state, self.console.context(), self.console.keys.shown)

    def _failure(self, name: str) -> str:
        """Why the records of a profile cannot be read now; empty where they can."""
        error = self.console.profiles.failures.get(name)
        if error is not None:
            return error.title
        state = self._parts[name].state()
        if state.load not in TROUBLED:
            return ""
        return state.failure.title if state.failure is not None else state.load.value

    def _show_edge(self) -> None:
        super()._show_edge()
        pieces: list[Piece] = []
        for name in self._parts:
            pieces += [word("   ")] if pieces else []
            pieces.append(self._age_of(name))
        self.query_one("#list", Pane).show_edge(age=tuple(pieces))

    def _age_of(self, name: str) -> Piece:
        """A profile with how old its records are, or what is wrong."""
        told = self.state_of(name)
        return word(f"{name} {told.text}", told.role)

    def state_of(self, name: str) -> Styled:
        """How old the records of a profile are, or what is wrong."""
        profiles = self.console.profiles
        if name in profiles.failures:
            return Styled(line("not connected"), Role.BAD)
        state = self._parts[name].state()
        age = "" if state.age_s is None else f", {compact(state.age_s)} old"
        if profiles.desk(name) is None:
            return Styled(line(f"connecting{self.console.glyphs.ellipsis}{age}"), Role.QUIET)
        if state.load in _FRESH:
            return Styled(line(fresh_words(state.age_s)), Role.QUIET)
        return Styled(line(f"{state.load.value}{age}"), Role.BAD if state.load in TROUBLED else Role.WARN)
