"""The first line of every screen: service, mode, key and connection."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from textual.timer import Timer

from runwatch.base.text import cell_width
from runwatch.tui.core.rendering import StyledSpan, StyledSpans, label_span, to_spans
from runwatch.tui.core.widget_app import get_app
from runwatch.tui.widgets.bars.bar import MIN_GAP, Bar, BarPart, measure_parts
from runwatch.view.text.format import elapsed_clock, short_id
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, elide_middle, line, truncate

PROFILE_CELLS: Final = 24
HOST_CELLS: Final = 40
KEY_CELLS: Final = (48, 32)
"""Of a key's source and id: as much as is useful, and as much as must fit if the id is not known."""

NUMBER_CELLS: Final = 3
"""Cells kept free for the number of requests, where there is room, so that the state before it does not move."""

_SHORTER: Final = (
    "key", "key", "key", "requests", "requests", "host", "time", "requests", "mode", "connection", "profile",
)  # fmt: skip
"""Parts in the order in which they get shorter for lack of room; one without a shorter form is left out."""

_LOST_SHORTER: Final = (*_SHORTER[:5], "connection", "mode", "requests", "time", "host", "profile")
"""The same while the service is lost: its address says more than that the console tries again."""

_NEVER_LEFT_OUT: Final = ("mode", "connection", "profile")

NOTHING: Final = line("")


class HeaderInfo(NamedTuple):
    """Content of the header bar.

    Attributes:
        colour: The profile's color from the settings, ``#rrggbb``.
        is_production: Whether the profile is marked as a production service.
        read_only: Whether the client refuses every write.
        host: Host and port of the service.
        key: Source and id of the key, never the key itself.
        key_id: The id alone, for a narrow window; empty if it is not known.
        connection: Glyph and word for the state of the connection. A narrow window has only the first span.
        requests: Requests of the last minute in words, in forms for windows of less and less room.
        hold: Until when a 429 pauses all reads, shown instead of connection and requests.
        file: The name of an opened file, in the place of the profile: as much of both its ends as there is room for.
    """

    profile: SafeText
    colour: str | None = None
    is_production: bool = False
    read_only: bool = False
    host: SafeText = NOTHING
    key: SafeText = NOTHING
    key_id: SafeText = NOTHING
    connection: StyledSpans = NOTHING
    requests: tuple[SafeText, ...] = ()
    hold: datetime | None = None
    file: SafeText = NOTHING


