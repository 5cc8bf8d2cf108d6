"""Palette commands: screens, key actions, named filters and commands of the whole console."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from runwatch.base.errors import RunwatchError
from runwatch.records.run import Run
from runwatch.settings.declarations import SETTINGS, find_setting
from runwatch.settings.setting import Setting
from runwatch.settings.view_state import ViewState
from runwatch.store.repositories.id_search import MIN_DIGITS, normalize_id
from runwatch.tui.app import profile_menu
from runwatch.tui.core.command_parser import PaletteCommand
from runwatch.tui.core.key_bindings import BY_ID
from runwatch.tui.core.themes import theme_names
from runwatch.tui.core.workers import run_in_app, start_worker
from runwatch.tui.flows.model_servers import can_search
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.shell.refusals import key_refusal
from runwatch.tui.widgets.bars.filter_bar import complete_filter
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.view.resources.registry import RESOURCES, resource_named
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.format import TimeMode, ago, state_cell
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, join, line

if TYPE_CHECKING:
    from runwatch.settings.declarations import OwnCommand
    from runwatch.store.session import ServiceSession
    from runwatch.tui.app.navigation import NavigatingApp

SCOPE_LABELS: Final = {
    "app": "console",
    "screen": "view",
    "list": "list",
    "tail": "events",
    "detail": "details",
    "replay": "replay",
}
"""Prefix of a scope's key actions as commands: ``view: refresh``."""

TYPED_NAMES: Final = {"profiles": "available sources"}
"""What is typed for a screen whose name means something else to users."""

ALIASES: Final = {"requests": ("http",), "keys": ("key",)}

MAX_SUGGESTED_IDS: Final = 50
MAX_SOUGHT_IDS: Final = 20_000
"""Known ids among which to look for suggestions while typing: more would delay the next key."""

_MOVES: Final = ("move", "screen.move", "go(", "go_to_pin", "follow_end", "focus_", "app.focus_")
"""Key actions without a command: cursor moves, and screens and pins, which have commands of their own."""

_SYNONYMS: Final = {
    "screen.destroy": ("cancel", "kill", "stop", "abort", "delete", "disable", "retire"),
    "screen.again": ("restart", "rerun", "start again"),
    "screen.copy_menu": ("copy curl", "copy command"),
    "screen.turn_split": ("split", "layout"),
}
"""Common words for key actions, by their ids."""

_LISTED_BY_NAME: Final = frozenset(
    {"app.command", "app.help", "app.quit", "app.outbox", "app.find_servers", "app.profile", "app.around",
     "screen.time", "screen.tail_all", "screen.wall", "screen.groups"}
)  # fmt: skip
"""Key actions that the palette lists under names of their own, and the key that opens it."""


def open_command_line(console: NavigatingApp) -> None:
    from runwatch.tui.widgets.panes.command_line import CommandLine

    screen = console.console_screen
    refused = {
        word: reason for id, words in _SYNONYMS.items() if (reason := key_refusal(console, id)) for word in words
    }
    commands, filters_rows = list(list_commands(console)), isinstance(screen, ListScreen)
    screen.open_overlay(
        CommandLine(commands, recent=console.recent_commands, refused=refused, filters_rows=filters_rows)
    )


