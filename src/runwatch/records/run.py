"""Run (API name: execution), its slices, and the result (manual: interface, "Runs"; manual: interface, "Results")."""

from __future__ import annotations

from runwatch.records.receipt import Selected
from runwatch.records.record import Record, Wire, amount, anything, integer, many, mapping, moment, one, text, texts
from runwatch.records.states import CUT, describe_incomplete, is_final


class Slice(Record):
    """One part of a run's work; ``finish_reason``, why the output of a live run ends, is not in the specification."""

    slice_id = text("slice_id")
    capability = text("capability")
    status = text("status")
    finish_reason = text("finish_reason")


class RunLinks(Record):
    status = text("status")
    events = text("events")
    receipt = text("receipt")


class Budget(Record):
    """Limits of one run.

    A cost limit stops further provider calls, but does not reverse one in progress (manual: interface, "Limits").
    """

    max_cost_usd = amount("max_cost_usd")
    max_runtime_s = amount("max_runtime_s")


class Policy(Record):
    """What a run may use and spend."""

    data_classes = texts("data_classes")
    budget = one(Budget, "budget")
    cost_coefficient = amount("cost_coefficient")
    on_eval = texts("on_eval")


class CallError(Record):
    """How a provider refused one call of a run; not in the specification.

    ``message`` is what the provider said, cleaned by the service. It can repeat a part of the prompt, and is ``null``
    where nothing was said, and after ``retention_expires_at``. ``retry_after_s`` is how long it asked to wait.
    """

    attempt = integer("attempt")
    arm_id = text("arm_id")
    at = moment("at")
    http_status = integer("http_status")
    retry_after_s = integer("retry_after_s")
    message = text("message")
    retention_expires_at = moment("retention_expires_at")


class RequiredArm(Record):
    """The one saved model that a run may use, where it was not ready. Not in the specification."""

    arm_id = text("arm_id")
    display_name = text("display_name")
    status = text("status")
    status_reason = text("status_reason")


class Run(Record):
    """A submitted unit of work.

    ``completed_at``, ``mode``, ``policy``, ``spend_usd``, ``reason``, ``current``, ``selected`` and ``provider_errors``
    (only where a single run is read) are open members of the local service; for other services they come from the
    submit sent here, the events or the receipt. If calls have no known cost, ``spend_usd`` is ``null``, and
    ``known_spend_usd`` and ``unknown_calls`` are set. ``estimated_calls`` counts the calls with an estimated cost, if
    there are any.
    """

    KIND = "run"
    CONTENT = frozenset({"provider_errors"})
    WIRE = Wire("/v1/executions", "executions", "execution_id", paged=True, filters=("status", "since"))

    execution_id = text("execution_id")
    status = text("status")
    slices = many(Slice, "slices")
    links = one(RunLinks, "links")
    created_at = moment("created_at")
    completed_at = moment("completed_at")
    cancelled_by = text("cancelled_by")
    decision_packet = mapping("decision_packet")
    mode = text("mode")
    policy = one(Policy, "policy")
    spend_usd = amount("spend_usd")
    known_spend_usd = amount("known_spend_usd")
    unknown_calls = integer("unknown_calls")
    estimated_calls = integer("estimated_calls")
    reason = text("reason")
    current = anything("current")
    selected = one(Selected, "selected")
    provider_errors = many(CallError, "provider_errors")
    required_arm = one(RequiredArm, "required_arm")

    @property
    def is_final(self) -> bool:
        """Whether the run has ended; an unknown status is live."""
        return is_final(self.status)

    @property
    def is_cut(self) -> bool:
        """Whether an output was cut at a token limit."""
        return any(part.finish_reason == CUT for part in self.slices or ())

    @property
    def incomplete_output(self) -> str | None:
        """A sentence about an output that is not a whole answer; ``None`` if there is none."""
        return describe_incomplete(part.finish_reason for part in self.slices or ())


class RunResult(Record):
    """The model output of a completed live run, kept by the service for a limited time. Test runs have none."""

    KIND = "result"
    WIRE = Wire("/v1/executions/{execution_id}/result", "", "execution_id")

    execution_id = text("execution_id")
    slice_id = text("slice_id")
    final_text = text("final_text")
    model_provenance = mapping("model_provenance")
    retention_expires_at = moment("retention_expires_at")