class HeaderBar(Bar):
    """The header line. Profile, production, mode, connection and the countdown of a hold are never dropped for lack of
    room; production and the word of read-only mode are never cut.
    """

    def __init__(self, header: HeaderInfo | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.header = header or HeaderInfo(NOTHING)
        self._timer: Timer | None = None

    def show(self, header: HeaderInfo) -> None:
        if header != self.header:
            self.header = header
            self._set_timer()
            self.refresh()

    def on_mount(self) -> None:
        self._set_timer()

    def tick(self) -> None:
        self.refresh()
        self._set_timer()

    def parts(self, width: int) -> tuple[Sequence[BarPart], Sequence[BarPart]]:
        """Return the parts that fit: some become shorter, then are left out; profile, mode and connection stay."""
        header = self.header
        requests = [_quiet(form, gap=3) for form in header.requests]
        profile = BarPart(((truncate(header.profile, PROFILE_CELLS), Role.PLAIN),), colour=header.colour)
        production = label_span("PRODUCTION" if header.is_production else "", Role.BAD)
        left = {
            "profile": profile,
            "production": BarPart((production,)),
            "mode": BarPart((mode_span(read_only=header.read_only),)),
            "host": BarPart(((truncate(header.host, HOST_CELLS), Role.QUIET),)),
            "key": _quiet(truncate(header.key, KEY_CELLS[0])),
        }
        shorter = {**self._shorter_parts(), "requests": requests[1:]}
        if header.hold is None:
            right = {
                "connection": BarPart(to_spans(header.connection)),
                "requests": next(iter(requests), _quiet(NOTHING)),
                "time": _quiet(line(f"{get_app(self).clock.now().astimezone(UTC):%H:%M} UTC"), gap=3),
            }
        else:
            mode = next(iter(shorter["mode"]), left["mode"])
            safety = [left["production"], mode] if header.is_production else [mode]
            room = width - measure_parts([profile, *safety]) - MIN_GAP
            right = {"hold": BarPart(self._countdown(header.hold, room))}
        for side in (left, right):
            for name in [name for name, part in side.items() if not part.width]:
                del side[name]
        if header.file:
            room = width - measure_parts([*left.values()]) - MIN_GAP - measure_parts([*right.values()]) - 1
            file = elide_middle(header.file, max(PROFILE_CELLS // 2, room), get_app(self).glyphs.ellipsis)
            left["profile"] = BarPart(((line(f"{header.profile} {file}", None), Role.PLAIN),))

        def fits() -> bool:
            return measure_parts([*left.values()]) + MIN_GAP + measure_parts([*right.values()]) <= width

        is_lost = len(to_spans(header.connection)) > 1 and "host" in left
        for name in _LOST_SHORTER if is_lost else _SHORTER:
            if fits():
                break
            side = left if name in left else right
            part = next((it for it in shorter.get(name, ()) if name in side and it.width < side[name].width), None)
            if part is not None:
                side[name] = part
            elif name not in _NEVER_LEFT_OUT:
                side.pop(name, None)
        # What was left out may have been wider than the words that the requests lost.
        for form in requests if "requests" in right else ():
            right["requests"] = form
            if fits():
                break
        if (part := right.get("requests")) is not None:
            text = part.pieces[0][0]
            number = text[: len(text) - len(text.lstrip("0123456789"))]
            free = width - MIN_GAP - measure_parts([*left.values()]) - measure_parts([*right.values()])
            right["requests"] = part._replace(gap=part.gap + max(0, min(free, NUMBER_CELLS - len(number))))
        return [*left.values()], [*right.values()]

    def _shorter_parts(self) -> dict[str, Sequence[BarPart]]:
        """Return the forms of parts for a window without room for the whole ones, the longest first."""
        header = self.header
        keys: tuple[SafeText, ...] = (truncate(header.key, KEY_CELLS[1]),)
        if header.key_id:
            shown = (truncate(header.key_id, KEY_CELLS[1]), short_id(header.key_id, get_app(self).glyphs))
            keys = tuple(line(f"key {it}") for it in shown)
        return {
            "key": [_quiet(key) for key in keys],
            "mode": () if header.read_only else [BarPart((label_span("read/write", Role.PLAIN),))],
            "connection": [BarPart(to_spans(header.connection)[:1])],
            "profile": [BarPart(((truncate(header.profile, PROFILE_CELLS // 2), Role.PLAIN),), colour=header.colour)],
        }

    def _countdown(self, until: datetime, room: int) -> tuple[tuple[SafeText, str], ...]:
        """Return the longest form that fits; the key that asks anyway is dropped last."""
        app = get_app(self)
        dot, key = app.glyphs.dot, app.keys.shown("screen.refresh")
        left = elapsed_clock(max(0.0, (until - app.clock.now()).total_seconds()))
        forms = (
            f"waiting {dot} 429 rate_limited {dot} reads again in {left} {dot} {key} asks now",
            f"429 rate_limited {dot} reads again in {left} {dot} {key} asks now",
            f"429 {dot} reads again in {left} {dot} {key} asks now",
            f"429 {dot} reads again in {left}",
        )
        shown = next((form for form in forms if cell_width(form) <= room), forms[-1])
        return ((line(shown), Role.WARN),)

    def _set_timer(self) -> None:
        """Wake when the display changes: every second during a countdown, otherwise every minute."""
        if self._timer is not None:
            self._timer.stop()
        now = get_app(self).clock.now()
        seconds = 1.0 if self.header.hold is not None else 60.0 - now.second - now.microsecond / 1e6
        self._timer = self.set_timer(max(0.05, seconds), self.tick)


def mode_span(*, read_only: bool) -> StyledSpan:
    """Say whether the console can change what the service has."""
    return label_span("READ-ONLY", Role.WARN) if read_only else label_span("read and write", Role.PLAIN)


def _quiet(text: SafeText, *, gap: int = 2) -> BarPart:
    return BarPart(((text, Role.QUIET),), gap=gap)