def list_commands(console: NavigatingApp) -> Iterator[PaletteCommand]:
    """Yield all commands available now, the most common first."""
    for spec in RESOURCES:
        if spec.name == "account":
            yield _report(console, "account", "Go to Account and usage.", "usage")
        elif spec.has_screen:
            yield _screen(console, spec)
    yield _report(console, "compliance", "Go to the compliance export.", "decisions")
    keys = console.keys
    yield PaletteCommand("around", "Find the problems, requests and ended runs around a time.",
                  partial(open_activity, console), keys.shown("app.around"),
                  argument_name="WHEN [within SPAN] [in ZONE] [WORDS]", needs_argument=True)  # fmt: skip
    yield PaletteCommand("codes", BY_ID["screen.groups"].help, _go(console, "codes"), keys.shown("screen.groups"))
    yield PaletteCommand("tail", BY_ID["screen.tail_all"].help, partial(tail_runs, console),
                  keys.shown("screen.tail_all"), argument_name="all", known=("all",))  # fmt: skip
    yield PaletteCommand("wall", BY_ID["screen.wall"].help, partial(show_wall, console), keys.shown("screen.wall"))
    yield PaletteCommand("overview", "Go to the overview.", _go(console, "overview"), keys.shown("app.overview"))
    yield PaletteCommand("settings", "Show and change the settings, or one of them.", partial(show_settings, console),
                  keys.shown("app.settings"), argument_name="KEY", is_found_by_value=True,
                  known=tuple(setting.key for setting in SETTINGS if not setting.is_table),
                  describe=lambda key: line(cast(Setting[Any], find_setting(key)).doc))  # fmt: skip
    yield PaletteCommand("help", "Show the keys, the filter language and the manual, or a page of it.",
                  partial(show_help, console), keys.shown("app.help"), argument_name="PAGE",
                  known=manual_topics())  # fmt: skip
    if tabs := _tabs(console):
        yield PaletteCommand("tab", "Show another view of this pane.", partial(show_tab, console),
                      keys.shown("screen.next_tab"), argument_name="NAME", needs_argument=True, known=tuple(tabs),
                      is_found_by_value=True, is_found_by_letters=True)  # fmt: skip
    yield PaletteCommand("open", "Open a record by its id or a part of its name; watch an unknown run.",
                  partial(open_run, console), argument_name="ID", needs_argument=True,
                  complete=partial(_known_ids, console), describe=partial(_describe_id, console))  # fmt: skip
    filtered = _filtered_list(console)
    yield PaletteCommand("filter", "Filter the rows of this view.", partial(filter_view, console),
                  keys.shown("screen.filter"), argument_name="FILTER", needs_argument=True,
                  complete=partial(_complete_filter, console, filtered),
                  describe=partial(_describe_flag, filtered))  # fmt: skip
    if isinstance(console.screen, ListScreen):
        yield PaletteCommand("export", "Export the rows to a file: .ndjson, .csv, .json or .md.",
                  partial(export_command, console), keys.shown("screen.export"), argument_name="FILE",
                  needs_argument=True)  # fmt: skip
    for name, text in console.settings.filters.items():
        said = line(name).casefold()
        yield PaletteCommand(
            f"filter: {said}", f"Filter by {line(text, 200)}", _named_filter(console, name), aliases=(said,)
        )
    screen = console.screen
    if isinstance(screen, ListScreen):
        for own in console.settings.commands.values():
            if own.is_for(screen.spec.name):
                yield PaletteCommand(f"own: {line(own.name).casefold()}", "Run this command of yours with the record.",
                      _own_command(screen, own))  # fmt: skip
    for number, label in console.pin_labels():
        yield PaletteCommand(f"pin: {label}", f"Go to pin {number}.", _act(console, f"app.pin_{number}"),
                      keys.shown(f"app.pin_{number}"))  # fmt: skip
    # Shortest names first: of several themes containing the typed text, the plainest is likely meant.
    themes = tuple(sorted(theme_names(console.theme_directories), key=len))
    yield PaletteCommand("theme", "Use another theme for this session.", partial(use_theme, console),
                  argument_name="NAME", needs_argument=True, known=themes, is_found_by_value=True,
                  is_found_by_letters=True)  # fmt: skip
    yield PaletteCommand("time", "Show times as relative, local or UTC.", partial(show_times, console),
                  keys.shown("screen.time"), argument_name="MODE", known=get_args(TimeMode))  # fmt: skip
    yield PaletteCommand("outbox", BY_ID["app.outbox"].help, _act(console, "app.outbox"), keys.shown("app.outbox"))
    if not console.has_file:
        yield PaletteCommand("profile", "Switch to another profile and keep the view; without NAME, choose it.",
                      partial(profile_menu.go_to_profile, console), console.keys.shown("app.profile"),
                      argument_name="NAME", known=console.profiles.reachable, aliases=("profiles",))  # fmt: skip
        yield PaletteCommand("across", "Show runs, templates, receipts, usage or problems of several profiles.",
                      partial(profile_menu.show_multi_profile, console), argument_name="A,B|all")  # fmt: skip
    if can_search(console):
        yield PaletteCommand("servers", BY_ID["app.find_servers"].help, _act(console, "app.find_servers"),
                      keys.shown("app.find_servers"))  # fmt: skip
    yield from _actions(console)
    yield PaletteCommand("quit", "Quit runwatch; live runs continue.", partial(_quit, console))


