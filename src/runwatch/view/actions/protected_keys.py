"""Actions that enter, test, use and revoke the protected key of an endpoint (manual: interface, "Verifiers"; manual:
interface, "Review agents").

A key is entered on a private page, is then pending, is tested against its endpoint, and is used only if the test
passes. The result is read back from the connection; the response to a write is not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runwatch.records.record import Record
from runwatch.records.verifier import ConnectionSummary, KeyConnection
from runwatch.view.actions.private_page import key_progress
from runwatch.view.spec.action import Mutation, PrivatePageSpec, ResourceAction
from runwatch.view.spec.action_parts import EffectCheck, FormField, PageResult, Prerequisite


@dataclass(frozen=True, kw_only=True)
class KeyedEndpoint:
    """A kind of endpoint with a protected key, and its operations.

    Attributes:
        verbs: Plural noun of its commands.
        read: Operation that reads the connection.
        begin: Operation that begins to enter a key.
        promote: Operation that tests the entered key and puts it into use.
        revoke: Operation that stops using the key.
    """

    noun: str
    verbs: str
    kind: type[Record]
    read: str
    begin: str
    promote: str
    revoke: str

    @property
    def singular(self) -> str:
        return self.verbs.removesuffix("s")


STOP_DAYS: Final = (30, 90, 180, 365)
"""Days after which a key may stop automatically (manual: interface, "Verifiers")."""

STOP_FIELDS: Final = (
    FormField(
        path="stop_choice.kind", id="stop", label="stops", kind="choice", is_required=True,
        choices=("no_expiration", "preset_days", "calendar_date"), start=lambda _: "no_expiration",
        hint="no_expiration, preset_days (with days) or calendar_date (with date and time zone)",
    ),
    FormField(
        path="stop_choice.days", id="days", label="days", kind="number", choices=tuple(map(str, STOP_DAYS)),
        hint="30, 90, 180 or 365",
    ),
    FormField(path="stop_choice.date", id="date", label="date", hint="the first day without the key, YYYY-MM-DD"),
    FormField(
        path="stop_choice.time_zone", id="time_zone", label="time zone", hint="in which that day begins, such as UTC"
    ),
)  # fmt: skip
"""When the service should stop using a key (manual: interface, "Verifiers")."""


NO_KEY: Final = "No key is in use."
_IN_USE: Final = {"active": True, "unbound": False, "revoked": False, "expired": False}
"""Whether a key is in use, by the status of its connection; a service may send other words, such as ``unknown``."""


def enter_key_action(
    endpoint: KeyedEndpoint, is_usable: Callable[[Any], bool], off_because: str
) -> ResourceAction[Any]:
    """Return the action that enters a key, followed by its test."""
    return ResourceAction(
        "connect", "Enter its key", f"{endpoint.verbs} connect",
        enabled_when=is_usable, off_because=off_because,
        mutation=Mutation(
            operation=endpoint.begin,
            sentence=lambda it: f"Asks for a private page on which the key of {it.id} is entered. A key in use stays in"
            " use until another one has passed its test. No key is ever typed here.",
            cancel_label="Leave the key as it is",
            fields=STOP_FIELDS,
            request="binding.ConnectionIntentRequest",
            private_page=PrivatePageSpec(
                what=f"enter the key of the {endpoint.noun}",
                read=endpoint.read,
                progress=key_progress,
                then=promote_key_action(endpoint),
            ),
        ),
    )  # fmt: skip


def promote_key_action(
    endpoint: KeyedEndpoint, is_usable: Callable[[Any], bool] = lambda _: True, off_because: str = ""
) -> ResourceAction[Any]:
    """Return the action that tests the entered key and uses it if the test passes."""
    return ResourceAction(
        "promote", "Test the entered key and use it", "verifiers promote" if endpoint.verbs == "verifiers" else "",
        enabled_when=is_usable, off_because=off_because,
        mutation=Mutation(
            operation=endpoint.promote,
            sentence=lambda it: f"Calls the endpoint of {it.id} once with the key that was entered, and uses that key"
            " from now on if the test passes. An earlier key stays in use otherwise.",
            confirm_label="Test and use it",
            cancel_label="Leave it waiting",
            members=_pending,
            request="binding.ConnectionTestRequest",
            invalidates=(endpoint.kind,),
            prerequisite=Prerequisite(operation=endpoint.read, lacks=_lacks),
            effect_check=EffectCheck(operation=endpoint.read, words=_is_in_use),
        ),
    )  # fmt: skip


def revoke_key_action(
    endpoint: KeyedEndpoint, is_usable: Callable[[Any], bool], off_because: str
) -> ResourceAction[Any]:
    return ResourceAction(
        "revoke", "Stop using its key", "verifiers revoke" if endpoint.verbs == "verifiers" else "",
        is_destructive=True, enabled_when=is_usable, off_because=off_because,
        mutation=Mutation(
            operation=endpoint.revoke,
            sentence=_stop_sentence,
            confirm_label="Stop using it",
            members=lambda it: {"operation_key": f"revoke-{it.id}-{it.state.get('generation')}"},
            request="binding.ConnectionRevokeRequest",
            invalidates=(endpoint.kind,),
            prerequisite=Prerequisite(operation=endpoint.read, lacks=_lacks_key),
            effect_check=EffectCheck(operation=endpoint.read, words=_is_stopped),
        ),
    )  # fmt: skip


def _pending(subject: Any) -> Mapping[str, Any]:
    state = subject.state if isinstance(subject, PageResult) else {}
    pending = state.get("pending_key")
    found = pending if isinstance(pending, Mapping) else {}
    body = {name: found.get(name) for name in ("handle", "captured_generation")}
    intent = subject.response.get("intent_id") if isinstance(subject, PageResult) else None
    return {**body, "operation_key": intent} if isinstance(intent, str) and intent else body


def _lacks(state: Mapping[str, Any]) -> str:
    pending = KeyConnection(dict(state)).pending_key
    return "" if pending is not None and pending.handle else "No entered key waits to be used; enter one first."


def is_key_in_use(connection: ConnectionSummary | None) -> bool | None:
    """Return whether the key of an endpoint is in use; ``None`` if the service does not say."""
    return _IN_USE.get((connection.status if connection is not None else None) or "")


def _lacks_key(state: Mapping[str, Any]) -> str:
    connection = KeyConnection(dict(state))
    return NO_KEY if is_key_in_use(connection) is False and connection.pending_key is None else ""


def _stop_sentence(subject: Any) -> str:
    stops = "its endpoint is not called any more before another key was entered and tested."
    is_in_use = is_key_in_use(KeyConnection(dict(subject.state)))
    if is_in_use:
        return f"Stops using the key of {subject.id} at once: {stops}"
    if is_in_use is None:
        return (
            f"The service does not say whether a key of {subject.id} is in use. If one is, it stops at once: {stops}"
            " If none is, nothing is stopped."
        )
    return f"No key of {subject.id} is in use. Asks the service to discard the one that waits for its test."


def _is_in_use(subject: Any, state: Mapping[str, Any]) -> tuple[bool, str]:
    return promotion_outcome(KeyConnection(dict(state)), _pending(subject).get("handle"))


def promotion_outcome(connection: KeyConnection, handle: str | None) -> tuple[bool, str]:
    """Return whether a key is in use after its test, and so in words."""
    if connection.status == "active" and connection.handle == handle:
        return True, "the key passed its test and is in use"
    reason = None if connection.last_test is None else connection.last_test.reason
    return False, f"the key is not in use: {reason or 'its test did not pass'}; an earlier key stays as it was"


def _is_stopped(_: Any, state: Mapping[str, Any]) -> tuple[bool, str]:
    return revocation_outcome(KeyConnection(dict(state)))


def revocation_outcome(connection: KeyConnection) -> tuple[bool, str]:
    """Return whether no key is in use after it was stopped, and so in words."""
    is_in_use = is_key_in_use(connection)
    if is_in_use is None:
        return False, "the service does not say whether a key is still in use"
    return (False, "a key is still in use") if is_in_use else (True, "no key is in use any more")
