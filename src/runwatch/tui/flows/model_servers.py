"""Search for model servers on this machine, only on the user's request.

The local service searches; the console shows the results and opens the form that connects the chosen server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from runwatch.base.network.service_target import server_identity
from runwatch.base.shell_words import runwatch_command
from runwatch.records.model import CatalogEntry
from runwatch.records.model_server import ModelServer, ModelServerSearch
from runwatch.records.source import OPENAI_COMPATIBLE, SourceConnection, find_connected
from runwatch.settings.declarations import LOCAL
from runwatch.settings.view_state import ViewState
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.action_dialog import perform_action
from runwatch.tui.sources.record_loader import load_records
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.actions.sources import (
    CONNECT,
    SAVE_MODELS,
    connect_server,
    find_without_models,
    first_step,
    models_of,
)
from runwatch.view.spec.action import ResourceAction
from runwatch.view.text.format import elapsed_clock
from runwatch.view.text.glyphs import UNICODE, Glyphs, Role
from runwatch.view.text.safe_text import SafeText, line

if TYPE_CHECKING:
    from runwatch.store.session import ServiceSession
    from runwatch.tui.shell.console import Console
    from runwatch.tui.shell.console_screen import ConsoleScreen

SEARCH: Final = "postModelServerSearches"

_WORK: Final = "looking for model servers"


def can_search(console: Console) -> bool:
    """Return whether the console can search: only with the user's own local service, which keeps connections.

    The demo's service is local too, but no other command finds it, and its data is deleted with the demo.
    """
    return console.session is not None and console.session.target.profile == LOCAL and not console.launch.demo


def search_model_servers(screen: ConsoleScreen) -> None:
    """Have the local service search and show the results on a screen; otherwise show why it cannot."""
    console = screen.console
    session = screen.connected_session()
    if session is None:
        return
    if console.launch.demo:
        # Short enough for 80 columns.
        screen.notify_user("The demo looks for no model servers; runwatch --local does.", Role.WARN)
    elif not can_search(console):
        screen.notify_user("Only your own local service looks for model servers: runwatch --local", Role.WARN)
    else:
        screen.notify_user(f"{_WORK} on the usual ports of this machine{console.glyphs.ellipsis}")
        start_worker(screen, _search(console, session, screen), _WORK, group="servers", exclusive=True)


async def _search(console: Console, session: ServiceSession, screen: ConsoleScreen) -> None:
    async with session.live.scheduler.user_turn(
        lambda seconds: screen.notify_user(f"Rate limited (429), sends in {elapsed_clock(seconds)}", Role.WARN)
    ):
        value = (await session.client.request(SEARCH)).value
    found = ModelServerSearch(value if isinstance(value, dict) else {}).servers or ()
    servers = [server for server in found if server.base_url]
    # A command may have connected or saved something since they were read.
    connections = await load_records(session, SourceConnection, reads_again=True)
    entries = await load_records(session, CatalogEntry, reads_again=True)
    slow = sum(bool(server.is_slow) for server in servers)
    said = f"Model servers found: {len(servers) - slow}{f', and {slow} too slow to know' if slow else ''}"
    if console.screen is not screen or screen.has_overlay:
        # Do not interrupt a user who has moved on to something else.
        key = console.keys.shown("app.find_servers")
        console.notify_user(f"{said}. {key} searches again.")
        return
    usable = [each for each in connections if each.is_usable]
    without = find_without_models(connections, entries)
    if usable:
        says = f"{len(usable)} source{'s are' if len(usable) != 1 else ' is'} connected already"
    else:
        says = "enter connects one" if servers else "no server responds on the usual ports"
        says = "no server answers in time" if slow and slow == len(servers) else says
    items = [_server_item(screen, server, connections, without) for server in servers]
    listed = {each.id for server in servers for each in _connected_to(server, connections)[:1]}
    items += [_step_item(screen, each) for each in without if each.id not in listed]
    for each in usable:
        # At a port that is not searched, or without an answer now: which of both is not known.
        if each.id not in listed and each not in without and (port := _local_port(each)):
            items.append(_connected_item(screen, line(f"port {port}"), each, without))
    items.append(_item(screen, line("Another server"), CONNECT_OTHER, connect_server("", needs_key=False)))
    if usable and (shown := [each for each in usable if each not in without]):
        names = ", ".join(line(each.display_name or each.id) for each in shown)
        name, filter = models_of(*shown)
        show = partial(screen.go_to_view_later, ViewState(name, filter=filter))
        items.append(MenuItem(line("Show the models"), show, line(f"of {names}")))
    screen.notify_user(said)
    screen.open_overlay(Menu((label_span("Model servers   ", Role.PLAIN), label_span(says)), items, id="model-servers"))


def bring_models(screen: ConsoleScreen, without: Sequence[SourceConnection]) -> None:
    """Do what a connection without models needs next, one of several from a menu; without any, connect a source."""
    if not without:
        perform_action(screen, None, CONNECT)
    elif len(without) == 1:
        perform_action(screen, without[0], first_step(without[0]))
    else:
        title = (label_span("Connections without models", Role.PLAIN),)
        screen.open_overlay(Menu(title, [_step_item(screen, each) for each in without], id="models-menu"))


def _step_item(screen: ConsoleScreen, connection: SourceConnection) -> MenuItem:
    step = first_step(connection)
    name = line(f"{line(connection.display_name)} {connection.id}".strip())
    return MenuItem(line(step.label), partial(perform_action, screen, connection, step), name)


def _connected_to(server: ModelServer, connections: Sequence[SourceConnection]) -> list[SourceConnection]:
    return list(find_connected(connections, OPENAI_COMPATIBLE, server.base_url))


def _server_item(
    screen: ConsoleScreen,
    server: ModelServer,
    connections: Sequence[SourceConnection],
    without: Sequence[SourceConnection],
) -> MenuItem:
    """Return the item of a server that was found: it connects it, or goes on with what is connected already."""
    console = screen.console
    label = server_label(server, console.glyphs)
    connected = next(iter(_connected_to(server, connections)), None)
    if connected is not None:
        return _connected_item(screen, label, connected, without)
    if server.is_slow:
        again = console.keys.shown("app.find_servers")
        hint = f"enter connects a model server, {again} asks again"
        return _item(screen, label, hint, connect_known(server))
    return _item(screen, label, connect_command(server), connect_known(server))


def _local_port(connection: SourceConnection) -> str:
    """Return the port, and the path if any, of a connected server on this machine; empty for any other."""
    address = (connection.endpoint or {}).get("base_url")
    scheme, host, port = server_identity(address if isinstance(address, str) else "").partition("://localhost:")
    return port if scheme == "http" and host else ""


def _connected_item(
    screen: ConsoleScreen, label: SafeText, connected: SourceConnection, without: Sequence[SourceConnection]
) -> MenuItem:
    """Return the item of a server that is connected already: it goes on with the connection."""
    console = screen.console
    name = line(connected.display_name or connected.id)
    if connected in without:
        step = first_step(connected)
        does = "enter reads its models" if connected.is_usable else "not usable yet; enter tests it"
        return MenuItem(label, partial(perform_action, screen, connected, step), line(f"connected as {name}; {does}"))
    if connected.is_usable:
        go: Callable[[], object] = partial(perform_action, screen, connected, SAVE_MODELS)
        return MenuItem(label, go, line(f"connected as {name}; enter shows its models"))
    go = partial(console.call_later, console.open_record, SourceConnection.KIND, connected.id)
    return MenuItem(label, go, line(f"connected as {name}, not usable yet; enter shows it"))


def _item(screen: ConsoleScreen, label: SafeText, hint: str, connect: ResourceAction[None]) -> MenuItem:
    return MenuItem(label, partial(perform_action, screen, None, connect), line(hint))


def connect_known(server: ModelServer) -> ResourceAction[None]:
    """Return the action that connects a server that was found."""
    return connect_server(server.base_url or "", needs_key=bool(server.needs_key))


CONNECT_OTHER: Final = "runwatch sources connect --local --openai-compatible URL"
"""The command for a server that was not found; the user inserts its address."""


def connect_command(server: ModelServer) -> str:
    """Return the exact command that connects a server; it asks for a key if required."""
    scheme = "api_key" if server.needs_key else None
    address = server.base_url or ""
    return runwatch_command("sources connect", local=True, openai_compatible=address, auth_scheme=scheme)


def server_label(server: ModelServer, glyphs: Glyphs = UNICODE) -> SafeText:
    """Return the server's port, the name of the server that usually has it, and the number of models."""
    port = (server.base_url or "").removesuffix("/v1").rpartition(":")[2]
    if server.is_slow:
        # What has the port is not known.
        return line(f"port {port} answers slowly")
    if server.needs_key:
        offer = "wants a key"
    elif server.models is None:
        offer = "?"
    else:
        offer = "1 model" if len(server.models) == 1 else f"{len(server.models)} models"
    usual = f" ({server.name}?)" if server.name else ""
    return line(f"port {port}{usual} {glyphs.dot} {offer}")
