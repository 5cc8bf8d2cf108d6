"""All screens by name, and their classes, which are imported when a screen is first opened."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from runwatch.tui.screens.base.resource_screen import ResourceScreen
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.view.resources.runs import RUNS
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.sources.row_sources import RowSource
    from runwatch.view.spec.resource import ResourceSpec

SETTINGS: Final = "settings"
OVERVIEW: Final = "overview"
"""The screen behind all others; going back from the first of them opens it."""

PAGE_CLASSES: Final = {
    OVERVIEW: "reports.overview:OverviewScreen",
    SETTINGS: "settings.settings:SettingsScreen",
    "tail": "runs.merged_tail:MergedTailScreen",
    "replay": "runs.replay:ReplayScreen",
    "wall": "runs.run_wall:RunWallScreen",
    "around": "problems.activity:ActivityScreen",
    "codes": "problems.problem_codes:ProblemCodesScreen",
    "account": "reports.usage:UsageScreen",
    "usage": "reports.usage:UsageScreen",
    "compliance": "reports.compliance:ComplianceScreen",
}
"""Screens that are not a list of one resource, by name. Each class takes no argument."""

LIST_CLASSES: Final = {
    "runs": "runs.runs:RunsScreen",
    "events": "runs.run_events:FileEventsScreen",
    "receipts": "reports.receipts:ReceiptsScreen",
    "problems": "problems.problems:ProblemsScreen",
    "requests": "problems.requests:RequestsScreen",
    "models": "resources.models:ModelsScreen",
    "verifiers": "resources.verifiers:VerifiersScreen",
    "agents": "resources.agents:AgentsScreen",
    "templates": "templates.templates:TemplatesScreen",
    "github": "resources.github:GithubScreen",
}
"""Screens that extend the generic one, by resource name. Each class takes its source."""


def is_page(name: str) -> bool:
    """Return whether the name is a screen that is not a list of one resource."""
    return name in PAGE_CLASSES


def has_screen(name: str) -> bool:
    try:
        return name in PAGE_CLASSES or resource_named(name).has_screen
    except KeyError:
        return False


def unknown_screen_text(name: str) -> str:
    """Return the sentence for a name that no screen has, with the nearest one."""
    from runwatch.base.closest_word import closest_word
    from runwatch.view.resources.registry import screen_names

    guess = closest_word(name, screen_names())
    return f"There is no screen named {line(name, 60)}." + (f" Did you mean {guess}?" if guess else "")


def make_page(name: str) -> ConsoleScreen:
    """Return a new screen of :data:`PAGE_CLASSES`.

    Raises:
        KeyError: The name is unknown.
    """
    screen: ConsoleScreen = _class_of(PAGE_CLASSES[name])()
    return screen


def make_list_screen(spec: ResourceSpec[Any], source: RowSource) -> ResourceScreen:
    own = LIST_CLASSES.get(spec.name)
    screen: ResourceScreen
    if own is not None:
        screen = _class_of(own)(source)
    elif spec.tabs:
        screen = _class_of("base.tabbed_screen:TabbedScreen")(spec, source)
    elif spec.facets:
        screen = _class_of("base.faceted_screen:FacetedScreen")(spec, source)
    else:
        screen = ResourceScreen(spec, source)
    return screen


def resource_named(name: str) -> ResourceSpec[Any]:
    """Return a resource by name. Runs, the usual first screen, are found without importing all other resources.

    Raises:
        KeyError: The name is unknown.
    """
    if name == RUNS.name:
        return RUNS
    from runwatch.view.resources.registry import resource_named

    return resource_named(name)


def resource_for_kind(kind: str) -> ResourceSpec[Any]:
    """Return the resource for a kind of record.

    Raises:
        KeyError: The kind is unknown.
    """
    from runwatch.view.resources.registry import resource_for_kind

    return resource_for_kind(kind)


def _class_of(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(f"runwatch.tui.screens.{module}"), name)
