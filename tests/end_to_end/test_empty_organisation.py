"""From an empty organization to its own proved and selected model, by following the service's next steps.

Only commands are used. The model server is not ready at first, so every blocker comes up.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.cli import Cli
from tests.support.model_server import ModelServer, running_model_server
from tests.support.scripted import Said
from tests.support.service import ServiceProcess

TEMPLATE: Final = "byok-open-model"
PATIENCE_S: Final = 60.0

_COMMAND: Final = re.compile(r"runwatch (.+)\Z")


@pytest.fixture
def models() -> Iterator[ModelServer]:
    """A server that is busy when it is asked first, has no model the second time, and has one from then on."""
    server = ModelServer(models=("tiny-1",))
    server.answer("ready")
    listed = (Said(200, {"object": "list", "data": models}) for models in ([], [{"id": "tiny-1"}]))
    server.say("GET", ".*/models", Said(503, {"error": {"message": "loading"}}), *listed)
    with running_model_server(server) as running:
        yield running


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """The command, on a service whose organization has nothing."""
    with ServiceProcess(tmp_path / "service") as service:
        yield Cli(tmp_path, base_url=service.base_url, api_key=service.api_key)


def template(cli: Cli) -> dict[str, Any]:
    return next(it for it in cli("templates", "list", "--json").json if it["template_id"] == TEMPLATE)


def application_that(cli: Cli, application_id: str, holds: Callable[[Any], bool]) -> dict[str, Any]:
    """The application, read again until something holds of it."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        read: dict[str, Any] = cli("templates", "show", application_id, "--json").json
        if holds(read):
            return read
        assert read["next_action"]["type"] == "wait", read
        assert time.monotonic() < deadline, read


@pytest.mark.exhaustive
def test_an_empty_organization_follows_the_next_actions_to_a_selected_model(cli: Cli, models: ModelServer) -> None:
    met: list[str] = []
    while blockers := template(cli)["blockers"]:
        assert template(cli)["eligible"] is False
        assert cli("templates", "plan", TEMPLATE).code == 1
        assert cli("templates", "apply", TEMPLATE, "--yes").code == 1
        blocker = blockers[0]
        met.append(blocker["code"])
        found = _COMMAND.search(blocker["next_action"]["detail"])
        assert found is not None
        done = cli(*shlex.split(found[1].replace("URL", models.base_url)))
        # The first test meets a server that is loading, and leaves no connection.
        assert done.code == (1 if len(met) == 1 else 0), done.errors
    assert met == ["connection_required", "connection_required"]
    assert template(cli)["eligible"] is True
    assert template(cli)["catalog_row"]["model"]["model_key"].endswith("/tiny-1")

    assert cli("templates", "plan", TEMPLATE).code == 0
    applied = cli("templates", "apply", TEMPLATE, "--yes", "--json", code=0)
    application_id = applied.json["application_id"]
    proved = application_that(cli, application_id, lambda it: it["state"] == "echo_proved")
    assert proved["next_action"]["type"] == "authorize_byok_live_proof"
    assert models.prompts == [], "nothing is spent before it is authorized"
    assert cli("templates", "select", application_id).code == 1

    cli("templates", "resume", application_id, "--yes", code=0)
    ready = application_that(cli, application_id, lambda it: it["state"] == "ready")
    assert [effect["id"] for effect in ready["completed_effects"]] == [
        "save_model", "submit_echo", "submit_bounded_live_proof", "live_result_ready",
    ]  # fmt: skip
    assert len(models.prompts) == 1
    assert cli("runs", "result", ready["live_execution_id"], "--json").json["final_text"] == "ready"
    receipt = cli("receipts", "show", ready["receipt"]["receipt_id"], "--json").json
    assert (receipt["mode"], receipt["status"]) == ("live", "completed")
    assert receipt["slices"][0]["route"]["selected"]["arm_id"] == ready["managed_arm_id"]

    assert ready["next_action"]["type"] == "select_model"
    selected = cli("templates", "select", application_id, "--json", code=0)
    assert cli("templates", "select", "--json").json["managed_arm_id"] == ready["managed_arm_id"]
    assert selected.json["proof_execution_id"] == ready["live_execution_id"]
