"""``usage``, ``evals``, ``compliance export``, ``receipts compare|export`` and ``open``."""

from __future__ import annotations

import json
import stat
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import ECHO, FAILED, LIVE
from tests.commands.here import Here
from tests.support import resources
from tests.support.builders import echo_events, problem
from tests.support.scripted import Said, ScriptedService

EXPORT = "/v1/compliance-export"


@pytest.mark.parametrize(
    ("words", "path", "record"),
    [
        (("usage",), "/v1/usage", resources.usage()),
        (("evals",), "/v1/eval-summary", resources.eval_summary()),
        (("compliance", "export"), EXPORT, resources.compliance_export()),
    ],
)
def test_a_report_is_exact_or_in_sections(
    runwatch: Here, service: ScriptedService, words: tuple[str, ...], path: str, record: Any
) -> None:
    service.say("GET", path, Said(200, record))
    assert runwatch(*words, "--json").json == dict(record.raw)
    assert "2026-11-30" in runwatch(*words).text
    assert runwatch(*words, "--first-day", "2026-11-01", "--last-day", "2026-11-30").code == 0
    assert service.requests("GET", path)[-1].head.query == {"from": "2026-11-01", "to": "2026-11-30"}
    service.say("GET", path, Said(403, problem("permission_denied")))
    assert runwatch(*words).code == 4


def test_a_month_excludes_days(runwatch: Here, service: ScriptedService) -> None:
    service.say("GET", "/v1/usage", Said(200, resources.usage()))
    assert runwatch("usage", "--period", "2026-11").code == 0
    assert service.requests("GET", "/v1/usage")[-1].head.query == {"period": "2026-11"}
    assert runwatch("usage", "--period", "2026-11", "--from", "2026-11-01").code == 2


@pytest.mark.parametrize(("name", "days"), [("today", 0), ("7d", 6), ("30d", 29)])
def test_a_period_by_name_becomes_the_days_that_it_means_now(
    runwatch: Here, service: ScriptedService, name: str, days: int
) -> None:
    service.say("GET", "/v1/usage", Said(200, resources.usage()))
    assert runwatch("usage", "--period", name).code == 0
    asked = service.requests("GET", "/v1/usage")[-1].head.query
    first, last = (date.fromisoformat(asked[end]) for end in ("from", "to"))
    assert (last - first).days == days
    assert "period" not in asked


def test_a_compliance_export_is_written_whole_and_for_this_user_alone(
    runwatch: Here, service: ScriptedService, tmp_path: Path
) -> None:
    service.say("GET", EXPORT, Said(200, resources.compliance_export()))
    file = tmp_path / "export.json"
    outcome = runwatch("compliance", "export", "--output", str(file))
    assert (outcome.code, outcome.stdout) == (0, b"")
    assert json.loads(file.read_text()) == dict(resources.compliance_export().raw)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "is the SHA-256 of receipts_ndjson" in outcome.errors
    nowhere = runwatch("compliance", "export", "--output", str(tmp_path / "export.json" / "x"), code=1)
    assert "cannot be written" in nowhere.errors


def test_a_digest_of_something_else_is_reported(runwatch: Here, service: ScriptedService) -> None:
    other = resources.compliance_export(attestation={"algorithm": "sha256", "digest": "00"})
    service.say("GET", EXPORT, Said(200, other))
    assert "is not the SHA-256" in runwatch("compliance", "export").errors


def test_receipts_are_compared_value_by_value(runwatch: Here, service: ScriptedService) -> None:
    rows = {row["path"]: row for row in runwatch("receipts", "compare", ECHO, FAILED, "--json").json}
    assert rows["mode"] == {"path": "mode", "left": "echo", "right": "live"}
    assert rows["status"]["right"] == "failed"
    assert "right" not in rows["slices[0].cost.waiver.reason"]
    shown = runwatch("receipts", "compare", ECHO, FAILED).text
    assert '"echo"' in shown
    assert "(none)" in shown
    same = runwatch("receipts", "compare", ECHO, ECHO)
    assert (same.code, same.stdout, same.errors.strip()) == (0, b"", "the receipts are the same")
    assert runwatch("receipts", "compare", ECHO, ECHO, "--json").json == []
    assert runwatch("receipts", "compare", ECHO, "nobody").code == 1


