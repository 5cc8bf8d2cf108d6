"""Which resource a piece of JSON is, by the members it has; for records that somebody kept in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runwatch.view.registry import RESOURCES
from runwatch.view.resource import ResourceSpec


def resource_of_json(value: Mapping[str, Any]) -> ResourceSpec[Any] | None:
    """The resource of a decoded record: of those whose id it has, the one that declares most of its members.

    The first of the registry wins where two declare as many; ``None`` when no resource knows the id.
    """
    own = dict(value)
    remote = [spec for spec in RESOURCES if not spec.is_local and spec.record(own).id]
    return max(remote, key=lambda spec: len(spec.record.MEMBERS.keys() & own.keys()), default=None)


def items_of_json(value: object) -> list[Any] | None:
    """The items of a kept list, bare or as a service answers one; ``None`` for what is no list."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping) or resource_of_json(value) is not None:
        return None
    names = [spec.record.WIRE.items for spec in RESOURCES if spec.record.WIRE is not None]
    found = (value[name] for name in names if isinstance(value.get(name), list))
    return next(found, None)
