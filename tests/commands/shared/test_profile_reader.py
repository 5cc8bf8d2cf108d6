"""``--profile A,B`` and ``--profile all``: several services in one answer, and none hides another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.commands.cli.grammar import list_commands
from tests.commands.here import Here
from tests.commands.test_resources import serve
from tests.support import resources
from tests.support.builders import account, echo_receipt, problem
from tests.support.scripted import Said, ScriptedService, running_service

TEMPLATES: Final = "/v1/tenant-templates"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[ScriptedService]:
    with running_service(ScriptedService(receipts=[echo_receipt("ex_home")])) as running:
        yield running


@pytest.fixture
def work(tmp_path: Path) -> Iterator[ScriptedService]:
    with running_service(ScriptedService(receipts=[echo_receipt("ex_work")])) as running:
        yield running


@pytest.fixture
def both(runwatch: Here, work: ScriptedService, home: ScriptedService, tmp_path: Path) -> Here:
    """The command line with a profile for each of them, each with its own key."""
    text = ""
    for name, service in (("work", work), ("home", home)):
        (tmp_path / f"{name}.key").write_text(f"key-of-{name}\n", "utf-8")
        text += f'[profiles.{name}]\nbase_url = "{service.base_url}"\nkey_command = "cat {tmp_path}/{name}.key"\n'
    runwatch.settings_file.write_text(text, "utf-8")
    runwatch.settings_file.chmod(0o600)
    return runwatch


def keys_heard(service: ScriptedService) -> set[str | None]:
    return {heard.head.header("authorization") for heard in service.requests()}


def test_a_table_names_the_profile_of_each_row(both: Here) -> None:
    shown = both("receipts", "list", "--profile", "work,home")
    assert (shown.code, shown.errors) == (0, "")
    head, *rows = shown.text.splitlines()
    assert head.startswith("profile")
    assert [(row.split()[0], "ex_" + row.split()[0] in row) for row in rows] == [("work", True), ("home", True)]


def test_each_service_hears_its_own_key_alone(both: Here, work: ScriptedService, home: ScriptedService) -> None:
    assert both("receipts", "list", "--profile", "all").code == 0
    assert (keys_heard(work), keys_heard(home)) == ({"Bearer key-of-work"}, {"Bearer key-of-home"})


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_json_keeps_each_record_exact_beside_its_profile(both: Here, form: str) -> None:
    shown = both("receipts", "list", "--profile", "home,work", "--format", form)
    found = shown.json if form == "json" else shown.json_lines
    assert found == [
        {"profile": "home", "record": dict(echo_receipt("ex_home").raw)},
        {"profile": "work", "record": dict(echo_receipt("ex_work").raw)},
    ]
    (only,) = both("receipts", "list", "--profile", "work", "--json").json
    assert only == dict(echo_receipt("ex_work").raw)


def test_one_profile_in_a_list_keeps_the_form_of_several(both: Here) -> None:
    (found,) = both("receipts", "list", "--profile", "work,", "--json").json
    assert found["profile"] == "work"


def test_csv_has_the_profile_in_front(both: Here) -> None:
    head, *rows = both("receipts", "list", "--profile", "all", "--format", "csv").text.splitlines()
    assert head.startswith("profile,execution_id,")
    assert [row.split(",")[:2] for row in rows] == [["work", "ex_work"], ["home", "ex_home"]]
    fields = both("receipts", "list", "--profile", "all", "--fields", "status", "--format", "csv").text.splitlines()
    assert fields == ["profile,status", "work,completed", "home,completed"]


def test_a_filter_knows_the_profile(both: Here) -> None:
    shown = both("receipts", "list", "--profile", "all", "--filter", "profile:home", "--json")
    assert (shown.code, shown.errors) == (0, "")
    assert [one["profile"] for one in shown.json] == ["home"]


def test_a_profile_that_fails_is_named_and_hides_nothing(both: Here, work: ScriptedService) -> None:
    work.say("GET", "/v1/receipts", Said(403, problem("permission_denied")))
    shown = both("receipts", "list", "--profile", "all")
    assert shown.code == 4
    assert shown.errors.startswith("runwatch: work: ")
    assert "ex_home" in shown.text
    told = both("receipts", "list", "--profile", "all", "--json")
    assert [one["profile"] for one in told.json] == ["home"]
    assert '{"profile":"work",' in told.errors.replace(" ", "")


def test_an_unknown_profile_fails_alone(both: Here) -> None:
    shown = both("receipts", "list", "--profile", "wrok,home")
    assert shown.code == 2
    assert "wrok" in shown.errors
    assert "ex_home" in shown.text


def test_all_includes_the_service_of_the_environment_with_its_own_key(
    both: Here, work: ScriptedService, home: ScriptedService
) -> None:
    with running_service(ScriptedService(receipts=[echo_receipt("ex_given")])) as given:
        both.use(given.base_url)
        shown = both("receipts", "list", "--profile", "all", "--json", code=0)
        assert [each["profile"] for each in shown.json] == ["environment", "work", "home"]
        heard = [keys_heard(service) for service in (given, work, home)]
    assert heard == [{"Bearer k"}, {"Bearer key-of-work"}, {"Bearer key-of-home"}]


def test_several_profiles_and_one_address_contradict_each_other(both: Here, work: ScriptedService) -> None:
    assert both("receipts", "list", "--profile", "work,home", "--local").code == 2
    both.use(work.base_url)
    assert both("receipts", "list", "--profile", "work,home").code == 2
    assert work.requests() == []


def test_all_needs_a_profile(runwatch: Here) -> None:
    told = runwatch("receipts", "list", "--profile", "all").errors
    assert "no profile" in told
    assert "runwatch config set profiles.NAME.base_url https://HOST" in told
    assert "names no profile" in runwatch("receipts", "list", "--profile", ",").errors


def test_templates_of_the_same_id_are_distinguished(both: Here, work: ScriptedService, home: ScriptedService) -> None:
    serve(work, "templates", [resources.template(eligible=False)])
    serve(home, "templates", [resources.template()])
    rows = both("templates", "list", "--profile", "all").text.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["work", "home"]
    assert ["blocked" in row for row in rows] == [True, False]


def test_usage_is_side_by_side_with_a_total(both: Here, work: ScriptedService, home: ScriptedService) -> None:
    for service in (work, home):
        service.say("GET", "/v1/usage", Said(200, resources.usage()))
        service.say("GET", "/v1/account", Said(200, account()))
    shown = both("usage", "--profile", "home,work")
    assert (shown.code, shown.errors) == (0, "")
    assert shown.text.splitlines() == [
        "profile  period          runs   usage     fee     USD  quota used",
        "home     11-01 to 11-30    37  0.5200  1.1000  1.6200   37 of 500",
        "work     11-01 to 11-30    37  0.5200  1.1000  1.6200   37 of 500",
        "",
        "2 profiles: 74 runs, 1.04 usage + 2.20 fee = 3.24 USD",
    ]


def test_usage_of_a_profile_that_fails_is_no_part_of_the_total(
    both: Here, work: ScriptedService, home: ScriptedService
) -> None:
    work.say("GET", "/v1/usage", Said(403, problem("permission_denied")))
    home.say("GET", "/v1/usage", Said(200, resources.usage()))
    home.say("GET", "/v1/account", Said(403, problem("permission_denied")))
    shown = both("usage", "--profile", "all")
    assert shown.code == 4
    assert "work: " in shown.errors
    assert "home: the quota cannot be read: " in shown.errors
    _, row = shown.text.splitlines()
    assert row.split()[0] == "home"
    assert row.endswith("–")


def test_usage_in_json_and_csv_is_exact(both: Here, work: ScriptedService, home: ScriptedService) -> None:
    for service in (work, home):
        service.say("GET", "/v1/usage", Said(200, resources.usage()))
    exact: list[dict[str, Any]] = both("usage", "--profile", "home,work", "--json").json
    assert exact == [{"profile": name, "record": dict(resources.usage().raw)} for name in ("home", "work")]
    assert len(both("usage", "--profile", "all", "--format", "csv").text.splitlines()) == 3


def test_problems_are_those_of_the_profiles_that_are_named(
    both: Here, work: ScriptedService, home: ScriptedService
) -> None:
    for service in (work, home):
        service.say("GET", "/v1/receipts", Said(403, problem("permission_denied")))
    both("receipts", "list", "--profile", "all")

    def profiles(*words: str) -> list[str]:
        return sorted(one["profile"] for one in both("problems", "list", "--json", *words).json)

    assert profiles("--profile", "work,home") == profiles("--profile", "all") == ["home", "work"]
    assert profiles("--profile", "home") == ["home"]
    assert profiles("--profile", "home,other") == ["home"]


def test_problems_of_several_profiles_have_the_profile_in_front(
    both: Here, work: ScriptedService, home: ScriptedService
) -> None:
    for service in (work, home):
        service.say("GET", "/v1/receipts", Said(403, problem("permission_denied")))
    both("receipts", "list", "--profile", "all")
    head, *rows = both("problems", "list", "--profile", "work,home").text.splitlines()
    assert head.split()[:2] == ["profile", "time"]
    assert sorted(row.split()[0] for row in rows) == ["home", "work"]
    assert both("problems", "list", "--profile", "home").text.split()[0] == "time"


def test_the_report_on_templates_has_a_part_for_each_profile(
    both: Here, work: ScriptedService, home: ScriptedService, tmp_path: Path
) -> None:
    serve(work, "templates", [resources.template(eligible=False)])
    home.say("GET", TEMPLATES, Said(503, b"gone", content_type="text/plain"))
    file = tmp_path / "report.md"
    outcome = both("templates", "report", "--profile", "all", "--output", str(file))
    assert outcome.code == 3
    text = file.read_text("utf-8")
    assert "## Profile work\n\n1 template, 1 blocked.\n" in text
    assert "## Profile home\n\nNot read: " in text
    serve(home, "templates", [resources.template()])
    rows = both("templates", "report", "--profile", "all", "--format", "csv").text.splitlines()
    assert [row.split(",")[:2] for row in rows] == [["profile", "template"], ["work", "starter"], ["home", "starter"]]
    assert both("templates", "report", "--profile", "all", "--json").json[0]["profile"] == "work"


def test_the_help_of_every_such_verb_says_what_json_becomes(runwatch: Here) -> None:
    several = [verb.path for verb in list_commands() if any("A,B or all" in flag.help for flag in verb.flags)]
    for path in (("templates", "list"), ("templates", "report"), ("receipts", "list"), ("usage",)):
        assert path in several
        assert "{profile, record}" in " ".join(runwatch(*path, "--help").text.split())