def _known_ids(console: NavigatingApp, begun: str) -> Iterator[str]:
    """Yield known ids that contain a text: one that equals it, those of runs, others, then those of names with it.

    Leaves out ids that cannot be typed as they are shown.
    """
    session, plain = console.session, begun.casefold()
    if session is None:
        return
    kinds = dict.fromkeys((Run.KIND, *(spec.kind for spec in RESOURCES if spec.has_screen and not spec.is_local)))
    lists = [session.store.collection(session.scope.profile, kind).by_id for kind in kinds]
    whole = (begun for known in lists if begun in known)
    every = chain(whole, islice(chain.from_iterable(lists), MAX_SOUGHT_IDS))
    matching = (found for found in every if plain in found.casefold() and line(found) == found)
    named = _ids_of_names(session, plain) if plain else ()
    # A receipt has the id of its run.
    yield from islice(dict.fromkeys(chain(matching, named)), MAX_SUGGESTED_IDS)


def _ids_of_names(session: ServiceSession, part: str) -> Iterator[str]:
    """Yield ids of known records whose names contain a folded text."""
    for spec in RESOURCES:
        # Runs have no names, and most records are runs.
        if spec.has_screen and not spec.is_local and spec.kind != Run.KIND:
            known = session.store.collection(session.scope.profile, spec.kind).by_id
            for id, stored in islice(known.items(), MAX_SOUGHT_IDS):
                name = spec.name_of(spec.subject(stored.record)) or ""
                if part in name.casefold() and line(id) == id:
                    yield id


def _describe_id(console: NavigatingApp, id: str) -> SafeText:
    """Describe the known record with an id: what it is, its name, its state, and its age."""
    session, glyphs = console.session, console.glyphs
    if session is None:
        return line("")
    for spec in (resource_named("runs"), *RESOURCES):
        known = session.store.collection(session.scope.profile, spec.kind).by_id.get(id)
        if known is None or not spec.has_screen or spec.is_local:
            continue
        status, at = getattr(known.record, "status", None), getattr(known.record, "created_at", None)
        name = spec.name_of(spec.subject(known.record))
        words = [line(f"{spec.singular} {name}" if name else spec.singular, 60)]
        words += [state_cell(status, glyphs).text] if isinstance(status, str) else []
        words += [ago(at, console.clock.now())] if isinstance(at, datetime) else []
        return join(words, f" {glyphs.dot} ")
    return line("")


async def open_run(console: NavigatingApp, text: str) -> bool:
    """Open a run by its id or by a part of one known id, loaded first if unknown, or another known record by its id.

    Return whether it is open; an unknown run becomes a recent command once it is found.
    """
    session, before = console.console_screen.connected_session(), console.screen
    if session is None:
        return False
    for spec in RESOURCES:
        if spec.kind != Run.KIND and spec.has_screen and not spec.is_local:
            is_run = text in session.store.collection(session.scope.profile, Run.KIND).by_id
            if not is_run and text in session.store.collection(session.scope.profile, spec.kind).by_id:
                await console.open_record(spec.kind, text)
                return True
    found = _find(text, list(session.store.collection(session.scope.profile, Run.KIND).by_id))
    if found is not None:
        await console.open_run(found)
        return True

    async def read() -> None:
        from runwatch.tui.flows.runs.add_runs import add_to_watch_list, shown_id

        outcome = await add_to_watch_list(session, text)

        async def explain() -> None:
            # Do not navigate if the user has left this screen in the meantime.
            if outcome.is_found and console.screen is before:
                await console.open_run(text)
            if outcome.is_found:
                console.remember_command(f"open {text}")
            role = Role.PLAIN if outcome.is_found else Role.BAD
            console.console_screen.notify_user(f"{shown_id(text)}: {outcome.text}", role)

        run_in_app(console, explain, "opening a run")

    start_worker(console, read(), "opening a run", group="open")
    return False


