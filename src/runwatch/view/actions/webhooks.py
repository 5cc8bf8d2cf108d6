"""Actions that add and remove webhooks, replace secrets, and repeat deliveries. The specification only has paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.records.webhook import Delivery, Webhook
from runwatch.view.actions.fields import make_address_caution
from runwatch.view.spec.action import Mutation, ResourceAction
from runwatch.view.spec.action_parts import FieldOption, FormField

EVENT_TYPES: Final = ("execution.completed", "execution.failed", "execution.cancelled", "execution.expired")

_COPY_NOTE: Final = "the signing secret is shown only once; store it now"
_NO_COPY_NOTE: Final = "the service did not show the secret; 'runwatch webhooks rotate' gives another one"


def _minted(response: Mapping[str, Any]) -> list[tuple[str, str]]:
    secret = response.get("secret")
    if not isinstance(secret, str) or not secret:
        return [("secret", "shown only once; rotate it if it is lost")]
    return [("secret", secret), ("", "It is shown only once and not stored. Copy it before you close this.")]


def _dropped(response: Mapping[str, Any]) -> list[tuple[str, str]]:
    effects = response.get("effects")
    count = effects.get("deliveries_dropped") if isinstance(effects, Mapping) else None
    return [("dropped", f"{count} waiting deliver{'y' if count == 1 else 'ies'}")] if isinstance(count, int) else []


ADD_WEBHOOK: Final = ResourceAction[None](
    "create", "Add a webhook", "webhooks create",
    summary="add a webhook and print its signing secret, only this once",
    notes=f"Events are {', '.join(EVENT_TYPES[:-1])} and {EVENT_TYPES[-1]}.",
    mutation=Mutation(
        operation="postWebhooks",
        sentence=lambda _: "Notifies this address of each run that ends in one of these events. Notices are signed with"
        " a secret that is shown only once, here.",
        confirm_label="Add it",
        cancel_label="Do not add one",
        fields=(
            FormField(path="url", label="address", is_required=True,
                hint="an https URL, or http on the service's own machine; up to 2,000 characters",
                caution=make_address_caution("its deliveries fail"),
                option=FieldOption(name="--url", metavar="URL", help="the address to notify when runs end")),
            FormField(path="event_types", label="events", kind="list", is_required=True,
                hint=f"separated by commas: {', '.join(EVENT_TYPES)}",
                start=lambda _: ", ".join(EVENT_TYPES),
                option=FieldOption(name="--event", metavar="TYPE", help="a kind of event to send; may be repeated")),
        ),
        request="webhooks.WebhookRequest",
        invalidates=(Webhook,),
        summarize=_minted,
        one_time_member="secret",
        copy_note=_COPY_NOTE,
        no_copy_note=_NO_COPY_NOTE,
    ),
)  # fmt: skip

ROTATE_SECRET: Final = ResourceAction[Webhook](
    "rotate", "Give it another secret", "webhooks rotate",
    summary="give a webhook another signing secret and print it, only this once",
    mutation=Mutation(
        operation="postWebhooksByWebhookIdRotateSecret",
        sentence=lambda it: f"Gives the webhook to {it.url or it.id} another signing secret. The one before ends at"
        " once, also for deliveries that are still being tried.",
        invalidates=(Webhook,),
        summarize=_minted,
        one_time_member="secret",
        copy_note=_COPY_NOTE,
        no_copy_note=_NO_COPY_NOTE,
    ),
)  # fmt: skip

REMOVE: Final = ResourceAction[Webhook](
    "remove", "Remove it", "webhooks remove", is_destructive=True,
    summary="remove webhooks with their secrets and deliveries",
    mutation=Mutation(
        operation="deleteWebhooksByWebhookId",
        sentence=lambda it: f"Removes the webhook to {it.url or it.id} for good, with its secret and the list of its"
        " deliveries. Deliveries that still wait are dropped.",
        cancel_label="Keep it",
        invalidates=(Webhook,),
        summarize=_dropped,
        done="removed",
    ),
)  # fmt: skip

REPLAY: Final = ResourceAction[Delivery](
    "replay", "Deliver it again", "webhooks replay",
    summary="deliver the same event again",
    enabled_when=lambda it: it.status != "pending", off_because="It is still being tried.",
    mutation=Mutation(
        operation="postWebhooksDeliveriesByDeliveryIdReplay",
        sentence=lambda it: f"Tells the same event {it.event_id or ''} to the same webhook again, as a delivery of its"
        " own. Its receiver knows it for a repeat by the event's id.",
    ),
)  # fmt: skip

WEBHOOK_MAKES: Final = (ADD_WEBHOOK,)
WEBHOOK_ACTIONS: Final = (ROTATE_SECRET, REMOVE)
DELIVERY_ACTIONS: Final = (REPLAY,)
