"""Output checks (API name: verifier), their probes and protected keys (manual: interface, "Verifiers")."""

from __future__ import annotations

from runwatch.records.arm import AgentEndpoint
from runwatch.records.receipt import Declaration
from runwatch.records.record import Record, Wire, flag, integer, many, mapping, moment, one, text, texts


class Scoring(Record):
    """Scores of a check: a verdict from boolean anchors, and a quality score from 0 to 1."""

    correctness = text("correctness")
    quality = text("quality")


class ConnectionSummary(Record):
    """Whether the endpoint's key is in use, and until when."""

    status = text("status")
    stop_at = moment("stop_at")
    stop_time_zone = text("stop_time_zone")
    days_remaining = integer("days_remaining")
    stopped_at = moment("stopped_at")
    stop_reason = text("stop_reason")


class Verifier(Record):
    """An endpoint that scores output and may stop a run, retry it or choose another option."""

    KIND = "verifier"
    WIRE = Wire("/v1/verifiers", "verifiers", "verifier_id", paged=True)

    verifier_id = text("verifier_id")
    display_name = text("display_name")
    version = text("version")
    kind = text("kind")
    endpoint = one(AgentEndpoint, "endpoint")
    input_data_classes = texts("input_data_classes")
    scoring = one(Scoring, "scoring")
    hash = text("hash")
    revision = integer("revision")
    status = text("status")
    status_reason = text("status_reason")
    correctness_declaration = one(Declaration, "correctness_declaration")
    connection = one(ConnectionSummary, "connection")
    created_at = moment("created_at")
    updated_at = moment("updated_at")


class Contract(Record):
    """Whether an endpoint's response follows the contract of output checks."""

    validated = flag("validated")
    verifier_result = mapping("verifier_result")
    violation = text("violation")


class ProbeFact(Record):
    """One item that a probe checked, with its correction."""

    status = text("status")
    correction = text("correction")


class ProbeFeedback(Record):
    """The items that a probe checked, in this order."""

    reachability = one(ProbeFact, "reachability")
    authentication = one(ProbeFact, "authentication")
    response_compatibility = one(ProbeFact, "response_compatibility")


class Probe(Record):
    """Result of one attempt to reach an endpoint."""

    outcome = text("outcome")
    reason_code = text("reason_code")
    http_status = integer("http_status")
    contract = one(Contract, "contract")
    feedback = one(ProbeFeedback, "feedback")
    detail = text("detail")
    checked_at = moment("checked_at")

    @property
    def is_usable(self) -> bool:
        """Whether the endpoint can be used: its response is compatible and follows the contract."""
        feedback, contract = self.feedback, self.contract
        fact = None if feedback is None else feedback.response_compatibility
        return fact is not None and fact.status == "ok" and contract is not None and contract.validated is True


class VerifierOutcome(Record):
    """Outcome of registering a check; after a failed probe the check exists and can be corrected."""

    KIND = "verifier_outcome"

    verifier_id = text("verifier_id")
    hash = text("hash")
    status = text("status")
    status_reason = text("status_reason")
    preflight = one(Probe, "preflight")
    correctness_declaration = one(Declaration, "correctness_declaration")


class VerifierTest(Record):
    """Result of a test of an output check."""

    KIND = "verifier_test"

    verifier_id = text("verifier_id")
    status = text("status")
    status_reason = text("status_reason")
    probe = one(Probe, "probe")
    correctness_declaration = one(Declaration, "correctness_declaration")


class PendingKey(Record):
    """A key that was entered and is not in use yet."""

    handle = text("handle")
    captured_generation = integer("captured_generation")
    staged_until = moment("staged_until")


class KeyTest(Record):
    """Result of the last test of a key."""

    outcome = text("outcome")
    handle = text("handle")
    reason = text("reason")
    at = moment("at")


class Replacement(Record):
    """A key that is to replace another."""

    status = text("status")
    handle = text("handle")
    reason = text("reason")
    staged_until = moment("staged_until")
    at = moment("at")


class RetiredKey(Record):
    """A key no longer in use."""

    handle = text("handle")
    state = text("state")
    reason = text("reason")
    retired_at = moment("retired_at")
    destroyed_at = moment("destroyed_at")


class KeyOperation(Record):
    """The last operation on a connection, by its operation key."""

    kind = text("kind")
    phase = text("phase")
    status = text("status")
    generation = integer("generation")
    resulting_state = mapping("resulting_state")
    recorded_at = moment("recorded_at")


class KeyConnection(ConnectionSummary):
    """The complete protected connection of an output check or a review agent; handles name keys and are not secret."""

    KIND = "key_connection"

    handle = text("handle")
    origin = text("origin")
    generation = integer("generation")
    projection_ack = text("projection_ack")
    pending_key = one(PendingKey, "pending_key")
    last_test = one(KeyTest, "last_test")
    replacement = one(Replacement, "replacement")
    retired_keys = many(RetiredKey, "retired_keys")
    last_operation = one(KeyOperation, "last_operation")


class KeyIntent(Record):
    """A one-time permission to enter a key on a private page; ``continue_url`` is a secret."""

    KIND = "key_intent"

    intent_id = text("intent_id")
    continue_url = text("continue_url")
    intake_origin = text("intake_origin")
    origin = text("origin")
    expires_at = moment("expires_at")
    stop_choice = mapping("stop_choice")
