"""What the bar above says of the service and the connection to it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from runwatch.records.account import Account
from runwatch.records.run import Run
from runwatch.store.trouble import Trouble
from runwatch.tui.draw import Pieces, word
from runwatch.tui.widgets.context_bar import Hold, Place
from runwatch.view.drawn import line
from runwatch.view.glyphs import Role

COLOURS: Final = {
    "red": "#c62828", "yellow": "#f2c14e", "green": "#2e7d32", "cyan": "#00838f", "blue": "#1565c0",
    "magenta": "#ad1457",
}  # fmt: skip
"""Colours that a profile may name; the same in every theme, because people learn them by heart."""

if TYPE_CHECKING:
    from pathlib import Path

    from runwatch.store.desk import Desk
    from runwatch.tui.console import Console


def place_of(console: Console) -> Place:
    """The service that a console works with, or is about to, and how that goes."""
    desk = console.desk
    if console.opening.file is not None:
        return _place_of_file(console, console.opening.file)
    if desk is None:
        failed = console.failure is not None
        glyph = console.glyphs.bad if failed else console.glyphs.live
        how = word(f"{glyph} {'not connected' if failed else console.opening_words}", Role.BAD if failed else Role.LIVE)
        return Place(line(console.profile_name), connection=(how,))
    live = desk.live
    held = live.held_s
    account = _account(console)
    key_id = account.authenticated_principal_id if account and account.authenticated_principal_id else ""
    hold = None
    if held > 0:
        hold = Hold(line("rate_limited"), console.clock.now() + timedelta(seconds=held))
    limit, left = live.budget.limit_rpm, live.budget.left
    rate = f"{live.budget.per_minute}/min" + ("" if limit is None else f" of {limit} left {left}")
    return Place(
        line(desk.target.profile),
        colour=_colour(console, desk),
        read_only=desk.client.read_only,
        host=line(desk.target.host),
        key=line(f"key {desk.target.key_source} {key_id}".strip()) if desk.target.key else line("no key"),
        connection=_connection(console, desk),
        requests=line(rate),
        hold=hold,
    )


def _place_of_file(console: Console, path: Path) -> Place:
    """A file in the place of a service: nothing can be sent."""
    failed = console.failure is not None
    how = (word(f"{console.glyphs.bad} not opened", Role.BAD),) if failed else (word("offline"),)
    return Place(line(f"file {line(path.name, 40)}"), read_only=True, connection=how)


def _colour(console: Console, desk: Desk) -> str | None:
    """What the profile's name stands on: the colour that its settings name, else red where harm hurts."""
    profile = console.settings.profiles.get(desk.target.profile)
    named = COLOURS.get(profile.colour) if profile is not None else None
    return named or (console.palette.text.get("bad") if desk.target.production else None)


def _account(console: Console) -> Account | None:
    for record in console.store.collection(console.profile_name, Account.KIND).records:
        if isinstance(record, Account):
            return record
    return None


def _connection(console: Console, desk: Desk) -> Pieces:
    glyphs = console.glyphs
    runs = console.store.collection(desk.scope.profile, Run.KIND)
    failure = runs.failure
    if failure is None and runs.read_at is None:
        return (word(f"{glyphs.live} connecting{glyphs.ellipsis}", Role.LIVE),)
    if failure is None or failure.trouble is Trouble.NOT_OFFERED:
        return (word(f"{glyphs.live} live", Role.LIVE),)
    return (word(f"{glyphs.bad} {failure.trouble.value}", Role.BAD),)
