"""What happened around a moment: problems, requests and ended runs, from wherever they are kept.

The line for filters takes the question here, ``WHEN [within SPAN] [in ZONE] [WORDS]``, so that the question comes back
with the view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from runwatch.base.errors import RunwatchError, UsageError
from runwatch.settings.session import View
from runwatch.store.freshness import LoadState, PaneState
from runwatch.tui.draw import Pieces, word
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.tui.sources import Source
from runwatch.tui.widgets.filter_bar import FilterBar, FilterChanged, FilterKept, FilterLeft
from runwatch.tui.widgets.status_line import Hint
from runwatch.view.around import LOCAL, Around, read_around
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import clock
from runwatch.view.glyphs import Role
from runwatch.view.happenings import AROUND, Happening, happenings, in_a_line, neighbours, searched
from runwatch.view.table import Row

if TYPE_CHECKING:
    from runwatch.store.answered import Answered
    from runwatch.store.desk import Desk

_ASK = "WHEN [within 5m] [in ZONE] [words]"
_SUCH = "WHEN [within 5m] [in Europe/Berlin] [words], such as 2026-11-22T03:10 or 03:10 within 10m"


class AroundSource:
    """What is kept of the time around a moment.

    Attributes:
        screen: Who shows it; set once it is there.
        asked: What is asked for; ``None`` before anything is.
        said: What was looked through.
        near: The neighbours in time, where nothing was found.
        is_due: Whether the next read looks: once for each question, because looking is a request of its own.
    """

    def __init__(self) -> None:
        self.screen: AroundScreen | None = None
        self.asked: Around | None = None
        self.said = ""
        self.near: Sequence[Happening] = ()
        self.is_due = False
        self._items: Sequence[Happening] = ()
        self._read_at: float | None = None

    def ask(self, asked: Around) -> None:
        """Look for something else from the next read on."""
        self.asked, self.said, self.near, self._items, self._read_at = asked, "", (), (), None
        self.is_due = True

    def items(self) -> Sequence[Any]:
        """What was found, oldest first."""
        return self._items

    def state(self) -> PaneState:
        """Fresh as soon as it was read."""
        if self.asked is None:
            return PaneState(LoadState.ENDED, reading="nothing is asked for yet")
        if self._read_at is None or self.screen is None:
            return PaneState(LoadState.LOADING)
        load = LoadState.FRESH if self._items else LoadState.EMPTY
        return PaneState(load, age_s=self.screen.console.clock.monotonic() - self._read_at)

    def end_is_proven(self) -> bool:
        """Whether all of it was looked through."""
        from runwatch.store.lookback import MOST

        return len(self._items) < MOST

    async def read(self) -> None:
        """Look through the journal, and through the store of the local service where it runs."""
        assert self.screen is not None
        console, asked = self.screen.console, self.asked
        if console.desk is None or asked is None:
            return
        from runwatch.store.lookback import look_around

        nearby = await look_around(console.desk.journal, asked.windows, asked.text)
        answered, without = await self._answered(console.desk, asked)
        if self.asked is not asked:
            return
        self._items = happenings(asked, nearby, answered)
        self.near = () if self._items else neighbours(asked, nearby, answered)
        self.said = searched(asked, nearby, answered, without)
        self._read_at = console.clock.monotonic()

    async def _answered(self, desk: Desk, asked: Around) -> tuple[Answered | None, str]:
        """What the local service's store has, or why it was not asked."""
        from runwatch.store.answered import NOT_RUNNING, answered_around, is_local, running_service

        assert self.screen is not None
        try:
            if is_local(desk.target):
                await desk.live.scheduler.turn_of_a_person()
                return await answered_around(desk.client, asked.windows), ""
            async with running_service(self.screen.console.opening.paths, desk.clock) as client:
                return (None, NOT_RUNNING) if client is None else (await answered_around(client, asked.windows), "")
        except RunwatchError as error:
            return None, str(error)


