"""Permissions of keys (manual: interface, "Authentication and keys").

The specification names only an owner and the permissions ``runs:write``, ``arms:manage`` and ``billing:view_summary``.
Here a key has one role: a ``reader`` reads, a ``runner`` also submits and cancels runs, an ``owner`` does everything.
An endpoint names one permission, or gets it from its method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from runwatch.service.errors import RefusalError

READ: Final = "read"
"""Permission to read; the default of GET endpoints."""

RUNS_WRITE: Final = "runs:write"
"""Permission to submit and cancel runs."""

ARMS_MANAGE: Final = "arms:manage"
"""Permission to change what the organization may run and check with."""

MANAGE: Final = "organization:manage"
"""Permission for all other changes; the default of endpoints that change something."""

Role = Literal["owner", "runner", "reader"]
_MAY: Final[Mapping[str, frozenset[str]]] = {
    "owner": frozenset({READ, RUNS_WRITE, ARMS_MANAGE, MANAGE}),
    "runner": frozenset({READ, RUNS_WRITE}),
    "reader": frozenset({READ}),
}


def permits(role: str, permission: str) -> bool:
    """Whether a role has a permission; an unknown role has none."""
    return permission in _MAY.get(role, frozenset())


def require(role: str, permission: str) -> None:
    """Check that a role has a permission. Refuses with ``permission_denied``."""
    if not permits(role, permission):
        raise RefusalError("permission_denied", f"A key of the role {role} lacks the permission {permission}.")
