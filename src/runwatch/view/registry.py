"""Every resource, once. Tabs, palette, help, list and show verbs and tests follow from this list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from runwatch.view.mutation import Mutation
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
from runwatch.view.resources.webhooks import DELIVERIES, WEBHOOKS

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
    WEBHOOKS,
    DELIVERIES,
    PROBLEMS,
    REQUESTS,
    ACCOUNT,
)


_BY_NAME: Final = {spec.name: spec for spec in RESOURCES}
_BY_KIND: Final = {spec.kind: spec for spec in RESOURCES}


def mutation_of(operation: str) -> Mutation[Any] | None:
    """What an operation means to the first action that declares it; ``None`` where none does."""
    return _BY_OPERATION.get(operation)


def _mutations() -> Iterator[Mutation[Any]]:
    """Everything that actions declare, with what comes after private pages."""
    for spec in RESOURCES:
        for action in (*spec.makes, *spec.actions):
            mutation = action.mutation
            while mutation is not None:
                yield mutation
                then = mutation.entry.then if mutation.entry is not None else None
                mutation = None if then is None else then.mutation


_BY_OPERATION: Final[dict[str, Mutation[Any]]] = {}
for _mutation in _mutations():
    _BY_OPERATION.setdefault(_mutation.operation, _mutation)


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