class AroundScreen(ResourceScreen):
    """The screen around a moment."""

    def __init__(self) -> None:
        self._around = AroundSource()
        self._question = ""
        self._begun: Sequence[Happening] = ()
        super().__init__(AROUND, self._around)
        self._around.screen = self

    def hints(self) -> Sequence[Hint]:
        """Asking is what this screen is for."""
        return (
            "list.open", ("screen.filter", "ask"), "screen.copy", "screen.export", "screen.raw", "screen.time",
            ("app.problems", "problems"), "app.quit",
        )  # fmt: skip

    def use(self, source: Source) -> None:
        """Look again now that there is a journal: the source is its own."""
        self._around.is_due = True
        self.read_source()

    def read_source(self) -> None:
        """Look when there is a new question; a request that is sent meanwhile changes nothing of what was asked."""
        if self._around.is_due:
            self._around.is_due = False
            super().read_source()

    def action_refresh(self) -> None:
        """Look again."""
        self._around.is_due = True
        super().action_refresh()

    def detail_title(self, row: Row[Any]) -> Pieces:
        """What it is, and how far from the moment."""
        it: Happening = row.subject
        seconds = float(it.offset_s or 0)
        return line(f"{line(it.what)} {'-' if seconds < 0 else '+'}{clock(abs(seconds))}")

    def show_rows(self) -> None:
        """Begin at the moment that was asked for, which stands in the middle of what was found."""
        found = self._around.items()
        if found and found is not self._begun:
            self._begun = found
            self._wanted = min(found, key=lambda each: abs(float(each.offset_s or 0))).id
        super().show_rows()

    def show_view(self, view: View) -> None:
        """Look around what was asked for; ask for a time where nothing was."""
        super().show_view(view)
        if not self._question:
            self.action_filter()

    def action_filter(self) -> None:
        """Type a question, or go on with the last one."""
        super().action_filter()
        self._hear(self._question)

    # The question, in the line for filters.

    @property
    def is_filtered(self) -> bool:
        """Whether something else could be shown: never, because what is asked for is all that is shown."""
        return False

    @property
    def filter_text(self) -> str:
        """The question as a person goes on with it."""
        return self._question

    def on_filter_changed(self, message: FilterChanged) -> None:
        """Say how the question is understood while it is typed; nothing is looked for yet."""
        message.stop()
        message.prevent_default()
        self._hear(message.text)

    def on_filter_kept(self, message: FilterKept) -> None:
        """Look for it."""
        message.stop()
        message.prevent_default()
        if not message.text.strip() or self._apply_filter(message.text):
            self._close_filter()

    def on_filter_left(self, message: FilterLeft) -> None:
        """Go on with what was asked before."""
        message.stop()
        message.prevent_default()
        self._close_filter()

    def _apply_filter(self, text: str) -> bool:
        asked = self._hear(text)
        if asked is None:
            return not text.strip()
        self._question = text.strip()
        self._around.ask(asked)
        self.read_source()
        self.show_crumbs(self._filter_words())
        if asked.told:
            self.console.warn(asked.told)
        return True

    def _hear(self, text: str) -> Around | None:
        """A question as it is understood, or ``None`` with the reason beside what is typed."""
        bar = self.query_one("#filter", FilterBar)
        if not text.strip():
            bar.show_count(line(_ASK))
            return None
        zone = LOCAL if self.console.time_mode == "local" else "UTC"
        try:
            asked = read_around(text, self.console.clock.now(), zone)
        except UsageError as error:
            bar.show_error(line(" · ".join(part for part in (str(error), error.hint) if part)))
            return None
        bar.show_count(line(_understood(asked)))
        return asked

    def _filter_words(self) -> Pieces | None:
        asked = self._around.asked
        return None if asked is None else (word("around "), word(_understood(asked), Role.PLAIN))

    def _complete(self, text: str) -> str | None:
        # What stands here is no filter, so that no field of one is offered.
        return None

    def _count_matches(self) -> None:
        """Beside the line stands how the question is understood, not how many rows there are."""

    # What is shown.

    def _note(self, state: PaneState) -> tuple[Drawn, ...]:
        source = self._around
        if self.console.has_file:
            return (line("A file has no journal to look through; without one, runwatch looks back on this machine."),)
        if source.asked is None:
            return (line("Nothing is asked for yet."), line(_SUCH))
        if state.load is not LoadState.EMPTY:
            return super()._note(state)
        return (line("Nothing is kept from that time."), *_sentences(source.said), *self._near_lines())

    def _near_lines(self) -> Iterable[Drawn]:
        near = self._around.near
        if not near:
            return (line("Nothing else is kept either."),)
        return (line("The nearest are:"), *(line(in_a_line(each)) for each in near))

    def counters(self) -> Pieces:
        """What was found, by what it is."""
        kinds = [each.what or "?" for each in self._around.items()]
        counts = [f"{what}s {kinds.count(what)}" for what in ("problem", "request", "run") if what in kinds]
        return (word(f" {self.console.glyphs.dot} ".join(counts)),)


def _understood(asked: Around) -> str:
    """The moments and the span that a question means."""
    moments = " and ".join(f"{moment:%Y-%m-%d %H:%M:%S} UTC" for moment in asked.moments)
    words = f" '{asked.text}'" if asked.text else ""
    return f"{moments} ± {clock(asked.within.total_seconds())}{words}"


def _sentences(text: str) -> Iterable[Drawn]:
    """What was looked through, a place a line, so that a narrow pane has it all."""
    searched_part, _, rest = text.partition(" in the journal")
    journal, _, store = f"the journal{rest}".partition(" and the local")
    parts = (searched_part, journal, f"the local{store}" if store else "")
    return tuple(line(part) for part in parts if part)
