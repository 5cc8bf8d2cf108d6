"""The form of a run request, and its prefill from an earlier run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from runwatch.records.arm import Arm
from runwatch.records.error_codes import CODES
from runwatch.records.verifier import Verifier
from runwatch.view.actions.fields import DATA_CLASS_NAMES
from runwatch.view.actions.form import Form
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.spec.action_parts import FormField, Suggestions

FIELDS: Final = (
    FormField(
        path="mode", label="mode", kind="choice", choices=("echo", "live"), is_required=True,
        hint="echo is a free test, live calls a model",
    ),
    FormField(
        id="objective", path="task.objective", label="objective", is_required=True,
        hint="what the run should do, up to 4,000 characters",
    ),
    FormField(
        id="data_classes", path="policy.data_classes", label="data classes", kind="list", is_required=True,
        hint=DATA_CLASS_NAMES,
    ),
    FormField(
        id="max_cost_usd", path="policy.budget.max_cost_usd", label="max cost USD", kind="number", is_required=True,
        hint="stops further provider calls",
    ),
    FormField(
        id="max_runtime_s", path="policy.budget.max_runtime_s", label="max runtime s", kind="number", is_required=True,
        hint="seconds until it expires",
    ),
    FormField(
        id="cost_coefficient", path="policy.cost_coefficient", label="price/quality", kind="number",
        hint="0 favours price, 1 quality; empty for the service's default",
    ),
    FormField(
        id="on_eval", path="policy.on_eval", label="when checked", kind="list",
        hint="gate, fallback or repair_retry; empty records the verdict",
    ),
    FormField(
        path="verifier_id", label="output check", hint="from Output checks; live runs only",
        offer=Suggestions(kind=Verifier),
    ),
    FormField(
        id="arm_id", path="routing.required_arm_id", label="saved model",
        hint="from Saved models; the run uses this one alone",
        offer=Suggestions(kind=Arm),
    ),
)  # fmt: skip

_START: Final = {"mode": "echo", "data_classes": "public", "max_cost_usd": "0.10", "max_runtime_s": "60"}
_LIVE_ONLY: Final = frozenset({"verifier_id"})
"""Fields that a test run cannot have."""


def _echo_rule(request: Any) -> Mapping[str, str]:
    """Check that a test run has no output check (manual: interface, "Runs")."""
    return {"verifier_id": CODES["echo_mode_mismatch"].title} if request.breaks_echo_rule else {}


FORM: Final = Form(fields=FIELDS, request="run.RunRequest", also=_echo_rule)
"""The form of a run. ``mode`` is always in its body, because the service's default spends money."""

field_named: Final = FORM.field_of
values_from_body: Final = FORM.values_of


def start_values() -> dict[str, str]:
    """Return the initial text of the form."""
    return {field.id: _START.get(field.id, "") for field in FIELDS}


@dataclass(frozen=True, slots=True)
class RunPrefill:
    """Values copied from an earlier run.

    Attributes:
        values: Text of the fields; the usual initial text if unknown.
        unknown: Labels of fields whose values are unknown.
        left_out: Members of the earlier request that the form cannot send.
        undefined: A sentence about each member that the interface does not define.
    """

    run_id: str
    values: Mapping[str, str]
    unknown: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What is missing; empty if the form holds the whole earlier request."""
        sentences = []
        if self.unknown:
            sentences.append(f"Not known of the earlier run: {', '.join(self.unknown)}.")
        if self.left_out:
            sentences.append(f"The earlier request also had {', '.join(self.left_out)}, which this form does not send.")
        sentences += [f"{words[:1].upper()}{words[1:]}{'' if words.endswith('?') else '.'}" for words in self.undefined]
        return " ".join(sentences)


def prefill_from_run(facts: RunFacts) -> RunPrefill:
    """Return a prefill from the submitted request if it was kept, else from the run.

    A run states at most its mode and policy (:class:`~runwatch.records.run.Run`). If even the mode is missing, a test
    run is assumed, because it costs nothing.
    """
    if facts.request is not None:
        request = facts.request.raw
        undefined = tuple(FORM.describe_unknown_members(request))
        return RunPrefill(facts.id, values_from_body(request), left_out=tuple(_unsent(request)), undefined=undefined)
    found = values_from_body({**facts.raw, "mode": facts.mode.value})
    unknown = tuple(field.label for field in FIELDS if not found[field.id] and not _is_left_empty(field, facts))
    return RunPrefill(facts.id, {**start_values(), **{name: value for name, value in found.items() if value}}, unknown)


def _is_left_empty(field: FormField, facts: RunFacts) -> bool:
    """Whether the run shows that a missing value was left empty."""
    is_stated = field.path.startswith("policy.") and facts.run.policy is not None
    return (is_stated and not field.is_required) or (field.id in _LIVE_ONLY and facts.is_test)


def _unsent(request: Mapping[str, Any], parent: str = "") -> Iterator[str]:
    """Yield the paths of request members that no field of the form sets."""
    paths = {field.path for field in FIELDS}
    for name, value in request.items():
        path = f"{parent}{name}"
        if path in paths:
            continue
        if isinstance(value, Mapping) and any(known.startswith(f"{path}.") for known in paths):
            yield from _unsent(value, f"{path}.")
        else:
            yield path