def test_receipts_are_exported_line_by_line(runwatch: Here, service: ScriptedService, tmp_path: Path) -> None:
    assert runwatch("receipts", "export").json_lines == service.receipts
    file = tmp_path / "receipts.ndjson"
    outcome = runwatch("receipts", "export", "--status", "failed", "--output", str(file))
    assert (outcome.code, outcome.stdout) == (0, b"")
    assert [json.loads(line) for line in file.read_text().splitlines()] == [service.receipts[2]]
    assert "1 receipt\n" in outcome.errors
    assert runwatch("open", str(file)).text.count(FAILED) == 1


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_what_a_verb_printed_is_opened_again_without_a_service(
    runwatch: Here, service: ScriptedService, form: str
) -> None:
    for words in (("runs", "list"), ("receipts", "list"), ("receipts", "show", LIVE), ("runs", "show", LIVE)):
        printed = runwatch(*words, "--format", form)
        before = len(service.heard)
        opened = runwatch("open", "-", "--format", form, stdin=printed.stdout)
        assert (opened.code, opened.stdout) == (0, printed.stdout)
        assert LIVE in runwatch("open", "-", stdin=printed.stdout).text
        assert len(service.heard) == before


def test_answers_events_and_problems_are_opened_too(runwatch: Here) -> None:
    page = {"arms": [dict(resources.arm().raw)], "next_cursor": None}
    assert "Ember 7B Instruct" in runwatch("open", "-", stdin=json.dumps(page).encode()).text
    lines = "\n".join(event.json() for event in echo_events(ECHO))
    assert len(runwatch("open", "-", "--json", stdin=lines.encode()).json) == len(echo_events(ECHO))
    told = problem("rate_limited", retry_after_s=20)
    shown = runwatch("open", "-", stdin=told.json().encode())
    assert "rate_limited" in shown.text
    assert str(told.instance) in shown.text


@pytest.mark.parametrize("count", [1, 4])
def test_a_file_that_was_cut_gives_its_whole_lines_and_says_which_one_is_not(runwatch: Here, count: int) -> None:
    whole = [dict(resources.arm(f"arm_{number}").raw) for number in range(count)]
    content = "\n".join(map(json.dumps, [*whole, whole[0]]))[:-20].encode()
    outcome = runwatch("open", "-", "--json", stdin=content, code=2)
    assert outcome.json == whole
    assert f"1 line is no JSON, the first is line {count + 1}" in outcome.errors
    assert "arm_0" in runwatch("open", "-", stdin=content, code=2).text


@pytest.mark.parametrize("content", [b"", b"{", b"1", b'"x"', b"[]", b"{}", b'{"a": 1}', b"[1, 2]", b"a\nb"])
def test_what_is_no_record_is_refused(runwatch: Here, content: bytes) -> None:
    outcome = runwatch("open", "-", stdin=content)
    assert (outcome.code, outcome.stdout) == (2, b"")


def test_a_file_that_is_not_there_is_named(runwatch: Here) -> None:
    outcome = runwatch("open", "/nowhere/at-all.json", code=2)
    assert "/nowhere/at-all.json" in outcome.errors


@pytest.mark.parametrize(
    ("ending", "begins"),
    [("ndjson", '{"execution_id"'), ("csv", "execution_id,"), ("json", "[\n{"), ("md", "| status |")],
)
def test_the_ending_of_the_file_says_how_receipts_are_written(
    runwatch: Here, service: ScriptedService, tmp_path: Path, ending: str, begins: str
) -> None:
    file = tmp_path / f"kept.{ending}"
    outcome = runwatch("receipts", "export", "--output", str(file))
    assert (outcome.code, outcome.stdout) == (0, b"")
    assert f"{len(service.receipts)} receipts" in outcome.errors
    assert file.read_text("utf-8").startswith(begins)
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_unknown_ending_is_refused_before_anything_is_read(
    runwatch: Here, service: ScriptedService, tmp_path: Path
) -> None:
    outcome = runwatch("receipts", "export", "--output", str(tmp_path / "kept.xlsx"), code=2)
    assert ".ndjson, .csv, .json, .md" in outcome.errors
    assert service.heard == []


def test_an_export_makes_no_directory(runwatch: Here, service: ScriptedService, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    outcome = runwatch("receipts", "export", "--output", str(missing / "a.csv"), code=2)
    assert f"There is no directory '{missing}'" in outcome.errors
    assert not missing.exists()
    assert service.heard == []


def test_an_export_takes_a_filter(runwatch: Here, service: ScriptedService) -> None:
    wanted = service.receipts[0]["execution_id"]
    assert runwatch("receipts", "export", "--filter", f"run={wanted}").json_lines == [service.receipts[0]]
