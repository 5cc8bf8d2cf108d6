"""What a key may do (wire reference 1.3).

The references name an owner and the permissions ``runs:write``, ``arms:manage`` and ``billing:view_summary``, and no
more. Ours: a key has one role. A ``reader`` reads, a ``runner`` also submits and cancels runs, an ``owner`` does
everything. An endpoint names one permission, or gets it from its method.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from runwatch.service.errors import RefusalError

READ: Final = "read"
"""Needed to read; what an endpoint of GET needs unless it says otherwise."""

RUNS_WRITE: Final = "runs:write"
"""Needed to submit and to cancel runs."""

ARMS_MANAGE: Final = "arms:manage"
"""Needed to change what the organization may run and check with."""

MANAGE: Final = "organization:manage"
"""Needed for all other changes; what an endpoint that changes something needs unless it says otherwise."""

Role = Literal["owner", "runner", "reader"]
_MAY: Final[Mapping[str, frozenset[str]]] = {
    "owner": frozenset({READ, RUNS_WRITE, ARMS_MANAGE, MANAGE}),
    "runner": frozenset({READ, RUNS_WRITE}),
    "reader": frozenset({READ}),
}
_NOTHING: Final[frozenset[str]] = frozenset()


def permits(role: str, permission: str) -> bool:
    """Whether a role has a permission; a role that nobody knows has none."""
    return permission in _MAY.get(role, _NOTHING)


def require(role: str, permission: str) -> None:
    """Make sure that a role has a permission.

    Raises:
        Refusal: ``permission_denied``.
    """
    if not permits(role, permission):
        raise RefusalError("permission_denied", f"A key of the role {role} lacks the permission {permission}.")
