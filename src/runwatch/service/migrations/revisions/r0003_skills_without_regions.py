"""Skills without their declared regions. Version 0.1.0 marked every skill ready, including these."""

from __future__ import annotations

import re
from typing import Any, Final

from alembic.operations import Operations
from sqlalchemy import JSON, Text, column, select, table, update

revision: Final = "0003"
down_revision: Final = "0002"

_ARMS: Final = table(
    "arms",
    column("arm_id", Text),
    column("kind", Text),
    column("status", Text),
    column("status_reason", Text),
    column("artifact", JSON),
)


def upgrade(op: Operations) -> None:
    """Mark such skills degraded, with the reason."""
    connection = op.get_bind()
    ready = select(_ARMS.c.arm_id, _ARMS.c.artifact).where(_ARMS.c.kind == "skill", _ARMS.c.status == "ready")
    for arm_id, artifact in connection.execute(ready).all():
        if missing := _missing(artifact):
            reason = (
                f"The text does not mark these editable regions: {', '.join(map(repr, missing))}. "
                "A region begins with a line [[region:NAME]]."
            )
            change = update(_ARMS).where(_ARMS.c.arm_id == arm_id).values(status="degraded", status_reason=reason)
            connection.execute(change)


def _missing(artifact: dict[str, Any]) -> list[str]:
    return [name for name in artifact["editable_regions"] if not _has_region(artifact["content"], re.escape(name))]


def _has_region(content: str, mark: str) -> bool:
    region = rf"^\[\[region:{mark}\]\][ \t]*\n(.*?)^\[\[/region:{mark}\]\]"
    return re.search(region, content, re.DOTALL | re.MULTILINE) is not None