def _find(text: str, known: list[str]) -> str | None:
    if text in known:
        return text
    plain = normalize_id(text)
    matching = [run_id for run_id in known if plain in normalize_id(run_id)]
    return matching[0] if len(plain) >= MIN_DIGITS and len(matching) == 1 else None


async def tail_runs(console: NavigatingApp, which: str) -> None:
    """Follow the marked runs of the front list in one list; all live ones if none is marked, or with ``all``."""
    from runwatch.tui.screens.runs.merged_tail import tail_view

    await console.go_to_view(tail_view([] if which else _marked_runs(console)))


async def show_wall(console: NavigatingApp, _: str) -> None:
    """Show the marked runs of the front list side by side; all live ones if none is marked."""
    from runwatch.tui.screens.runs.run_wall import wall_view

    await console.go_to_view(wall_view(_marked_runs(console)))


def _marked_runs(console: NavigatingApp) -> list[str]:
    screen = console.screen
    if isinstance(screen, ResourceScreen) and screen.spec.kind == Run.KIND:
        return [row.id for row in screen.marked_rows()]
    return []


async def open_activity(console: NavigatingApp, question: str) -> None:
    """Open the activity for a typed time query."""
    await console.go_to_view(ViewState("around", filter=question.strip()))


async def filter_view(console: NavigatingApp, text: str) -> bool:
    """Filter the front list; on other screens, the list of runs. Return whether the filter can be read."""
    if not isinstance(console.screen, ResourceScreen):
        await console.go_to("runs", is_root=True)
    screen = console.screen
    return isinstance(screen, ResourceScreen) and screen.filter_by(text)


async def export_command(console: NavigatingApp, name: str) -> None:
    """Export the rows of the front list to a file."""
    from runwatch.tui.flows.exports import export_to_named_file

    if isinstance(console.screen, ListScreen):
        export_to_named_file(console.screen, name)


def manual_topics() -> tuple[str, ...]:
    from runwatch.view.manual.pages import TOPICS

    return tuple(TOPICS)


async def show_help(console: NavigatingApp, topic: str) -> None:
    from runwatch.tui.screens.help import open_help

    open_help(console, topic)


async def show_settings(console: NavigatingApp, key: str) -> None:
    """Go to the settings, and to one of them if it is named."""
    from runwatch.tui.screens.settings.settings import SettingsScreen

    await console.go_to("settings", is_root=True)
    screen = console.screen
    if key and isinstance(screen, SettingsScreen):
        screen.select_setting(key)


def _tabs(console: NavigatingApp) -> dict[str, str]:
    """Return the ids of the tabs in front by their labels in small letters."""
    return {label.casefold(): tab for bar in console.screen.query(TabBar) for tab, label in bar.tabs}


async def show_tab(console: NavigatingApp, label: str) -> None:
    """Show a tab, also where a narrow window hides its pane."""
    screen = console.screen
    screen.query_one(TabBar).choose(_tabs(console)[label])
    if isinstance(screen, ResourceScreen):
        screen.reveal_detail()


async def use_theme(console: NavigatingApp, name: str) -> bool:
    try:
        console.apply_theme(name)
    except RunwatchError as error:
        console.console_screen.notify_user(str(error), Role.BAD)
        return False
    console.console_screen.notify_user(f"Theme {name} for this session; Settings keeps it")
    return True


async def show_times(console: NavigatingApp, mode: str) -> None:
    """Set the time mode, or switch to the next one."""
    console.next_time_mode(cast(TimeMode, mode) if mode else None)


async def _quit(console: NavigatingApp, _: str) -> None:
    console.exit()


def _screen(console: NavigatingApp, spec: ResourceSpec[Any]) -> PaletteCommand:
    async def go(text: str) -> bool:
        word, _, question = text.partition(" ")
        if spec.is_local and word == "around":
            await open_activity(console, question)
            return True
        screen = console.screen
        if not (isinstance(screen, ResourceScreen) and screen.spec.name == spec.name):
            await console.go_to(spec.name, is_root=True)
            screen = console.screen
        return not (text and isinstance(screen, ResourceScreen)) or screen.filter_by(text)

    words = {word for word in (spec.kind, spec.singular) if word.isalpha()}
    aliases = tuple({*words, *ALIASES.get(spec.name, ())} - {spec.name})
    key = console.keys.shown(f"app.{spec.name}") if f"app.{spec.name}" in BY_ID else line("")
    name = TYPED_NAMES.get(spec.name, spec.name)
    return PaletteCommand(name, f"Go to {spec.title}.", go, key, argument_name="FILTER", aliases=aliases,
                          complete=partial(_complete_filter, console, spec),
                          describe=partial(_describe_flag, spec))  # fmt: skip


