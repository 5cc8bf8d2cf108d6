"""A run merged from all sources, each value with its source.

A run as read lacks much: mode, caps, spend, model and reason are often missing. They are filled in from the submitted
request, the receipt and the events. The source is shown, so values from different sources are not confused. Unknown
values stay unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from runwatch.records.event import RunEvent
from runwatch.records.packet import DecisionPacket
from runwatch.records.receipt import Receipt, ReceiptSlice, Selected, Totals
from runwatch.records.record import Record, mapping, one, text
from runwatch.records.run import Budget, CallError, Policy, Run
from runwatch.records.states import is_final

if TYPE_CHECKING:
    from runwatch.records.arm import Arm
    from runwatch.store.state.collection import StoredRecord

T = TypeVar("T")

COUNTS_ON: Final = timedelta(seconds=10)
"""So long after the last read of a live run its time counts on: the longest time between two reads of the newest runs
that a usual limit needs.
"""

FROM_RUN: Final = "run"
FROM_REQUEST: Final = "own request"
FROM_RECEIPT: Final = "receipt"
FROM_EVENTS: Final = "last event"
NO_SOURCE: Final = ""


class SourcedValue(NamedTuple, Generic[T]):
    """A value and its source; the source is empty if there is no value."""

    value: T | None
    source: str


class SubmittedRequest(Record):
    """The body that this console sent for a run, limited to what is shown."""

    mode = text("mode")
    policy = one(Policy, "policy")
    verifier_id = text("verifier_id")
    review_composer = mapping("review_composer")


# Empty records replace missing parts; all their members are unknown.
_NO_REQUEST: Final = SubmittedRequest({})
_NO_RECEIPT: Final = Receipt({})
_NO_EVENT: Final = RunEvent({})
_NO_POLICY: Final = Policy({})
_NO_BUDGET: Final = Budget({})
_NO_TOTALS: Final = Totals({})
_NOT_SELECTED: Final = Selected({})


class RunFacts(NamedTuple):
    """A run with all related data.

    Attributes:
        run: The run as last read.
        request: The body that this console sent for it.
        last_event: The newest event read.
        label: The user's label; empty for none.
        note: The user's note; empty for none.
        call_errors: How providers refused its calls, if the run was read alone; a run from a list does not say it.
        states: The states that its events name, from the first event on; empty if they are unknown.
        queue: How many live runs run, and how many wait for their turn; ``None`` if unknown.
        stored: The run in the store, which says when it was read last; ``None`` if it was read just now.
        arms: The saved models of the organization; ``None`` unless they were read for a run that found none ready.
        is_cancelling: Whether the cancel that the user has confirmed is on its way, or waits for others; ``None``
            without one.
    """

    run: Run
    request: SubmittedRequest | None = None
    receipt: Receipt | None = None
    last_event: RunEvent | None = None
    label: str = ""
    note: str = ""
    call_errors: tuple[CallError, ...] | None = None
    stored: StoredRecord | None = None
    states: frozenset[str | None] = frozenset()
    arms: tuple[Arm, ...] | None = None
    queue: tuple[int, int] | None = None
    is_cancelling: bool | None = None

    @property
    def id(self) -> str:
        return self.run.id

    @property
    def raw(self) -> Mapping[str, Any]:
        return self.run.raw

    @property
    def status(self) -> str | None:
        """The run's status, or that of its final event or receipt if those are newer."""
        status = self.run.status
        if not is_final(status):
            for later in (self._final.state, self._receipt.status):
                if is_final(later):
                    return later
        return status

    @property
    def is_final(self) -> bool:
        """Whether the run has ended."""
        return is_final(self.status)

    @property
    def mode(self) -> SourcedValue[str]:
        """``live`` or ``echo``; never inferred from missing data."""
        return _first((self.run.mode, FROM_RUN), (self._receipt.mode, FROM_RECEIPT), (self._request.mode, FROM_REQUEST))

    @property
    def is_test(self) -> bool:
        """Whether the run is known to be a test run, which calls no model and costs nothing."""
        return self.mode.value == "echo"

    @property
    def has_result(self) -> bool:
        """Whether a result can be read: only a completed live run has one (manual: interface, "Results")."""
        return self.status == "completed" and not self.is_test

    @property
    def max_cost_usd(self) -> SourcedValue[Decimal]:
        """The cost cap, in US dollars."""
        return _first(*((_budget(policy).max_cost_usd, source) for policy, source in self._policies))

    @property
    def max_runtime_s(self) -> SourcedValue[Decimal]:
        return _first(*((_budget(policy).max_runtime_s, source) for policy, source in self._policies))

    @property
    def data_classes(self) -> SourcedValue[tuple[str, ...]]:
        """The data classes that the run may use."""
        return _first(*((policy.data_classes, source) for policy, source in self._policies))

    @property
    def cost_usd(self) -> SourcedValue[Decimal]:
        """The amount spent including fees, in US dollars; no value if the cost of a call is unknown."""
        return SourcedValue(None, NO_SOURCE) if self.unknown_calls else self.known_cost_usd

    @property
    def known_cost_usd(self) -> SourcedValue[Decimal]:
        """The known part of the amount spent including fees, in US dollars, preferably from the receipt."""
        known = None if self.receipt is None else self.receipt.known_spend_usd
        if known is not None:
            return SourcedValue(known, FROM_RECEIPT)
        spent = self.run.spend_usd
        return _first((self.run.known_spend_usd, FROM_RUN)) if spent is None else SourcedValue(spent, FROM_RUN)

    @property
    def unknown_calls(self) -> int:
        """Number of provider calls without a known cost."""
        if self.receipt is not None and self.receipt.known_spend_usd is not None:
            return self.receipt.unknown_calls
        return self.run.unknown_calls or 0

    @property
    def is_cost_open(self) -> bool:
        """Whether nothing is known yet of what a live run costs, because of a call that is under way or lost."""
        return not self.is_final and bool(self.unknown_calls) and not self.known_cost_usd.value

    @property
    def is_estimated(self) -> bool:
        """Whether the known cost includes estimates."""
        if self.known_cost_usd.source == FROM_RECEIPT:
            return self._receipt.is_estimated
        return bool(self.run.estimated_calls)

    @property
    def provider_errors(self) -> tuple[CallError, ...]:
        """How providers refused its calls, oldest first, as far as known."""
        return self.run.provider_errors or self.call_errors or ()

    @property
    def has_failed_call(self) -> bool:
        """Whether the receipt names a provider call that failed."""
        parts = self._receipt.slices or ()
        return any(call.outcome == "failed" for part in parts for call in part.attempts or ())

    @property
    def reason(self) -> SourcedValue[str]:
        """Why the run ended."""
        return _first(
            (self.run.reason, FROM_RUN), (self._receipt.reason, FROM_RECEIPT), (self._final.reason, FROM_EVENTS)
        )

    @property
    def found_no_arm(self) -> bool:
        """Whether the run ended because no saved model could run it."""
        return self.reason.value == "no_eligible_arms"

    @property
    def granted_arm(self) -> Arm | None:
        """The saved model that may run this run and is ready now, else one that is degraded."""
        wanted = frozenset(self.data_classes.value or ())
        granted = [it for it in self.arms or () if it.kind == "model" and wanted <= set(it.data_class_grants or ())]
        return next((it for status in ("ready", "degraded") for it in granted if it.status == status), None)

    @property
    def provider(self) -> SourcedValue[str]:
        """The provider of the selected option, or of the current work."""
        return _first((self._selected.provider, FROM_RECEIPT), (self._used.provider, FROM_RUN))

    @property
    def model(self) -> SourcedValue[str]:
        """The model that was selected, or is currently used."""
        return _first((self._selected.model_key, FROM_RECEIPT), (self._used.model_key, FROM_RUN))

    @property
    def arm_id(self) -> SourcedValue[str]:
        """The saved model that was selected, or is currently used."""
        return _first((self._selected.arm_id, FROM_RECEIPT), (self._used.arm_id, FROM_RUN))

    @property
    def connection_id(self) -> SourcedValue[str]:
        return SourcedValue(self._selected.connection_id, FROM_RECEIPT if self._selected.connection_id else NO_SOURCE)

    @property
    def verifier_id(self) -> SourcedValue[str]:
        """The output check that judged the run, or that was requested."""
        return _first((_judge(self._receipt), FROM_RECEIPT), (self._request.verifier_id, FROM_REQUEST))

    @property
    def packet(self) -> SourcedValue[DecisionPacket]:
        """The decision packet of a Review Composer run."""
        return _first(*((DecisionPacket.of(raw), source) for raw, source in self._packets if raw))

    @property
    def is_composer(self) -> bool:
        """Whether this is known to be a Review Composer run."""
        return self.packet.value is not None or self._request.review_composer is not None

    @property
    def reason_sources(self) -> tuple[str, ...]:
        """The distinct sources of provider, model, saved model and reason."""
        facts = (self.model, self.provider, self.arm_id, self.reason)
        return tuple(dict.fromkeys(fact.source for fact in facts if fact.source != NO_SOURCE))

    @property
    def ended_at(self) -> SourcedValue[datetime]:
        return _first(
            (self.run.completed_at, FROM_RUN), (self._receipt.completed_at, FROM_RECEIPT), (self._final.at, FROM_EVENTS)
        )

    @property
    def took_s(self) -> SourcedValue[Decimal]:
        """How long an ended run took, in seconds."""
        totals = self._receipt.totals or _NO_TOTALS
        created, ended = self.run.created_at, self.ended_at
        span = None
        if created is not None and ended.value is not None:
            span = Decimal(str((ended.value - created).total_seconds()))
        return _first((totals.runtime_s, FROM_RECEIPT), (span, ended.source))

    def running_s(self, now: datetime, lost_at: datetime | None = None) -> float | None:
        """Return how long a live run has been running, in seconds; ``None`` if its beginning is unknown."""
        created = self.run.created_at
        return None if created is None else max(0.0, (self.counts_until(now, lost_at) - created).total_seconds())

    def counts_until(self, now: datetime, lost_at: datetime | None = None) -> datetime:
        """Return until when a live run is known to go on.

        It counts on for a while after the last read or event, and then stops until the next: the run may have ended.
        Where the service does not respond since ``lost_at``, it stops there.
        """
        if self.stored is None:
            return now
        last = self.last_event.at if self.last_event is not None else None
        known = max(self.stored.seen_at, last or self.stored.seen_at)
        until = min(now, known + COUNTS_ON)
        return until if lost_at is None else max(known, min(until, lost_at))

    @property
    def cancelled_by(self) -> SourcedValue[str]:
        return _first((self.run.cancelled_by, FROM_RUN), (self._final.acted_by, FROM_EVENTS))

    @property
    def _receipt(self) -> Receipt:
        return self.receipt or _NO_RECEIPT

    @property
    def _request(self) -> SubmittedRequest:
        return self.request or _NO_REQUEST

    @property
    def _final(self) -> RunEvent:
        event = self.last_event
        return event if event is not None and event.ends_run else _NO_EVENT

    @property
    def _policies(self) -> tuple[tuple[Policy, str], ...]:
        return (self.run.policy or _NO_POLICY, FROM_RUN), (self._request.policy or _NO_POLICY, FROM_REQUEST)

    @property
    def _packets(self) -> tuple[tuple[Mapping[str, Any] | None, str], ...]:
        return (self._receipt.decision_packet, FROM_RECEIPT), (self.run.decision_packet, FROM_RUN)

    @property
    def _used(self) -> Selected:
        """What the run uses now, or what an ended one used last, if the service says so."""
        if isinstance(self.run.current, dict):
            return Selected(self.run.current)
        return self.run.selected or _NOT_SELECTED

    @property
    def _selected(self) -> Selected:
        return find_selected_option(self._receipt)


