"""Before a record is destroyed its dependents are shown, as far as the lists tell."""

from __future__ import annotations

from typing import Any

from runwatch.records.agent import ReviewAgent
from runwatch.records.arm import Arm
from runwatch.records.model import Deployment
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.records.source import SourceConnection
from runwatch.records.template import Template
from runwatch.records.verifier import Verifier
from runwatch.view.actions.dependents import describe_dependents, find_dependent_kinds, find_dependents
from tests.support import resources
from tests.support.builders import open_run

SOURCE = resources.connection("conn_1")
SERVED = resources.deployment("mdep_1", connection_id="conn_1")
OTHER = resources.deployment("mdep_2", connection_id="conn_2")
SAVED = resources.arm("arm_1", model_deployment_id="mdep_1", display_name="Ember")
GONE = resources.arm("arm_2", "disabled", model_deployment_id="mdep_1")
ELSEWHERE = resources.arm("arm_3", model_deployment_id="mdep_2")


def live(run_id: str, arm_id: str, status: str = "running") -> Run:
    return open_run(run_id, status, current={"arm_id": arm_id})


KNOWN: dict[type[Record], Any] = {
    Deployment: [SERVED, OTHER],
    Arm: [SAVED, GONE, ELSEWHERE],
    Run: [live("ex_1", "arm_1"), live("ex_2", "arm_3"), live("ex_3", "arm_1", "completed")],
    Template: [resources.template()],
}


def found(subject: Record, known: dict[type[Record], Any] = KNOWN) -> dict[str, tuple[str, ...]]:
    """Ids by what they are called."""
    return {each.noun: each.ids for each in find_dependents(subject, known)}


def test_on_a_source_hang_its_models_what_is_saved_of_them_and_the_runs_at_work_there() -> None:
    assert found(SOURCE) == {"deployment": ("mdep_1",), "live run": ("ex_1",), "saved model": ("arm_1",)}


def test_on_a_saved_model_hang_the_runs_at_work_there_and_no_finished_one() -> None:
    assert found(SAVED) == {"live run": ("ex_1",)}
    assert found(GONE) == {}


def test_on_a_repository_hang_its_agents() -> None:
    repository = resources.github_connection(repository="acme/widgets")
    agents = [resources.agent("arm_a", repository="acme/widgets"), resources.agent("arm_b", repository="acme/other")]
    assert found(repository, {ReviewAgent: agents}) == {"agent": ("arm_a",)}


def test_the_lists_that_are_needed_are_those_of_what_can_hang_on_it() -> None:
    assert Deployment in find_dependent_kinds(SOURCE)
    assert find_dependent_kinds(resources.verifier()) == (Run,)
    assert find_dependent_kinds(resources.api_key()) == ()
    assert find_dependent_kinds(None) == ()


def test_it_is_reported_with_numbers_and_a_few_names() -> None:
    assert describe_dependents(find_dependents(SOURCE, KNOWN)) == (
        "Used by 1 deployment (ember-7b-instruct); 1 live run (ex_1); 1 saved model (Ember)."
    )
    many: dict[type[Record], Any] = {Run: [live(f"ex_{number}", "arm_1") for number in range(5)]}
    assert describe_dependents(find_dependents(SAVED, many)) == "Used by 5 live runs (ex_0, ex_1, ex_2 and 2 more)."


def test_what_could_not_be_read_is_named_and_never_taken_for_nothing() -> None:
    assert describe_dependents((), ["deployment", "arm"]) == (
        "No known dependents. Not known: the lists of deployment, arm could not be read."
    )


def test_records_of_odd_shapes_hang_on_nothing() -> None:
    odd: dict[type[Record], Any] = {
        Deployment: [Deployment({"connection_id": 7})], Arm: [Arm({})], Run: [Run({"current": "x"})],
        Template: [Template({"catalog_row": []})],
    }  # fmt: skip
    assert found(SourceConnection({"connection_id": "conn_1"}), odd) == {}
    assert found(Verifier({"verifier_id": "v"}), odd) == {}
