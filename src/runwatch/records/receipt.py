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

    status = text("status")
    method = text("method")
    declared_at = moment("declared_at")
    statement = text("statement")
    verifier_revision = integer("verifier_revision")


class ReceiptVerifier(Record):
    """The check of a slice's output, and its verdict."""

    identity = text("identity")
    id = text("id")  # type: ignore[assignment]
    hash = text("hash")
    verifier_id = text("verifier_id")
    is_correct = flag("is_correct")
    quality_score = amount("quality_score")
    anchor_results = mapping("anchor_results")
    correctness_declaration = one(Declaration, "correctness_declaration")


class Selected(Record):
    """The option that a route selected."""

    arm_id = text("arm_id")
    provider = text("provider")
    model_key = text("model_key")
    model_deployment_id = text("model_deployment_id")
    connection_id = text("connection_id")
    access_lane = text("access_lane")


class Route(Record):
    """How the model was chosen; ``ranking`` may be a text, an array or an object."""

    ranking = anything("ranking")
    selected = one(Selected, "selected")
    fallback_used = flag("fallback_used")


class ActedOnEval(Record):
    """Reaction of the policy to a verdict."""

    action = text("action")
    outcome = text("outcome")
    proposal_id = text("proposal_id")


class Waiver(Record):
    """Why a cost was not charged."""

    reason = text("reason")


class Cost(Record):
    """Cost of one slice; the local service adds ``usage``, ``unknown`` if a call did not report its usage."""

    usd = amount("usd")
    input_tokens = integer("input_tokens")
    output_tokens = integer("output_tokens")
    calls = integer("calls")
    pricing_basis = text("pricing_basis")
    waiver = one(Waiver, "waiver")
    usage = text("usage")
    unknown_calls = integer("unknown_calls")
    estimated_calls = integer("estimated_calls")

    @property
    def is_estimated(self) -> bool:
        """Whether ``usd`` is based on estimated tokens or an estimated price."""
        return self.pricing_basis == "estimated"


class ProviderCall(Record):
    """One provider call of a slice; only the local service sends it."""

    attempt = integer("attempt")
    arm_id = text("arm_id")
    model_key = text("model_key")
    connection_id = text("connection_id")
    phase = text("phase")
    outcome = text("outcome")
    failure_kind = text("failure_kind")
    http_status = integer("http_status")
    retry_after_s = integer("retry_after_s")
    body_kind = text("body_kind")
    content_type = text("content_type")
    usage = text("usage")
    usd = amount("usd")

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

    slice_id = text("slice_id")
    capability = text("capability")
    finish_reason = text("finish_reason")
    route = one(Route, "route")
    verifier = one(ReceiptVerifier, "verifier")
    verification_checks = many(VerificationCheck, "verification_checks")
    recorded_check = one(RecordedCheck, "recorded_check")
    acted_on_eval = one(ActedOnEval, "acted_on_eval")
    cost = one(Cost, "cost")
    attempts = many(ProviderCall, "attempts")
    model_provenance = mapping("model_provenance")


class Totals(Record):
    """Cost and duration of the whole run."""

    usd = amount("usd")
    platform_fee_usd = amount("platform_fee_usd")
    review_composer_fee_usd = amount("review_composer_fee_usd")
    runtime_s = amount("runtime_s")
    unknown_calls = integer("unknown_calls")
    estimated_calls = integer("estimated_calls")


class Receipt(Record):
    """Model and provider of a final run, its checks and its cost."""

    __slots__ = ()
    KIND = "receipt"
    WIRE = Wire("/v1/receipts", "receipts", "execution_id", filters=("since", "status", "arm_id"))

    execution_id = text("execution_id")
    mode = text("mode")
    status = text("status")
    reason = text("reason")
    created_at = moment("created_at")
    completed_at = moment("completed_at")
    slices = many(ReceiptSlice, "slices")
    totals = one(Totals, "totals")
    decision_packet = mapping("decision_packet")

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
