"""The header bar's data about the service and the connection."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from runwatch.records.account import Account
from runwatch.records.run import Run
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.freshness import STALE_INTERVALS
from runwatch.tui.core.rendering import StyledSpans, label_span
from runwatch.tui.widgets.bars.header_bar import HeaderInfo
from runwatch.view.detail.pane_state import lost_text, outage_text
from runwatch.view.text.format import request_rate, short_duration, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line

PROFILE_COLOURS: Final = {
    "red": "#c62828", "yellow": "#f2c14e", "green": "#2e7d32", "cyan": "#00838f", "blue": "#1565c0",
    "magenta": "#ad1457",
}  # fmt: skip
"""Colours a profile may have; the same in every theme, because users learn them by heart."""

LIVE_S: Final = 60.0
"""A list of runs up to this old, in seconds, counts as live, as do two of its intervals."""

if TYPE_CHECKING:
    from pathlib import Path

    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console import Console


def build_header_info(console: Console) -> HeaderInfo:
    """Describe the console's current or pending service and the connection."""
    session = console.session
    if console.launch.file is not None:
        return _header_of_file(console, console.launch.file)
    if session is None:
        failed = console.failure is not None
        glyph = console.glyphs.bad if failed else console.glyphs.live
        how = label_span(
            f"{glyph} {'not connected' if failed else console.startup_status}", Role.BAD if failed else Role.LIVE
        )
        return HeaderInfo(
            line(console.profile_name),
            colour=_colour(console, is_production=is_production(console, console.profile_name)),
            is_production=is_production(console, console.profile_name),
            read_only=console.settings.read_only,
            connection=(how,),
        )
    live = session.live
    hold_s = live.hold_s
    account = next(iter(console.records(Account).values()), None)
    key_id = account.authenticated_principal_id if account and account.authenticated_principal_id else ""
    hold = None
    if hold_s > 0 and live.connection.lost_since is None:
        hold = console.clock.now() + timedelta(seconds=hold_s)
    budget = live.budget
    rates = (
        *(
            request_rate(budget.per_minute, budget.limit_rpm, unit, is_learned=budget.is_learned)
            for unit in ("requests/min", "req/min")
        ),
        f"{budget.per_minute}/min",
    )
    return HeaderInfo(
        line(session.target.profile),
        colour=_colour(console, is_production=session.target.production),
        is_production=session.target.production,
        read_only=session.client.read_only,
        # A local service has no host to show: no request uses its port, which changes with every start.
        host=line(session.target.host if session.target.socket is None else ""),
        key=_key_text(session.target.key_source, key_id) if session.target.key else line("no key"),
        key_id=line(key_id if session.target.key else ""),
        connection=_connection(console, session),
        # Tries that get no connection use up no limit; a zero beside them would look like their number.
        requests=() if live.connection.lost_since is not None and not budget.per_minute else tuple(map(line, rates)),
        hold=hold,
    )


def _key_text(source: str, key_id: str) -> SafeText:
    """Return source and id of the key; some sources are themselves named a key, such as the key file."""
    return line(" ".join(filter(None, ("" if source.startswith("key ") else "key", source, key_id))))


def _header_of_file(console: Console, path: Path) -> HeaderInfo:
    """Describe a file opened instead of a service."""
    failed = console.failure is not None
    how = (label_span(f"{console.glyphs.bad} not opened", Role.BAD),) if failed else (label_span("offline"),)
    return HeaderInfo(line("file"), read_only=True, connection=how, file=line(path.name, None))


def is_production(console: Console, name: str) -> bool:
    """Whether the settings mark a profile as a production service."""
    profile = console.settings.profiles.get(name)
    return profile is not None and profile.production


def _colour(console: Console, *, is_production: bool) -> str | None:
    """Return the profile's background colour: the configured one, otherwise red for production."""
    profile = console.settings.profiles.get(console.profile_name)
    named = PROFILE_COLOURS.get(profile.colour) if profile is not None else None
    return named or (console.palette.text.get("bad") if is_production else None)


def _connection(console: Console, session: ServiceSession) -> StyledSpans:
    glyphs = console.glyphs
    runs = console.store.collection(session.scope.profile, Run.KIND)
    failure, connection = runs.failure, session.live.connection
    if connection.lost_since is not None:
        # Imported here, because the first paint has no connection yet.
        from runwatch.store.live.connection_state import PROBE_S

        lost = lost_text(connection.lost_since, connection.came, console.render_context())
        again = f", trying again every {PROBE_S:.0f} s"
        return label_span(f"{glyphs.bad} {lost}", Role.BAD), label_span(again, Role.BAD)
    outage = outage_text(failure)
    if failure is not None and failure.kind is FailureKind.OFFLINE and outage != FailureKind.OFFLINE:
        return (label_span(f"{glyphs.bad} {outage}", Role.BAD),)
    if failure is not None and failure.kind in {FailureKind.NO_ANSWER, FailureKind.NOT_AUTHORISED, FailureKind.ERROR}:
        return (label_span(f"{glyphs.bad} {failure.kind.value}", Role.BAD),)
    if runs.read_at is None and failure is None and not connection.has_responded:
        return (label_span(f"{glyphs.live} connecting{glyphs.ellipsis}", Role.LIVE),)
    if connection.failing_since is not None:
        since = time_of_day(connection.failing_since, console.render_context())
        return (label_span(f"{glyphs.bad} failing since {since}", Role.BAD),)
    now = console.clock.monotonic()
    age_s = None if runs.read_at is None else now - runs.read_at
    is_read = failure is None or failure.kind is not FailureKind.NOT_OFFERED
    if is_read and age_s is not None and age_s > max(LIVE_S, STALE_INTERVALS * session.live.sweep_s):
        return (label_span(f"{glyphs.warn} stale {short_duration(age_s)}", Role.WARN),)
    if (silent_s := session.live.silent_s) > 0:
        return (label_span(f"{glyphs.warn} no answer for {short_duration(silent_s)}", Role.WARN),)
    return (label_span(f"{glyphs.live} live", Role.LIVE),)
