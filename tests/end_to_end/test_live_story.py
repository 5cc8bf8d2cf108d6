"""A live run whose first output is rejected.

Everything is done by commands; two models and the check are servers of this test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.cli import Cli
from tests.support.dock import Dock, dock
from tests.support.model_server import ModelServer
from tests.support.service import ServiceProcess
from tests.support.threads import in_thread

CALL_USD: Final = 0.01
"""What every call costs, as the model servers report it."""

FIRST: Final = "The first draft."
SECOND: Final = "The second draft."
"""What the first model that is asked puts out, and what the second does."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A service with two saved models and an output check that accepts only the second draft.

    Attributes:
        cli: The command.
        models: The server of both models.
        check: The check's endpoint.
        arm_ids: The saved models, in the order in which they were saved.
        verifier_id: The check.
    """

    cli: Cli
    models: ModelServer
    check: Dock
    arm_ids: tuple[str, str]
    verifier_id: str

    def submit(self, *words: str) -> Any:
        """Submit a live run that the check judges, and return the run."""
        done = self.cli(
            *("runs", "submit", "--mode", "live", "--objective", "Write a draft.", "--data-class", "public"),
            *("--max-runtime-s", "600", "--verifier-id", self.verifier_id, "--json", *words),
        )
        assert done.code == 0, done.errors
        return done.json_lines[0] if "--watch" in words else done.json

    def events(self, execution_id: str) -> list[dict[str, Any]]:
        return self.cli("runs", "events", execution_id, "--json").json_lines

    def receipt(self, execution_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The run's receipt, and its one slice."""
        receipt = self.cli("receipts", "show", execution_id, "--json").json
        (part,) = receipt["slices"]
        return receipt, part


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    models = ModelServer(models=("draft-1", "draft-2"), usage=(20, 4), cost_usd=CALL_USD)
    with ExitStack() as stack:
        stack.enter_context(in_thread(models))
        check, _ = stack.enter_context(in_thread(dock()))
        check.judge = judge
        service = stack.enter_context(ServiceProcess(tmp_path / "service", "--allow-loopback-checks"))
        cli = Cli(tmp_path, base_url=service.base_url, api_key=service.api_key)
        both = ("--model", "draft-1", "--model", "draft-2")
        connected = cli("sources", "connect", "--openai-compatible", models.base_url, *both, "--json", code=0)
        first, second = (arm["arm_id"] for arm in connected.json["arms"])
        models.answer(FIRST, SECOND)
        registered = cli(
            *("verifiers", "register", "--name", "Second thoughts", "--version-name", "1", "--url", check.url),
            *("--data-class", "public", "--deterministic", "--json"),
        )
        assert registered.code == 0, registered.errors
        yield Stage(cli, models, check, (first, second), registered.json["verifier_id"])


def judge(body: Any) -> Mapping[str, Any]:
    """Accept the second draft and nothing else, the reserved probe included."""
    is_second = body["candidate"] == SECOND
    return {"is_correct": is_second, "quality_score": 0.9 if is_second else 0.2}


def in_short(events: list[dict[str, Any]]) -> list[str]:
    """What happened, in short: states of the run, of its slice, and checks."""
    told = []
    for event in events:
        place = "slice " if "slice_id" in event else ""
        if event["type"] == "verification_check":
            check = event["verification_check"]
            told.append(f"check of attempt {check['attempt']}: {check['is_correct']}")
        elif event["type"] == "recorded_check":
            told.append(f"recorded {event['recorded_check']['state']}")
        else:
            told.append(" ".join(filter(None, (f"{place}{event['state']}", event.get("reason")))))
    return told


@pytest.mark.exhaustive
def test_a_rejected_output_falls_back_to_the_second_model_and_everything_tells_so(stage: Stage) -> None:
    execution_id = stage.submit("--max-cost-usd", "1", "--on-eval", "fallback", "--watch")["execution_id"]
    assert in_short(stage.events(execution_id)) == [
        "accepted", "queued", "running", "slice running", "recorded pending_evaluation", "check of attempt 1: False",
        "slice progress fallback", "check of attempt 2: True", "recorded customer_verdict", "slice completed",
        "completed",
    ]  # fmt: skip

    receipt, part = stage.receipt(execution_id)
    first, second = stage.arm_ids
    assert receipt["status"] == "completed"
    assert [(it["arm_id"], it["outcome"]) for it in part["route"]["ranking"]] == [
        (first, "rejected_by_check"),
        (second, "selected"),
    ]
    assert part["route"]["selected"]["arm_id"] == second
    assert part["route"]["fallback_used"] is True
    assert part["acted_on_eval"] == {"action": "fallback", "outcome": "fell_back"}
    assert [(it["attempt"], it["arm_id"], it["is_correct"]) for it in part["verification_checks"]] == [
        (1, first, False),
        (2, second, True),
    ]
    recorded = part["recorded_check"]
    assert recorded["state"] == "customer_verdict"
    assert recorded["verifier_id"] == part["verifier"]["verifier_id"] == stage.verifier_id
    assert (recorded["is_correct"], recorded["quality_score"]) == (True, 0.9)
    assert recorded["check_id"] == part["verification_checks"][1]["check_id"]
    assert part["verifier"]["correctness_declaration"]["status"] == "declared"
    cost = {name: part["cost"][name] for name in ("usd", "input_tokens", "output_tokens", "calls")}
    assert cost == {"usd": 2 * CALL_USD, "input_tokens": 40, "output_tokens": 8, "calls": 2}
    assert receipt["totals"]["usd"] == 2 * CALL_USD

    asked = [stage.cli("arms", "show", arm_id, "--json").json["model_id"] for arm_id in stage.arm_ids]
    assert [body["model"] for body in stage.models.bodies[-2:]] == asked
    assert [body["candidate"] for body in stage.check.bodies[-2:]] == [FIRST, SECOND]
    assert stage.cli("runs", "result", execution_id, "--json").json["final_text"] == SECOND
    told = json.dumps(stage.events(execution_id)) + json.dumps(receipt)
    assert FIRST not in told
    assert SECOND not in told
