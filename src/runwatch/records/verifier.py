"""Output checks (API name: verifier), their probes and protected keys (manual: interface, "Verifiers")."""

from __future__ import annotations

from runwatch.records.arm import AgentEndpoint
from runwatch.records.receipt import Declaration
from runwatch.records.record import Record, Wire, flag, integer, many, mapping, moment, one, text, texts


class Scoring(Record):
    """Scores of a check: a verdict from boolean anchors, and a quality score from 0 to 1."""

    correctness = text()
    quality = text()


class ConnectionSummary(Record):
    """Whether the endpoint's key is in use, and until when."""

    status = text()
    stop_at = moment()
    stop_time_zone = text()
    days_remaining = integer()
    stopped_at = moment()
    stop_reason = text()


class Verifier(Record):
    """An endpoint that scores output and may stop a run, retry it or choose another option."""

    KIND = "verifier"
    WIRE = Wire("/v1/verifiers", "verifiers", "verifier_id", paged=True)

    verifier_id = text()
    display_name = text()
    version = text()
    kind = text()
    endpoint = one(AgentEndpoint)
    input_data_classes = texts()
    scoring = one(Scoring)
    hash = text()
    revision = integer()
    status = text()
    status_reason = text()
    correctness_declaration = one(Declaration)
    connection = one(ConnectionSummary)
    created_at = moment()
    updated_at = moment()


class Contract(Record):
    """Whether an endpoint's response follows the contract of output checks."""

    validated = flag()
    verifier_result = mapping()
    violation = text()


class ProbeFact(Record):
    """One item that a probe checked, with its correction."""

    status = text()
    correction = text()


class ProbeFeedback(Record):
    """The items that a probe checked, in this order."""

    reachability = one(ProbeFact)
    authentication = one(ProbeFact)
    response_compatibility = one(ProbeFact)


class Probe(Record):
    """Result of one attempt to reach an endpoint."""

    outcome = text()
    reason_code = text()
    http_status = integer()
    contract = one(Contract)
    feedback = one(ProbeFeedback)
    detail = text()
    checked_at = moment()

    @property
    def is_usable(self) -> bool:
        """Whether the endpoint can be used: its response is compatible and follows the contract."""
        feedback, contract = self.feedback, self.contract
        fact = None if feedback is None else feedback.response_compatibility
        return fact is not None and fact.status == "ok" and contract is not None and contract.validated is True


class VerifierOutcome(Record):
    """Outcome of registering a check; after a failed probe the check exists and can be corrected."""

    KIND = "verifier_outcome"

    verifier_id = text()
    hash = text()
    status = text()
    status_reason = text()
    preflight = one(Probe)
    correctness_declaration = one(Declaration)


class VerifierTest(Record):
    """Result of a test of an output check."""

    KIND = "verifier_test"

    verifier_id = text()
    status = text()
    status_reason = text()
    probe = one(Probe)
    correctness_declaration = one(Declaration)


class PendingKey(Record):
    """A key that was entered and is not in use yet."""

    handle = text()
    captured_generation = integer()
    staged_until = moment()


class KeyTest(Record):
    """Result of the last test of a key."""

    outcome = text()
    handle = text()
    reason = text()
    at = moment()


class Replacement(Record):
    """A key that is to replace another."""

    status = text()
    handle = text()
    reason = text()
    staged_until = moment()
    at = moment()


class RetiredKey(Record):
    """A key no longer in use."""

    handle = text()
    state = text()
    reason = text()
    retired_at = moment()
    destroyed_at = moment()


class KeyOperation(Record):
    """The last operation on a connection, by its operation key."""

    kind = text()
    phase = text()
    status = text()
    generation = integer()
    resulting_state = mapping()
    recorded_at = moment()


class KeyConnection(ConnectionSummary):
    """The complete protected connection of an output check or a review agent; handles name keys and are not secret."""

    KIND = "key_connection"

    handle = text()
    origin = text()
    generation = integer()
    projection_ack = text()
    pending_key = one(PendingKey)
    last_test = one(KeyTest)
    replacement = one(Replacement)
    retired_keys = many(RetiredKey)
    last_operation = one(KeyOperation)


class KeyIntent(Record):
    """A one-time permission to enter a key on a private page; ``continue_url`` is a secret."""

    KIND = "key_intent"

    intent_id = text()
    continue_url = text()
    intake_origin = text()
    origin = text()
    expires_at = moment()
    stop_choice = mapping()
