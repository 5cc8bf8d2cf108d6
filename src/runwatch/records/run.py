"""Run (API name: execution), its slices, and the result (manual: interface, "Runs"; manual: interface, "Results")."""

from __future__ import annotations

from runwatch.records.receipt import Selected
from runwatch.records.record import Record, Wire, amount, anything, integer, many, mapping, moment, one, text, texts
from runwatch.records.states import CUT, describe_incomplete, is_final


class Slice(Record):
    """One part of a run's work; ``finish_reason``, why the output of a live run ends, is not in the specification."""

    slice_id = text()
    capability = text()
    status = text()
    finish_reason = text()


class RunLinks(Record):
    status = text()
    events = text()
    receipt = text()


class Budget(Record):
    """Limits of one run.

    A cost limit stops further provider calls, but does not reverse one in progress (manual: interface, "Limits").
    """

    max_cost_usd = amount()
    max_runtime_s = amount()


class Policy(Record):
    """What a run may use and spend."""

    data_classes = texts()
    budget = one(Budget)
    cost_coefficient = amount()
    on_eval = texts()


class CallError(Record):
    """How a provider refused one call of a run; not in the specification.

    ``message`` is what the provider said, cleaned by the service. It can repeat a part of the prompt, and is ``null``
    where nothing was said, and after ``retention_expires_at``. ``retry_after_s`` is how long it asked to wait.
    """

    attempt = integer()
    arm_id = text()
    at = moment()
    http_status = integer()
    retry_after_s = integer()
    message = text()
    retention_expires_at = moment()


class RequiredArm(Record):
    """The one saved model that a run may use, where it was not ready. Not in the specification."""

    arm_id = text()
    display_name = text()
    status = text()
    status_reason = text()


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

    execution_id = text()
    status = text()
    slices = many(Slice)
    links = one(RunLinks)
    created_at = moment()
    completed_at = moment()
    cancelled_by = text()
    decision_packet = mapping()
    mode = text()
    policy = one(Policy)
    spend_usd = amount()
    known_spend_usd = amount()
    unknown_calls = integer()
    estimated_calls = integer()
    reason = text()
    current = anything()
    selected = one(Selected)
    provider_errors = many(CallError)
    required_arm = one(RequiredArm)

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

    execution_id = text()
    slice_id = text()
    final_text = text()
    model_provenance = mapping()
    retention_expires_at = moment()
