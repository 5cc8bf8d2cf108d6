"""The second edit: ``view/resources/gadgets.py``."""

from __future__ import annotations

from typing import Any, Final

from runwatch.view.spec.resource import Column, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import money
from runwatch.view.text.member_format import detail_time, newest_first_key, time_cell
from tests.support.three_edits.record import Gadget

GADGETS: Final[ResourceSpec[Any]] = ResourceSpec[Gadget](
    record=Gadget,
    name="gadgets",
    singular="gadget",
    title="Gadgets",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status, server_parameter="status", min_cells=6),
        Column(id="gadget", title="gadget", aliases=("gadget_id",), value=lambda it: it.id, min_cells=8),
        Column(
            id="price",
            title="price",
            value=lambda it: it.price_usd,
            format=lambda value, _: money(value),
            align="right",
            hide_order=2,
            min_cells=7,
        ),
        Column(
            id="made",
            title="made",
            value=lambda it: it.made_at,
            format=time_cell,
            hide_order=1,
            sort_key=lambda it: newest_first_key(it.made_at),
        ),
    ),
    sections=(
        SectionSpec(
            "Gadget",
            (
                MemberLine("gadget_id"),
                MemberLine("status"),
                MemberLine("price_usd"),
                MemberLine("made_at", format=detail_time),
            ),
        ),
    ),
    sort=(SortKey("made"),),
    empty="No gadgets yet.",
    flags={"broken": lambda it: it.status == "broken"},
    links=(RecordLink("run", "run", lambda it: it.execution_id),),
)
