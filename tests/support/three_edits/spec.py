"""The second edit: ``view/resources/gadgets.py``."""

from __future__ import annotations

from typing import Any, Final

from runwatch.view.resource import At, Column, Link, ResourceSpec, SectionSpec, SortKey
from runwatch.view.resources.common import as_moment, newest_first, usd, when
from tests.support.three_edits.record import Gadget

GADGETS: Final[ResourceSpec[Any]] = ResourceSpec[Gadget](
    record=Gadget,
    name="gadgets",
    singular="gadget",
    title="Gadgets",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status, server="status", least=6),
        Column(id="gadget", title="gadget", aliases=("gadget_id",), value=lambda it: it.id, least=8),
        Column(id="price", title="price", value=lambda it: it.price_usd, format=usd, align="right", leaves=2, least=7),
        Column(
            id="made", title="made", value=lambda it: it.made_at, format=when, leaves=1,
            sort_key=lambda it: newest_first(it.made_at),
        ),
    ),
    sections=(
        SectionSpec("Gadget", (At("gadget_id"), At("status"), At("price_usd"), At("made_at", format=as_moment))),
    ),
    sort=(SortKey("made"),),
    empty="No gadgets yet.",
    flags={"broken": lambda it: it.status == "broken"},
    links=(Link("run", "run", lambda it: it.execution_id),),
)  # fmt: skip