def _filtered_list(console: NavigatingApp) -> ResourceSpec[Any]:
    """Return the list that ``filter`` filters."""
    screen = console.screen
    return screen.spec if isinstance(screen, ResourceScreen) else resource_named("runs")


def _complete_filter(console: NavigatingApp, spec: ResourceSpec[Any], text: str) -> Iterator[str]:
    """Yield a filter if it can be read, then what it may become: from the rows of the list if it is in front."""
    if not text:
        return
    from runwatch.view.query.expressions import QueryError
    from runwatch.view.query.parser import parse_filter

    try:
        parse_filter(text, spec, named=console.settings.filters)
    except QueryError:
        pass
    else:
        yield text
    screen = console.screen
    if isinstance(screen, ResourceScreen) and screen.spec.name == spec.name:
        completed = screen.complete_filter(text)
    else:
        fields = {field.id: [line(choice) for choice in field.choices] for field in spec.all_fields()}
        completed = complete_filter(text, fields, tuple(spec.flags))
    yield from islice(completed, MAX_SUGGESTED_IDS)


def _describe_flag(spec: ResourceSpec[Any], text: str) -> SafeText:
    """Say what the ``is:`` that a filter ends with keeps."""
    from runwatch.view.table.flag_meanings import flag_meaning

    _, sign, name = text.rpartition("is:")
    return line(f"is:{name}: {meaning}" if sign and (meaning := flag_meaning(spec, name)) else "")


def _report(console: NavigatingApp, name: str, help: str, alias: str) -> PaletteCommand:
    async def go(text: str) -> None:
        from runwatch.tui.screens.base.report_screen import ReportScreen

        await console.go_to(name, is_root=True)
        screen = console.screen
        if text and isinstance(screen, ReportScreen):
            screen.period_by(text)

    key = console.keys.shown(f"app.{name}") if f"app.{name}" in BY_ID else line("")
    return PaletteCommand(name, help, go, key, argument_name="PERIOD", aliases=(alias,))


def _actions(console: NavigatingApp) -> Iterator[PaletteCommand]:
    """Yield the key actions available now."""
    seen: set[str] = set()
    screen = console.screen
    acts_on = screen.spec.singular if isinstance(screen, ResourceScreen) else ""
    for _, binding, is_enabled, _ in console.screen.active_bindings.values():
        action = BY_ID.get(binding.id or "")
        if action is None or not is_enabled or action.id in seen | _LISTED_BY_NAME or action.handler.startswith(_MOVES):
            continue
        if not console.console_screen.offers(action.id):
            continue
        seen.add(action.id)
        name = f"{SCOPE_LABELS.get(action.scope, action.scope)}: {action.label}"
        help = console.console_screen.key_help(action.id)
        yield PaletteCommand(name, help, _act(console, action.id), console.keys.shown(action.id),
                             aliases=_SYNONYMS.get(action.id, ()), acts_on=acts_on)  # fmt: skip


def _act(console: NavigatingApp, action: str) -> Callable[[str], Awaitable[None]]:
    async def act(_: str) -> None:
        await console.run_key_action(action)

    return act


def _go(console: NavigatingApp, name: str) -> Callable[[str], Awaitable[None]]:
    async def go(_: str) -> None:
        await console.go_to(name, is_root=True)

    return go


def _own_command(screen: ListScreen, command: OwnCommand) -> Callable[[str], Awaitable[None]]:
    async def start(_: str) -> None:
        from runwatch.tui.flows.own_commands.menu import start_command_at_cursor

        start_command_at_cursor(screen, command)

    return start


def _named_filter(console: NavigatingApp, name: str) -> Callable[[str], Awaitable[bool]]:
    async def apply(_: str) -> bool:
        return await filter_view(console, f":{name}")

    return apply
