"""Every resource with its specification, loaded from :mod:`runwatch.view.resource_index`.

Tabs, palette, help, list and show verbs and tests follow from these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from runwatch.view.mutation import Mutation
from runwatch.view.resource import ResourceSpec
from runwatch.view.resource_index import RESOURCE_INDEX

RESOURCES: Final[tuple[ResourceSpec[Any], ...]] = tuple(entry.load() for entry in RESOURCE_INDEX)

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
