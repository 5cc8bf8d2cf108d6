"""Webhooks, and what was delivered to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from runwatch.records.webhook import Delivery, Webhook
from runwatch.view.detail import Line, Section
from runwatch.view.drawn import Drawn, line
from runwatch.view.format import Context, ago
from runwatch.view.resource import At, Column, Field, Link, ResourceSpec, SectionSpec, SortKey, styled
from runwatch.view.resources.common import as_moment, elided, newest_first, when
from runwatch.view.resources.standing import as_standing, standing
from runwatch.view.writes.webhooks import DELIVERY_ACTIONS, REPLAY, WEBHOOK_ACTIONS, WEBHOOK_MAKES


def _ends(value: tuple[str, ...], _: Context) -> Drawn:
    """What a webhook is told of, without the word that all of them begin with."""
    return line(", ".join(word.removeprefix("execution.") for word in value))


WEBHOOKS: Final[ResourceSpec[Any]] = ResourceSpec[Webhook](
    record=Webhook,
    name="webhooks",
    singular="webhook",
    title="Webhooks",
    list_summary="list the addresses that are told of final runs",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), least=9),
        Column(id="url", title="address", value=lambda it: it.url, least=24, most=60),
        Column(id="events", title="events", aliases=("event_types",), value=lambda it: it.event_types, format=_ends,
               leaves=2, least=12),
        Column(id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at,
               format=when, is_whole=True, leaves=3, sort_key=lambda it: newest_first(it.created_at)),
        Column(id="webhook", title="webhook", aliases=("id", "webhook_id"), value=lambda it: it.id, leaves=1, least=9,
               keeps_ends=True),
    ),
    fields=(Field(id="rotated", aliases=("secret_rotated_at",), value=lambda it: it.secret_rotated_at),),
    sections=(
        SectionSpec(
            "Webhook",
            (
                At("webhook_id"), At("url"), At("status", format=as_standing), At("event_types"),
                At("created_at", format=as_moment), At("secret_rotated_at", format=as_moment),
            ),
        ),
    ),
    sort=(SortKey("created"),),
    empty="No webhooks yet. `runwatch webhooks create --url URL` has every run that ends told to an address.",
    note="The signing secret is shown once.",
    actions=WEBHOOK_ACTIONS,
    makes=WEBHOOK_MAKES,
)  # fmt: skip

DELIVERIES: Final[ResourceSpec[Any]] = ResourceSpec[Delivery](
    record=Delivery,
    name="deliveries",
    singular="delivery",
    title="Deliveries",
    columns=(
        Column(id="status", title="status", value=lambda it: it.status,
               cell=lambda it, context: standing(it.status, context), least=11),
        Column(id="event", title="event", aliases=("event_type",), value=lambda it: it.event_type, least=12),
        Column(id="tries", title="tries", aliases=("attempts",), value=lambda it: it.attempts, align="right", leaves=4),
        Column(id="answer", title="answer", aliases=("status_code",), value=lambda it: it.status_code, leaves=3),
        Column(id="error", title="error", value=lambda it: it.error, leaves=5, least=12),
        Column(id="created", title="created", aliases=("created_at",), value=lambda it: it.created_at,
               format=when, is_whole=True, leaves=6, sort_key=lambda it: newest_first(it.created_at)),
        Column(id="run", title="run", aliases=("execution_id",), value=lambda it: it.execution_id, format=elided,
               leaves=2, least=9, keeps_ends=True),
        Column(id="delivery", title="delivery", aliases=("id", "delivery_id"), value=lambda it: it.id, leaves=1,
               least=9, keeps_ends=True),
    ),
    sections=(
        SectionSpec(
            "Delivery",
            (
                At("delivery_id"), At("webhook_id"), At("event_id"), At("event_type"), At("execution_id"),
                At("status", format=as_standing), At("attempts"), At("status_code"), At("error"), At("replay_of"),
                At("next_attempt_at", format=as_moment), At("created_at", format=as_moment),
                At("delivered_at", format=as_moment),
            ),
        ),
    ),
    sort=(SortKey("created"),),
    empty="Nothing was delivered yet.",
    actions=DELIVERY_ACTIONS,
    links=(Link("run", "run", lambda it: it.execution_id), Link("webhook", "webhook", lambda it: it.webhook_id)),
)  # fmt: skip


def delivery_sections(deliveries: Sequence[Delivery], context: Context, *, more: bool) -> list[Section]:
    """What was delivered, the newest first; a line that is opened delivers it again.

    Args:
        deliveries: The newest ones.
        context: What they are drawn with.
        more: Whether there are older ones.
    """
    if not deliveries:
        return [Section(line(""), (Line(line(""), line(DELIVERIES.empty)),))]
    lines = []
    for one in deliveries:
        status, role = styled(standing(one.status, context))
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
            Line(label, line(dot.join(told), None), role, target=target, does="deliver again" if target else "")
        )
    if more:
        lines.append(Line(line(""), line("older ones are not shown; runwatch webhooks deliveries lists all")))
    return [Section(line("Deliveries"), tuple(lines))]
