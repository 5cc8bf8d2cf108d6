"""Looking for model servers on this machine, when a person asks for it and never by itself.

The local service looks; the console asks it, shows what was found, and copies the command that connects what a person
chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from runwatch.records.modelserver import ModelServerSearch
from runwatch.settings.model import LOCAL
from runwatch.tui.draw import word
from runwatch.tui.widgets.menu import Menu, MenuItem
from runwatch.tui.work import start_work
from runwatch.view.copies import Copy
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import clock
from runwatch.view.glyphs import Role
from runwatch.view.model_servers import ANOTHER, connect_command, server_words

if TYPE_CHECKING:
    from runwatch.store.desk import Desk
    from runwatch.tui.console import Console
    from runwatch.tui.screens.base import ConsoleScreen

SEARCH: Final = "postModelServerSearches"

_WORK: Final = "looking for model servers"


def is_offered(console: Console) -> bool:
    """Whether the console can look: on the local service that keeps what is connected to it.

    The demo's service is local too, but no other command finds it, and it is gone when the demo is left.
    """
    return console.desk is not None and console.desk.target.profile == LOCAL and not console.opening.demo


def look_for_servers(screen: ConsoleScreen) -> None:
    """Ask the local service to look, and show on a screen what it found; or say why not."""
    console = screen.console
    desk = screen.connected_desk()
    if desk is None:
        return
    if not is_offered(console):
        screen.say("Only your own local service looks for model servers: runwatch --local", Role.WARN)
    else:
        screen.say(f"{_WORK} on the usual ports of this machine{console.glyphs.ellipsis}")
        start_work(screen, _look(console, desk, screen), _WORK, group="servers", exclusive=True)


async def _look(console: Console, desk: Desk, screen: ConsoleScreen) -> None:
    await desk.live.scheduler.turn_of_a_person(
        lambda seconds: screen.say(f"held by a 429 for {clock(seconds)}", Role.WARN)
    )
    value = (await desk.client.request(SEARCH)).value
    found = ModelServerSearch(value if isinstance(value, dict) else {}).servers or ()
    servers = [server for server in found if server.base_url]
    said = f"Model servers found: {len(servers)}"
    if console.screen is not screen or screen.has_overlay:
        # Whoever has begun something else meanwhile is not interrupted.
        key = console.keys.shown("app.find_servers")
        console.notify_user(f"{said}. {key} looks again and shows them.")
        return
    says = "enter copies what connects one" if servers else "none answers on the usual ports"
    items = [_item(server_words(server, console.glyphs), connect_command(server)) for server in servers]
    items.append(_item(line("Another server"), ANOTHER))
    screen.say(said)
    screen.put_over(Menu((word("Model servers   ", Role.PLAIN), word(says)), items, id="model-servers"))


def _item(label: Drawn, command: str) -> MenuItem:
    """What copies a command, with the command beside it."""
    return MenuItem(label, Copy(line("command"), command), line(command))
