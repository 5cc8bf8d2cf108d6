"""Every resource with its specification, loaded from :mod:`runwatch.view.resources.resource_index`.

Tabs, palette, help, list and show commands and tests are derived from these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from runwatch.view.resources.resource_index import RESOURCE_INDEX
from runwatch.view.spec.action import Mutation
from runwatch.view.spec.resource import ResourceSpec

RESOURCES: Final[tuple[ResourceSpec[Any], ...]] = tuple(entry.load() for entry in RESOURCE_INDEX)

_BY_NAME: Final = {spec.name: spec for spec in RESOURCES}
_BY_KIND: Final = {spec.kind: spec for spec in RESOURCES}


def mutation_for_operation(operation: str) -> Mutation[Any] | None:
    """Return the mutation of the first action that declares an operation; ``None`` if there is none."""
    return _BY_OPERATION.get(operation)


def _mutations() -> Iterator[Mutation[Any]]:
    """Yield all mutations of actions, including those that follow private pages."""
    for spec in RESOURCES:
        for action in (*spec.create_actions, *spec.actions):
            mutation = action.mutation
            while mutation is not None:
                yield mutation
                then = mutation.private_page.then if mutation.private_page is not None else None
                mutation = None if then is None else then.mutation


# The first one wins.
_BY_OPERATION: Final = {mutation.operation: mutation for mutation in reversed(list(_mutations()))}


def resource_named(name: str) -> ResourceSpec[Any]:
    """Return the resource with this name.

    Raises:
        KeyError: There is none.
    """
    return _BY_NAME[name]


def resource_for_kind(kind: str) -> ResourceSpec[Any]:
    """Return the resource for this kind of record.

    Raises:
        KeyError: There is none.
    """
    return _BY_KIND[kind]


PAGES: Final = ("overview", "settings", "tail", "replay", "wall", "around", "codes", "account", "usage", "compliance")
"""Screens other than the list of one resource."""


def screen_names() -> tuple[str, ...]:
    """Return every name accepted by ``--open`` and the setting ``home_screen``."""
    return tuple(dict.fromkeys((*(spec.name for spec in RESOURCES if spec.has_screen), *PAGES)))
