"""Receipt of a final run, without prompt or output (manual: interface, "Receipts"; manual: interface, "Receipt
fields").
"""

from __future__ import annotations

from decimal import Decimal

from runwatch.records.check import RecordedCheck, VerificationCheck
from runwatch.records.record import Record, Wire, amount, anything, flag, integer, many, mapping, moment, one, text
from runwatch.records.spend import UNKNOWN_USAGE, estimated_calls, sum_amounts, unknown_calls
from runwatch.records.states import CUT, describe_incomplete


class Declaration(Record):
    """A tenant's own statement that a check is deterministic; it does not restrict anything."""

    status = text()
    method = text()
    declared_at = moment()
    statement = text()
    verifier_revision = integer()


class ReceiptVerifier(Record):
    """The check of a slice's output, and its verdict."""

    identity = text()
    id = text()  # type: ignore[assignment]
    hash = text()
    verifier_id = text()
    is_correct = flag()
    quality_score = amount()
    anchor_results = mapping()
    correctness_declaration = one(Declaration)


class Selected(Record):
    """The option that a route selected."""

    arm_id = text()
    provider = text()
    model_key = text()
    model_deployment_id = text()
    connection_id = text()
    access_lane = text()


class Route(Record):
    """How the model was chosen; ``ranking`` may be a text, an array or an object."""

    ranking = anything()
    selected = one(Selected)
    fallback_used = flag()


class ActedOnEval(Record):
    """Reaction of the policy to a verdict."""

    action = text()
    outcome = text()
    proposal_id = text()


class Waiver(Record):
    """Why a cost was not charged."""

    reason = text()


class Cost(Record):
    """Cost of one slice; the local service adds ``usage``, ``unknown`` if a call did not report its usage."""

    usd = amount()
    input_tokens = integer()
    output_tokens = integer()
    calls = integer()
    pricing_basis = text()
    waiver = one(Waiver)
    usage = text()
    unknown_calls = integer()
    estimated_calls = integer()

    @property
    def is_estimated(self) -> bool:
        """Whether ``usd`` is based on estimated tokens or an estimated price."""
        return self.pricing_basis == "estimated"


class ProviderCall(Record):
    """One provider call of a slice; only the local service sends it."""

    attempt = integer()
    arm_id = text()
    model_key = text()
    connection_id = text()
    phase = text()
    outcome = text()
    failure_kind = text()
    http_status = integer()
    retry_after_s = integer()
    body_kind = text()
    content_type = text()
    usage = text()
    usd = amount()

    @property
    def is_dropped(self) -> bool:
        """Whether the provider took the call and gave no answer."""
        return self.failure_kind == "network" and self.usage == UNKNOWN_USAGE

    @property
    def is_unreached(self) -> bool:
        """Whether the provider did not take the call, so that its usage is known: none."""
        return self.failure_kind == "network" and self.usage == "known"


class ReceiptSlice(Record):
    """One slice of a receipt.

    ``finish_reason``, why the output of a live run ends, and ``attempts`` are not in the specification.
    """

    slice_id = text()
    capability = text()
    finish_reason = text()
    route = one(Route)
    verifier = one(ReceiptVerifier)
    verification_checks = many(VerificationCheck)
    recorded_check = one(RecordedCheck)
    acted_on_eval = one(ActedOnEval)
    cost = one(Cost)
    attempts = many(ProviderCall)
    model_provenance = mapping()


class Totals(Record):
    """Cost and duration of the whole run."""

    usd = amount()
    platform_fee_usd = amount()
    review_composer_fee_usd = amount()
    runtime_s = amount()
    unknown_calls = integer()
    estimated_calls = integer()


class Receipt(Record):
    """Model and provider of a final run, its checks and its cost."""

    __slots__ = ()
    KIND = "receipt"
    WIRE = Wire("/v1/receipts", "receipts", "execution_id", filters=("since", "status", "arm_id"))

    execution_id = text()
    mode = text()
    status = text()
    reason = text()
    created_at = moment()
    completed_at = moment()
    slices = many(ReceiptSlice)
    totals = one(Totals)
    decision_packet = mapping()

    @property
    def unknown_calls(self) -> int:
        """Number of provider calls with unknown cost; see :mod:`runwatch.records.spend`."""
        raw = self.raw
        totals, parts = raw.get("totals"), raw.get("slices")
        counted = totals.get("unknown_calls") if isinstance(totals, dict) else None
        if type(counted) is int:
            return max(counted, 0)
        return sum([unknown_calls(part) for part in parts if isinstance(part, dict)]) if isinstance(parts, list) else 0

    @property
    def estimated_calls(self) -> int:
        """Number of provider calls with an estimated cost."""
        return sum(estimated_calls(part.raw) for part in self.slices or ())

    @property
    def is_estimated(self) -> bool:
        """Whether any cost is based on estimated tokens or an estimated price."""
        return any(part.cost is not None and part.cost.is_estimated for part in self.slices or ())

    @property
    def is_cut(self) -> bool:
        """Whether an output was cut at a token limit."""
        return any(part.finish_reason == CUT for part in self.slices or ())

    @property
    def incomplete_output(self) -> str | None:
        """A sentence about an output that is not a whole answer; ``None`` if there is none."""
        return describe_incomplete(part.finish_reason for part in self.slices or ())

    @property
    def spend_usd(self) -> Decimal | None:
        """Model usage plus platform fee, in US dollars; ``None`` unless both are fully known."""
        return None if self.unknown_calls else self.known_spend_usd

    @property
    def known_spend_usd(self) -> Decimal | None:
        """The known part of usage plus fee, in US dollars; ``None`` if the receipt lacks either.

        The platform fee includes the composer fee (manual: interface, "Receipt fields").
        """
        totals = self.totals
        usd, fee = (None, None) if totals is None else (totals.usd, totals.platform_fee_usd)
        return None if usd is None or fee is None else sum_amounts((usd, fee))
