"""``list`` and ``show`` of every resource: exact in JSON, complete for users, filtered, with gaps shown."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from runwatch.api.operations import list_operation, read_operation
from runwatch.commands.cli.command_spec import CommandSpec
from runwatch.commands.cli.grammar import list_commands
from runwatch.view.resources.registry import resource_named
from tests.commands.here import Here
from tests.support import resources
from tests.support.builders import problem
from tests.support.receipts import echo_receipt, live_receipt
from tests.support.scripted import Said, ScriptedService

LISTS: Final[dict[str, str]] = {
    "models list": "models", "models deployments": "deployments", "models definitions": "definitions",
    "arms list": "arms", "verifiers list": "verifiers", "templates list": "templates", "agents list": "agents",
    "credentials list": "credentials", "github list": "github", "sources list": "sources",
    "sources list --available": "profiles", "proposals list": "proposals", "keys list": "keys",
    "webhooks list": "webhooks",
}  # fmt: skip
"""Every list command and its resource."""

SHOWS: Final = ("models", "arms", "verifiers", "templates", "agents", "proposals", "webhooks")

each_list = pytest.mark.parametrize("verb", LISTS)


def serve(service: ScriptedService, noun: str, records: list[Any] | None = None) -> list[dict[str, Any]]:
    """Have the service list some records of a resource and show each by its id."""
    spec = resource_named(noun)
    found = resources.LISTS[spec.kind]() if records is None else records
    raws = [dict(record.raw) for record in found]
    operation = list_operation(spec.record)
    assert spec.record.WIRE is not None
    service.say("GET", operation.path, Said(200, {spec.record.WIRE.items: raws, "next_cursor": None}))
    for record, raw in zip(found, raws, strict=True):
        service.say("GET", f"{operation.path}/{record.id}", Said(200, raw))
    return raws


@each_list
def test_a_list_is_exact_in_json_and_whole_for_people(runwatch: Here, service: ScriptedService, verb: str) -> None:
    raws = serve(service, LISTS[verb])
    assert runwatch(*verb.split(), "--json").json == raws
    assert runwatch(*verb.split(), "--format", "ndjson").json_lines == raws
    assert len(runwatch(*verb.split(), "--format", "csv").text.splitlines()) == len(raws) + 1
    shown = runwatch(*verb.split())
    assert (shown.code, shown.errors) == (0, "")
    for record in resources.LISTS[resource_named(LISTS[verb]).kind]():
        assert record.id in shown.text


@each_list
def test_an_empty_list_says_what_to_do_and_is_no_error(runwatch: Here, service: ScriptedService, verb: str) -> None:
    serve(service, LISTS[verb], [])
    shown = runwatch(*verb.split())
    assert (shown.code, shown.stdout) == (0, b"")
    assert shown.errors.strip() == resource_named(LISTS[verb]).empty
    assert runwatch(*verb.split(), "--json").json == []


def test_an_unknown_id_gets_the_nearest_one_and_the_command_that_lists_them(
    runwatch: Here, service: ScriptedService
) -> None:
    serve(service, "arms", [resources.arm("arm_01HX7")])
    service.say("GET", "/v1/arms/arm_01HX8", Said(404, problem("not_found")))
    outcome = runwatch("arms", "show", "arm_01HX8", code=1)
    assert "did you mean 'arm_01HX7'?" in outcome.errors
    assert "`runwatch arms list` shows what there is." in outcome.errors


@each_list
def test_a_service_without_the_list_is_a_refusal(runwatch: Here, service: ScriptedService, verb: str) -> None:
    outcome = runwatch(*verb.split(), "--json")
    assert (outcome.code, outcome.stdout) == (1, b"")
    assert "not_found" in outcome.errors
    assert f"this service offers no list of {LISTS[verb]}" in outcome.errors
    if found := re.search("runwatch ([a-z -]+) ID reads one", outcome.errors):
        assert runwatch(*found[1].split(), "none").code == 1
    assert found or verb != "receipts list"


@each_list
def test_a_list_is_cut_by_fields_and_filter(runwatch: Here, service: ScriptedService, verb: str) -> None:
    raws = serve(service, LISTS[verb])
    name = next(iter(raws[0]))
    listed = runwatch(*verb.split(), "--fields", name, "--json").json
    assert listed == [{name: raw[name]} for raw in raws]
    assert runwatch(*verb.split(), "--filter", "nobody-is-called-so", "--json").json == []


def test_filters_that_the_service_knows_are_sent_to_it_and_others_hold_here(
    runwatch: Here, service: ScriptedService
) -> None:
    raws = serve(service, "arms")
    words = ("arms", "list", "--kind", "model", "--status", "disabled", "--json")
    assert runwatch(*words).json == [raws[2]]
    assert service.requests("GET", "/v1/arms")[-1].head.query == {
        "kind": "model", "status": "disabled", "limit": "100",
    }  # fmt: skip
    raws = serve(service, "verifiers")
    assert runwatch("verifiers", "list", "--status", "degraded", "--json").json == [raws[1]]
    assert service.requests("GET", "/v1/verifiers")[-1].head.query == {"limit": "100"}
    serve(service, "proposals")
    assert runwatch("proposals", "list", "--arm-id", "arm_skill1", "--json").code == 0
    assert service.requests("GET", "/v1/proposals")[-1].head.query == {"arm_id": "arm_skill1", "limit": "100"}


def test_pages_are_read_to_the_end(runwatch: Here, service: ScriptedService) -> None:
    first, second = (dict(resources.arm(name).raw) for name in ("arm_1", "arm_2"))
    service.say(
        "GET", "/v1/arms", Said(200, {"arms": [first], "next_cursor": "c"}), Said(200, {"arms": [second]})
    )  # fmt: skip
    assert runwatch("arms", "list", "--json").json == [first, second]
    assert service.requests("GET", "/v1/arms")[1].head.query["cursor"] == "c"


@pytest.mark.parametrize("form", ["json", "ndjson", "csv", "table"])
def test_all_of_a_list_is_printed_as_its_beginning_is(runwatch: Here, service: ScriptedService, form: str) -> None:
    raws = [dict(make().raw) for make in (live_receipt, echo_receipt)]
    service.say("GET", "/v1/receipts", Said(200, {"receipts": [*raws, "no object"], "next_cursor": None}))
    words = ("receipts", "list", "--format", form)
    beginning, whole = runwatch(*words), runwatch(*words, "--limit", "0")
    assert raws[0]["execution_id"] in whole.text
    assert (whole.text, whole.errors) == (beginning.text, beginning.errors)
    assert "1 items of the list are not records" in whole.errors


@pytest.mark.parametrize("noun", SHOWS)
def test_a_record_is_shown_exactly_or_in_sections(runwatch: Here, service: ScriptedService, noun: str) -> None:
    raws = serve(service, noun)
    record_id = resources.LISTS[resource_named(noun).kind]()[0].id
    assert runwatch(noun, "show", record_id, "--json").json == raws[0]
    assert record_id in runwatch(noun, "show", record_id).text
    is_read_alone = read_operation(resource_named(noun).record) is not None
    assert is_read_alone == bool(service.requests("GET", f"{list_operation(resource_named(noun).record).path}/.*"))


@pytest.mark.parametrize("noun", SHOWS)
def test_a_record_that_is_not_there_is_a_refusal(runwatch: Here, service: ScriptedService, noun: str) -> None:
    serve(service, noun)
    outcome = runwatch(noun, "show", "nobody", "--json")
    assert (outcome.code, outcome.stdout) == (1, b"")


def test_a_model_is_also_found_by_its_key(runwatch: Here, service: ScriptedService) -> None:
    raws = serve(service, "models")
    assert runwatch("models", "show", "contoso/atlas-12b", "--json").json == raws[1]


def test_a_template_is_shown_with_blockers_and_what_clears_them(runwatch: Here, service: ScriptedService) -> None:
    serve(service, "templates")
    shown = runwatch("templates", "show", "pooled-open-model").text
    for words in ("Not eligible: 1 blocker.", "Blocker 1 pool_not_entitled", "Add credit, then plan again.",
                  "Alternative byok-open-model", "Plan with your own provider account."):  # fmt: skip
        assert words in shown


def test_an_answer_that_is_no_record_is_reported(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/arms/arm_1", Said(200, [1]))
    outcome = runwatch("arms", "show", "arm_1", code=1)
    assert "not a record" in outcome.errors


def test_a_key_that_is_not_permitted_exits_4(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/api-keys", Said(403, problem("permission_denied")))
    assert runwatch("keys", "list").code == 4


def test_every_list_verb_is_tested_here() -> None:
    generic = [
        verb
        for verb in list_commands()
        if verb.run in {"commands.resources:list_records", "commands.sources:list_sources"}
    ]
    assert {verb.name for verb in generic} == {" ".join(name.split()[:2]) for name in LISTS}


@pytest.mark.parametrize(
    "verb", [verb for verb in list_commands() if verb.run == "commands.resources:show"], ids=lambda v: v.name
)
def test_every_show_verb_is_tested_here(verb: CommandSpec) -> None:
    assert verb.path[0] in SHOWS
