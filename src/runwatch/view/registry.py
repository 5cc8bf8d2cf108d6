"""Every resource, once. Tabs, palette, help, list and show verbs and tests follow from this list."""

from __future__ import annotations

from typing import Any, Final

from runwatch.view.resource import ResourceSpec
from runwatch.view.resources.account import ACCOUNT
from runwatch.view.resources.arms import ARMS
from runwatch.view.resources.events import EVENTS
from runwatch.view.resources.models import DEFINITIONS, DEPLOYMENTS, MODELS
from runwatch.view.resources.organization import KEYS, PROPOSALS
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.requests import REQUESTS
from runwatch.view.resources.reviews import AGENTS, CREDENTIALS, GITHUB
from runwatch.view.resources.runs import RUNS
from runwatch.view.resources.sources import PROFILES, SOURCES
from runwatch.view.resources.templates import TEMPLATES
from runwatch.view.resources.verifiers import VERIFIERS

RESOURCES: Final[tuple[ResourceSpec[Any], ...]] = (
    RUNS,
    RECEIPTS,
    EVENTS,
    MODELS,
    ARMS,
    VERIFIERS,
    TEMPLATES,
    AGENTS,
    CREDENTIALS,
    GITHUB,
    SOURCES,
    PROFILES,
    DEPLOYMENTS,
    DEFINITIONS,
    PROPOSALS,
    KEYS,
    PROBLEMS,
    REQUESTS,
    ACCOUNT,
)


_BY_NAME: Final = {spec.name: spec for spec in RESOURCES}
_BY_KIND: Final = {spec.kind: spec for spec in RESOURCES}


def by_name(name: str) -> ResourceSpec[Any]:
    """The resource of that noun.

    Raises:
        KeyError: there is none.
    """
    return _BY_NAME[name]


def by_kind(kind: str) -> ResourceSpec[Any]:
    """The resource whose records are of that kind.

    Raises:
        KeyError: there is none.
    """
    return _BY_KIND[kind]
