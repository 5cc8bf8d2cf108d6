"""Pins of the current profile: what they are now, what has changed since one looked, and the way to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from operator import is_
from typing import TYPE_CHECKING, Any, Final

from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.settings.view_state import ViewState
from runwatch.store.repositories.pins import Pin, PinChange, PinTarget
from runwatch.tui.core.time_slices import run_row_steps
from runwatch.tui.core.workers import start_worker
from runwatch.tui.screens.registry import has_screen, is_page, resource_named
from runwatch.tui.shell.console_screen import NOTES_REFRESH_S, ConsoleScreen
from runwatch.tui.widgets.bars.pin_bar import PinBar, PinTab
from runwatch.view.table.rows import RowRenderer, build_rows, rebuild_rows
from runwatch.view.text.format import short_id, tell_apart
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.app.navigation import NavigatingApp
    from runwatch.tui.sources.row_sources import RowSource
    from runwatch.view.spec.resource import ResourceSpec

MAX_SEARCHED_ROWS: Final = 20_000
"""Longer lists are not searched again and again for a pinned filter; it then carries no mark."""

SEARCH_EVERY_S: Final = 5
"""Least seconds between two searches of a pinned filter."""


class PinBoard:
    """The pins in order; those of lists that this version does not know are left out."""

    def __init__(self, app: NavigatingApp, make_source: Callable[[ResourceSpec[Any]], RowSource]) -> None:
        self.pins: tuple[Pin, ...] = ()
        self._app: Final = app
        self._make_source: Final = make_source
        self._session: ServiceSession | None = None
        self._present: dict[PinTarget, str] = {}
        self._searched: dict[PinTarget, int] = {}
        self._digested: dict[PinTarget, tuple[Record, ...]] = {}
        self._gone: set[PinTarget] = set()
        self._run_labels: dict[str, str] = {}
        self._seconds = 0

    # Called by the app.

    async def load(self, session: ServiceSession) -> None:
        """Read the pins of a session, also those that another console has changed.

        Raises:
            DataError: The database cannot be read.
        """
        if session is not self._session:
            self._session = session
            self.pins = ()
            self._present.clear()
            self._searched.clear()
            self._digested.clear()
            self._gone.clear()
        pins = await session.pins.list(session.scope)
        has_run = any(pin.target.screen == "runs" and pin.target.form == "record" for pin in pins)
        notes = await session.notes.list_for(session.scope, Run.KIND) if has_run else []
        if session is self._session:
            self._run_labels = {note.record_id: note.text for note in notes if note.purpose == "label"}
            self._use(pins)

    def tick(self) -> None:
        """Look for changes; called every second."""
        session, self._seconds = self._session, self._seconds + 1
        if session is None:
            return
        if self._seconds % NOTES_REFRESH_S == 0:
            start_worker(self._app, self._load_again(session), "reading pins", group="pins", exclusive=True)
        if self.pins:
            self.refresh()

    def polled_kinds(self) -> tuple[type[Record], ...]:
        """Return the kinds whose lists are polled for the pins; runs are always polled."""
        kinds = (resource_named(pin.target.screen) for pin in self.pins)
        return tuple({spec.record: None for spec in kinds if spec.record is not Run and not spec.is_local})

    def name_of_run(self, run_id: str) -> str | None:
        """Return the user's name of a run's own pin, empty without one; ``None`` if no pin has the run."""
        names = {
            pin.name if len(pin.target.ids) == 1 else ""
            for pin in self.pins
            if pin.target.screen == "runs" and run_id in pin.target.ids
        }
        return max(names, default=None)

    def mark_gone(self, kind: str, record_id: str) -> None:
        """Note that the service does not know a record any more."""
        for pin in self.pins:
            if record_id in pin.target.ids and resource_named(pin.target.screen).kind == kind:
                self._gone.add(pin.target)
        self.refresh()

    def refresh(self) -> None:
        """Update what the pins are, and the line that shows them."""
        looked_at = self._looked_at()
        screen = self._app.mounted_screen
        in_sight = screen.record_in_sight() if isinstance(screen, ConsoleScreen) else None
        for pin in self.pins:
            self._update_pin(pin)
            present = self._present.get(pin.target, "")
            if present and present != pin.seen and (pin.target in {looked_at, in_sight} or not pin.seen):
                self._note_seen(pin.target, present)
        self._draw()

    # Called by menus.

    def tabs(self) -> list[PinTab]:
        looked_at, glyphs = self._looked_at(), self._app.glyphs
        ids = [pin.target.ids[0] if pin.target.form == "record" else None for pin in self.pins]
        labels = tell_apart([self.label(pin) for pin in self.pins], ids, glyphs)
        short_labels = tell_apart([self._short_label(pin) for pin in self.pins], ids, glyphs)
        return [
            PinTab(
                number,
                label,
                short_label,
                is_active=pin.target == looked_at,
                is_changed=bool(pin.seen) and self._present.get(pin.target, pin.seen) != pin.seen,
                is_gone=pin.target in self._gone,
            )
            for number, (pin, label, short_label) in enumerate(zip(self.pins, labels, short_labels, strict=True), 1)
        ]

    def label(self, pin: Pin) -> SafeText:
        """Return the user's name of a pin, the label of its run, or one made of its target."""
        return self._given_name(pin) or self.target_text(pin.target)

    def _short_label(self, pin: Pin) -> SafeText:
        """Return the label without the kind of a record."""
        return self._given_name(pin) or self._target_words(pin.target)[1]

    def _given_name(self, pin: Pin) -> SafeText:
        return line(pin.name or self._run_labels.get(pin.target.ids[0] if pin.target.form == "record" else "", ""), 60)

    def target_text(self, target: PinTarget) -> SafeText:
        """Describe a target in a few words."""
        return line(" ".join(filter(None, self._target_words(target))))

    def _target_words(self, target: PinTarget) -> tuple[SafeText, SafeText]:
        """Return the kind of a target that is a record, else an empty text, and its name, filter or comparison."""
        glyphs = self._app.glyphs
        ids = [short_id(id, glyphs) for id in target.ids]
        if target.form == "filter":
            return line(""), line(f"{target.screen} {target.filter}", 60)
        if target.form == "comparison":
            return line(""), line(" \u2260 ".join(ids))
        spec, session = resource_named(target.screen), self._session
        known = session and session.store.get(session.scope.profile, spec.kind, target.ids[0])
        name = spec.short_name(spec.subject(known.record), glyphs) if known else ids[0]
        return line(spec.singular), line(name)

    def find(self, target: PinTarget) -> int | None:
        return next((index for index, pin in enumerate(self.pins) if pin.target == target), None)

    async def change(self, change: PinChange) -> None:
        """Change the pins here and on disk.

        Raises:
            DataError: The database cannot be written; nothing is changed.
        """
        session = self._session
        if session is not None:
            await session.pins.change(session.scope, change)
            await self.load(session)

    async def go_to(self, number: int) -> None:
        """Go to a pin by its number, from 1; runs in the app's message loop."""
        app = self._app
        if number > len(self.pins):
            pin_key, list_key = app.keys.shown("app.pin"), app.keys.shown("app.pins")
            message = f"There is no pin {number}; {pin_key} pins what is open, {list_key} lists the pins."
            app.notify_user(message, Role.WARN)
            return
        target = self.pins[number - 1].target
        if target.form == "filter":
            await app.go_to_view(ViewState(target.screen, filter=target.filter))
        elif target.form == "comparison":
            await app.go_to(target.screen)
            start_worker(app.console_screen, self._compare(target), "reading the comparison", group="pin")
        else:
            await app.open_record(resource_named(target.screen).kind, target.ids[0])
            if target in self._gone:
                app.notify_user("The record of this pin is gone.", Role.WARN)
        self.refresh()

    def _use(self, pins: Sequence[Pin]) -> None:
        before = self.polled_kinds()
        self.pins = tuple(pin for pin in pins if has_screen(pin.target.screen) and not is_page(pin.target.screen))
        session = self._session
        if session is not None:
            for kind in self.polled_kinds():
                if kind not in before:
                    session.live.start_list(kind, is_side=True)
        self.refresh()

    async def _load_again(self, session: ServiceSession) -> None:
        # The session may be closing.
        if session is self._app.session:
            await self.load(session)

    def _looked_at(self) -> PinTarget | None:
        screen = self._app.mounted_screen
        return screen.looked_at() if isinstance(screen, ConsoleScreen) else None

    def _draw(self) -> None:
        tabs = self.tabs()
        for screen in self._app.screen_stack:
            if not isinstance(screen, ConsoleScreen) or not screen.is_mounted:
                continue
            bars = screen.query(PinBar)
            for bar in bars:
                bar.show(tabs)
            if tabs and not bars:
                screen.mount(PinBar(tabs, id="pins"), after="#crumbs")

    def _note_seen(self, target: PinTarget, seen: str) -> None:
        def change(pins: list[Pin]) -> list[Pin]:
            return [pin._replace(seen=seen) if pin.target == target else pin for pin in pins]

        self.pins = tuple(change(list(self.pins)))
        start_worker(self._app, self.change(change), "keeping a pin", group="pin seen")

    def _update_pin(self, pin: Pin) -> None:
        """Update what a pin is now, if the records that it is made of have changed."""
        target, session = pin.target, self._session
        if session is None:
            return
        spec = resource_named(target.screen)
        collection = session.store.collection(session.scope.profile, spec.kind)
        if target.form == "filter":
            is_due = self._seconds % SEARCH_EVERY_S == 0 or target not in self._searched
            is_read = collection.read_at is not None or spec.is_local
            if is_read and is_due and self._searched.get(target) != collection.revision:
                self._searched[target] = collection.revision
                start_worker(self._app, self._search(spec, target), "searching for a pin", group=f"pin {target.filter}")
            return
        known = [collection.by_id.get(id) for id in target.ids]
        records = tuple(record.record for record in known if record is not None)
        if len(records) == len(known):
            self._gone.discard(target)
            before = self._digested.get(target)
            if before is None or not all(map(is_, before, records)):
                self._digested[target] = records
                self._present[target] = _digest(text for record in records for text in _texts(spec, record, self._app))
        elif collection.read_at is not None and collection.end_is_proven:
            self._gone.add(target)

    async def _search(self, spec: ResourceSpec[Any], target: PinTarget) -> None:
        """Find what a pinned filter matches; a filter that cannot be read any more matches nothing."""
        from runwatch.view.query.expressions import QueryError
        from runwatch.view.query.parser import parse_filter
        from runwatch.view.table.row_search import RowSearch

        source = self._make_source(spec)
        await source.read()
        items = source.items()
        if len(items) > MAX_SEARCHED_ROWS:
            return
        try:
            query = parse_filter(target.filter, spec, named=self._app.settings.filters)
        except QueryError:
            self._gone.add(target)
            return
        self._gone.discard(target)
        drawing: RowRenderer[Any] = RowRenderer(spec, self._app.render_context())
        rows = await run_row_steps(rebuild_rows(drawing, items, []), new=len(items))
        found = await run_row_steps(RowSearch(rows, query).steps())
        self._present[target] = _digest(sorted(row.id for row in found))

    async def _compare(self, target: PinTarget) -> None:
        """Open a pinned comparison, after reading the records that are not known."""
        from runwatch.tui.flows.comparison import ComparisonSide, open_comparison
        from runwatch.tui.sources.record_loader import find_record

        app, session = self._app, self._session
        if session is None:
            return
        spec, sides = resource_named(target.screen), []
        for record_id in target.ids:
            record = await find_record(session, spec.record, record_id)
            if record is None:
                self._gone.add(target)
                app.notify_user(f"{spec.singular} {short_id(record_id, app.glyphs)} is gone.", Role.WARN)
                return
            title = line(f"{spec.singular} {short_id(record_id, app.glyphs)}")
            sides.append(ComparisonSide(title, record.raw))
        left, right = sides
        app.call_later(open_comparison, app.console_screen, left, right, target)


def _texts(spec: ResourceSpec[Any], record: Record, app: NavigatingApp) -> list[str]:
    """Return what has to change for a mark: of a run its status and reason, else what its row says."""
    if isinstance(record, Run):
        # The cost of a live run grows with every read.
        return [str(record.status), str(record.reason)]
    (row,) = build_rows(spec, [record], app.render_context())
    return [row.text()]


def _digest(texts: Any) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
