"""Webhooks and their deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from runwatch.records.webhook import Delivery, Webhook
from runwatch.view.actions.webhooks import DELIVERY_ACTIONS, REPLAY, WEBHOOK_ACTIONS, WEBHOOK_MAKES
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.spec.resource import Column, Field, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, ago
from runwatch.view.text.member_format import detail_time, id_cell, newest_first_key, time_cell
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.status_format import detail_status, status_cell
from runwatch.view.text.styled_text import with_role


def _ends(value: tuple[str, ...], _: RenderContext) -> SafeText:
    """Format the events of a webhook without their common prefix."""
    return line(", ".join(word.removeprefix("execution.") for word in value))


WEBHOOKS: Final[ResourceSpec[Any]] = ResourceSpec[Webhook](
    record=Webhook,
    name="webhooks",
    singular="webhook",
    title="Webhooks",
    list_summary="list the addresses that are told of final runs",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), min_cells=9,
        ),
        Column(id="url", title="address", value=lambda it: it.url, min_cells=24, max_cells=60),
        Column(
            id="events", title="events", aliases=("event_types",), value=lambda it: it.event_types, format=_ends,
            hide_order=2, min_cells=12,
        ),
        Column(
            id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at, format=time_cell,
            never_cut=True, hide_order=3, sort_key=lambda it: newest_first_key(it.created_at),
        ),
        Column(
            id="webhook", title="webhook", aliases=("id", "webhook_id"), value=lambda it: it.id, hide_order=1,
            min_cells=9, elides_middle=True,
        ),
    ),
    fields=(Field(id="rotated", aliases=("secret_rotated_at",), value=lambda it: it.secret_rotated_at),),
    sections=(
        SectionSpec(
            "Webhook",
            (
                MemberLine("webhook_id"), MemberLine("url"), MemberLine("status", format=detail_status),
                MemberLine("event_types"), MemberLine("created_at", format=detail_time),
                MemberLine("secret_rotated_at", format=detail_time),
            ),
        ),
    ),
    sort=(SortKey("created"),),
    empty="No webhooks yet. `webhooks create --url URL` has every run that ends told to an address.",
    note="The signing secret is shown once.",
    actions=WEBHOOK_ACTIONS,
    create_actions=WEBHOOK_MAKES,
)  # fmt: skip

DELIVERIES: Final[ResourceSpec[Any]] = ResourceSpec[Delivery](
    record=Delivery,
    name="deliveries",
    singular="delivery",
    title="Deliveries",
    columns=(
        Column(
            id="status", title="status", value=lambda it: it.status,
            cell=lambda it, context: status_cell(it.status, context), min_cells=11,
        ),
        Column(id="event", title="event", aliases=("event_type",), value=lambda it: it.event_type, min_cells=12),
        Column(
            id="tries", title="tries", aliases=("attempts",), value=lambda it: it.attempts, align="right", hide_order=4
        ),
        Column(id="answer", title="answer", aliases=("status_code",), value=lambda it: it.status_code, hide_order=3),
        Column(id="error", title="error", value=lambda it: it.error, hide_order=5, min_cells=12),
        Column(
            id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at, format=time_cell,
            never_cut=True, hide_order=6, sort_key=lambda it: newest_first_key(it.created_at),
        ),
        Column(
            id="run", title="run", aliases=("execution_id",), value=lambda it: it.execution_id, format=id_cell,
            hide_order=2, min_cells=9, elides_middle=True,
        ),
        Column(
            id="delivery", title="delivery", aliases=("id", "delivery_id"), value=lambda it: it.id, hide_order=1,
            min_cells=9, elides_middle=True,
        ),
    ),
    sections=(
        SectionSpec(
            "Delivery",
            (
                MemberLine("delivery_id"), MemberLine("webhook_id"), MemberLine("event_id"), MemberLine("event_type"),
                MemberLine("execution_id"), MemberLine("status", format=detail_status), MemberLine("attempts"),
                MemberLine("status_code"), MemberLine("error"), MemberLine("replay_of"),
                MemberLine("next_attempt_at", format=detail_time), MemberLine("created_at", format=detail_time),
                MemberLine("delivered_at", format=detail_time),
            ),
        ),
    ),
    sort=(SortKey("created"),),
    empty="Nothing was delivered yet.",
    actions=DELIVERY_ACTIONS,
    links=(
        RecordLink("run", "run", lambda it: it.execution_id),
        RecordLink("webhook", "webhook", lambda it: it.webhook_id),
    ),
)  # fmt: skip


def delivery_sections(deliveries: Sequence[Delivery], context: RenderContext, *, more: bool) -> list[DetailSection]:
    """Return the deliveries, newest first. Opening a line delivers it again.

    Args:
        deliveries: The newest deliveries.
        more: Whether there are older ones.
    """
    if not deliveries:
        return [DetailSection(line(""), (DetailLine(line(""), line(DELIVERIES.empty)),))]
    lines = []
    for one in deliveries:
        status, role = with_role(status_cell(one.status, context))
        told = [one.event_type or context.glyphs.unknown, f"try {one.attempts}" if one.attempts else "not tried yet"]
        told += [str(one.status_code)] if one.status_code is not None else []
        told += [one.error] if one.error else []
        if one.next_attempt_at is not None and one.status == "pending":
            told.append(f"next {ago(one.next_attempt_at, context.now)}")
        told += [f"replay of {one.replay_of}"] if one.replay_of else []
        target = one if REPLAY.enabled_when(one) else None
        label = line(f"{status}  {ago(one.created_at, context.now)}")
        dot = f" {context.glyphs.dot} "
        lines.append(
            DetailLine(label, line(dot.join(told), None), role, target=target, does="deliver again" if target else "")
        )
    if more:
        lines.append(DetailLine(line(""), line("older ones are not shown; runwatch webhooks deliveries lists all")))
    return [DetailSection(line("Deliveries"), tuple(lines))]