def _budget(policy: Policy) -> Budget:
    return policy.budget or _NO_BUDGET


def receipt_slices(receipt: Receipt | None) -> tuple[ReceiptSlice, ...]:
    """Return the slices of a receipt; empty if there is no receipt, or it names none."""
    return (receipt.slices if receipt is not None else None) or ()


def find_selected_option(receipt: Receipt) -> Selected:
    """Return the option selected by the last slice that has one; an empty record if none has."""
    for part in reversed(receipt.slices or ()):
        if part.route is not None and part.route.selected is not None:
            return part.route.selected
    return _NOT_SELECTED


def _judge(receipt: Receipt) -> str | None:
    """Return the customer's check that judged the last slice with one."""
    for part in reversed(receipt.slices or ()):
        if part.verifier is not None and part.verifier.verifier_id is not None:
            return part.verifier.verifier_id
    return None


def find_states(events: Iterable[RunEvent]) -> frozenset[str | None]:
    """Return the states that events name."""
    return frozenset(event.state for event in events)


def parse_submitted_request(body: object) -> SubmittedRequest | None:
    """Return a decoded request body as a record, or ``None`` if it is not an object."""
    return SubmittedRequest(body) if isinstance(body, dict) else None


def _first(*candidates: tuple[T | None, str]) -> SourcedValue[T]:
    for value, source in candidates:
        if value is not None:
            return SourcedValue(value, source)
    return SourcedValue(None, NO_SOURCE)
