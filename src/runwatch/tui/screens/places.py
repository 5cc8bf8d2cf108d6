"""Every screen by its name, and the class that draws it; a class is imported when its screen is first opened."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from runwatch.tui.screens.base import ConsoleScreen
from runwatch.tui.screens.resource import ResourceScreen
from runwatch.view.resources.runs import RUNS

if TYPE_CHECKING:
    from runwatch.tui.sources import Source
    from runwatch.view.resource import ResourceSpec

SETTINGS: Final = "settings"
OVERVIEW: Final = "overview"
"""The screen behind every other one: going back from the first of them leads there."""

PAGES: Final = {
    OVERVIEW: "overview:OverviewScreen",
    SETTINGS: "settings:SettingsScreen",
    "tail": "tail:TailScreen",
    "around": "around:AroundScreen",
    "codes": "problem_codes:ProblemCodesScreen",
    "account": "usage:UsageScreen",
    "usage": "usage:UsageScreen",
    "compliance": "compliance:ComplianceScreen",
}
"""Screens that show no list of one resource, by name; each class takes no argument."""

LISTS: Final = {
    "runs": "runs:RunsScreen",
    "receipts": "receipts:ReceiptsScreen",
    "problems": "problems:ProblemsScreen",
    "requests": "requests:RequestsScreen",
    "models": "models:ModelsScreen",
    "verifiers": "verifiers:VerifiersScreen",
    "agents": "agents:AgentsScreen",
    "webhooks": "webhooks:WebhooksScreen",
    "templates": "templates:TemplatesScreen",
    "github": "github:GithubScreen",
}
"""Screens of resources that show more than the generic one, by the resource's name; each class takes its source."""


def is_page(name: str) -> bool:
    """Whether a screen shows no list of one resource."""
    return name in PAGES


def has_screen(name: str) -> bool:
    """Whether a screen is called so."""
    try:
        return name in PAGES or spec_named(name).has_screen
    except KeyError:
        return False


def page(name: str) -> ConsoleScreen:
    """A new screen of :data:`PAGES`.

    Raises:
        KeyError: there is none of that name.
    """
    screen: ConsoleScreen = _class_of(PAGES[name])()
    return screen


def list_screen(spec: ResourceSpec[Any], source: Source) -> ResourceScreen:
    """A new screen of a resource."""
    own = LISTS.get(spec.name)
    if own is None and not spec.facets:
        return ResourceScreen(spec, source)
    screen: ResourceScreen = _class_of("faceted:FacetedScreen")(spec, source) if own is None else _class_of(own)(source)
    return screen


def spec_named(name: str) -> ResourceSpec[Any]:
    """The resource of a noun; the runs, which most people begin with, are known without all the others.

    Raises:
        KeyError: there is none.
    """
    if name == RUNS.name:
        return RUNS
    from runwatch.view.registry import by_name

    return by_name(name)


def spec_of(kind: str) -> ResourceSpec[Any]:
    """The resource whose records are of that kind.

    Raises:
        KeyError: there is none.
    """
    from runwatch.view.registry import by_kind

    return by_kind(kind)


def _class_of(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(f"runwatch.tui.screens.{module}"), name)
