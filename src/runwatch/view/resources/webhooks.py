"""Webhooks and their deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from runwatch.records.webhook import Deliveries, Delivery, Webhook
from runwatch.view.actions.webhooks import DELIVERY_ACTIONS, REPLAY, WEBHOOK_ACTIONS, WEBHOOK_MAKES
from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.spec.members import column, fields, id_column, member_lines, status_column, time_column
from runwatch.view.spec.resource import ComputedLine, DetailTab, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, ago, seconds_since, short_duration
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import id_cell
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.status_format import status_cell
from runwatch.view.text.styled_text import CellText, StyledText, with_role


def _ends(value: tuple[str, ...], _: RenderContext) -> SafeText:
    """Format the events of a webhook without their common prefix."""
    return line(", ".join(word.removeprefix("execution.") for word in value))


def _delivery_note(hook: Webhook, _: object, __: RenderContext) -> CellText | None:
    return StyledText(line(hook.delivery_note), Role.WARN) if hook.delivery_note else None


WEBHOOKS: Final[ResourceSpec[Any]] = ResourceSpec[Webhook](
    record=Webhook,
    name="webhooks",
    singular="webhook",
    name_of=lambda it: it.url,
    title="Webhooks",
    list_summary="list the addresses that are notified when runs end",
    columns=(
        status_column("status", min_cells=9),
        column("url", title="address", min_cells=28, max_cells=60),
        column("events|event_types", format=_ends, hide_order=2, min_cells=12),
        time_column("created|created_at", hide_order=3),
        id_column("webhook|id|webhook_id=id", hide_order=1, whole_first=False),
    ),
    fields=fields("rotated|secret_rotated_at"),
    sections=(
        SectionSpec(
            "Webhook",
            (
                *member_lines("webhook_id url status:status"),
                ComputedLine("note", _delivery_note, lambda _: "delivery_note"),
                *member_lines("event_types created_at:time secret_rotated_at:time"),
            ),
        ),
    ),
    sort=(SortKey("created"),),
    empty="No webhooks yet. `runwatch webhooks create` notifies an address when runs end.",
    note="The signing secret is shown once.",
    tabs=(DetailTab(
        "deliveries", "Deliveries", "getWebhooksByWebhookIdDeliveries", Deliveries,
        lambda page, context: delivery_sections(page.deliveries or (), context, more=page.next_cursor is not None),
        REPLAY,
    ),),
    actions=WEBHOOK_ACTIONS,
    create_actions=WEBHOOK_MAKES,
)  # fmt: skip

DELIVERIES: Final[ResourceSpec[Any]] = ResourceSpec[Delivery](
    record=Delivery,
    name="deliveries",
    singular="delivery",
    title="Deliveries",
    columns=(
        status_column("status", min_cells=11),
        column("event|event_type", min_cells=12),
        column("tries|attempts", align="right", hide_order=4),
        column("answer|status_code", hide_order=3),
        column("error", hide_order=5, min_cells=12),
        time_column("created|created_at", hide_order=6),
        id_column("run|execution_id", format=id_cell, hide_order=2),
        id_column("delivery|id|delivery_id=id", hide_order=1),
    ),
    sections=(
        SectionSpec("Delivery", member_lines(
            "delivery_id webhook_id event_id event_type execution_id status:status attempts status_code error "
            "replay_of next_attempt_at:time created_at:time delivered_at:time"
        )),
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
    """Return the deliveries, newest first, and whether there are more. Opening a line delivers it again."""
    if not deliveries:
        return [DetailSection(line(""), (text_line("", DELIVERIES.empty),))]
    lines = []
    for it in deliveries:
        status, role = with_role(status_cell(it.status, context))
        parts = [it.event_type or context.glyphs.unknown, f"try {it.attempts}" if it.attempts else "not tried yet"]
        parts += [str(it.status_code)] if it.status_code is not None else []
        parts += [it.error] if it.error else []
        if it.next_attempt_at is not None and it.status == "pending":
            wait_s = -seconds_since(it.next_attempt_at, context.now)
            parts.append(f"next in {short_duration(wait_s)}" if wait_s >= 1 else "next at once")
        parts += [f"replay of {it.replay_of}"] if it.replay_of else []
        target = it if REPLAY.enabled_when(it) else None
        label = line(f"{status}  {ago(it.created_at, context.now)}")
        dot = f" {context.glyphs.dot} "
        lines.append(
            DetailLine(
                label,
                line(dot.join(parts), None),
                role,
                target=target,
                does="enter delivers it again" if target else "",
            )
        )
    if more:
        lines.append(text_line("", "older ones are not shown; runwatch webhooks deliveries lists all"))
    return [DetailSection(line("Deliveries"), tuple(lines))]
