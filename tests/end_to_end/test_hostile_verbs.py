"""No text of a service reaches a terminal as more than text, through any command in any format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import event
from tests.support.cli import Cli, Outcome, assert_plain
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.packed import kinds, packed
from tests.support.screen import foreign_controls
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.terminal import Terminal

FORMATS = ("table", "json", "ndjson", "csv")
RUN_ID = "ex_hostile"
TEXTS = [entry.text for entry in CORPUS]
EVENT_KINDS = [kind for kind in kinds() if "event" in kind]
RECEIPT_KINDS = [kind for kind in kinds() if "receipt" in kind]
Raw = dict[str, Any]


def raw_of(kind: str, text: str, *keep: str) -> Raw:
    """A packed record as plain data."""
    return dict(packed(kind, text, keep=keep).raw)


def whole(kind: str, *keep: str, **over: Any) -> Raw:
    """One record that carries the whole corpus: all short entries in every string, and one member for each entry."""
    raw = raw_of(kind, ALL_AT_ONCE.text, *keep)
    for text in TEXTS:
        raw.setdefault(text, text)
    return raw | over


def hostile_events() -> list[Raw]:
    """Every entry in some kind of event, its id included, and the end of the run."""
    events = [raw_of(EVENT_KINDS[number % len(EVENT_KINDS)], text) for number, text in enumerate(TEXTS)]
    return [*events, dict(event(9999, "completed", execution_id=RUN_ID).raw)]


@pytest.fixture(scope="module")
def service() -> Iterator[ScriptedService]:
    """Answers every read with hostile records."""
    script = ScriptedService(
        runs=[whole("run", execution_id=RUN_ID, status="completed"), *(raw_of("run", text) for text in TEXTS)],
        events={RUN_ID: hostile_events()},
        receipts=[
            whole("live receipt", execution_id=RUN_ID, status="completed"),
            *(raw_of(RECEIPT_KINDS[number % len(RECEIPT_KINDS)], text) for number, text in enumerate(TEXTS)),
        ],
        results={RUN_ID: whole("result", execution_id=RUN_ID)}, account=whole("account"),
        submitted=[whole("run", execution_id=RUN_ID, status="completed") for _ in range(20)],
    )  # fmt: skip
    script.say(
        "POST", f"/v1/executions/{RUN_ID}/cancel", Said(200, whole("run", execution_id=RUN_ID, status="cancelled"))
    )
    with running_service(script) as running:
        yield running


@pytest.fixture
def cli(service: ScriptedService, tmp_path: Path) -> Cli:
    return Cli(tmp_path, base_url=service.base_url, api_key="k")


def records_of(outcome: Outcome, form: str) -> list[Any]:
    """The records that a list command printed as JSON."""
    if form == "ndjson":
        return outcome.json_lines
    printed = outcome.json
    return printed if isinstance(printed, list) else [printed]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["runs", "receipts"])
def test_a_list_of_hostile_records_is_printed_plainly_and_exactly(
    cli: Cli, service: ScriptedService, kind: str, form: str
) -> None:
    outcome = cli(kind, "list", "--limit", "0", "--format", form)
    records = getattr(service, kind)
    assert_plain(outcome)
    assert outcome.code == 0
    if "json" in form:
        assert records_of(outcome, form) == records
    else:
        assert len(outcome.text.splitlines()) >= len(records)


SINGLE = {
    f"runs show {RUN_ID}": whole("run", execution_id=RUN_ID, status="completed"),
    f"receipts show {RUN_ID}": whole("live receipt", execution_id=RUN_ID, status="completed"),
    f"runs result {RUN_ID}": whole("result", execution_id=RUN_ID),
    "account": whole("account"),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("verb", SINGLE)
def test_a_single_hostile_record_is_printed_plainly_and_exactly(cli: Cli, verb: str, form: str) -> None:
    outcome = cli(*verb.split(), "--format", form)
    assert_plain(outcome)
    assert outcome.code == 0
    if "json" in form:
        assert records_of(outcome, form) == [SINGLE[verb]]


@pytest.mark.parametrize("verb", ["events", "watch"])
@pytest.mark.parametrize("form", FORMATS)
def test_hostile_events_are_printed_plainly_exactly_and_once(cli: Cli, verb: str, form: str) -> None:
    outcome = cli("runs", verb, RUN_ID, "--format", form)
    assert_plain(outcome)
    assert outcome.code == 0
    if "json" in form:
        assert outcome.json_lines == hostile_events()


@pytest.mark.parametrize("form", FORMATS)
def test_a_hostile_answer_to_a_write_is_printed_plainly(cli: Cli, form: str) -> None:
    limits = ("--data-class", "public", "--max-cost-usd", "1", "--max-runtime-s", "60")
    submit = cli("runs", "submit", "--mode", "echo", "--objective", "x", *limits, "--format", form)
    assert_plain(submit)
    assert submit.code == 0
    cancel = cli("runs", "cancel", RUN_ID, "--yes", "--format", form)
    assert_plain(cancel)
    assert cancel.code == 0
    if "json" in form:
        assert records_of(submit, form) == [whole("run", execution_id=RUN_ID, status="completed")]


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", FORMATS)
def test_the_doctor_looks_at_a_hostile_service_plainly(cli: Cli, form: str) -> None:
    assert_plain(cli("doctor", "--format", form))


LIST_ON_A_TERMINAL = {
    "runs list": ["runs", "list"],
    "receipts list": ["receipts", "list"],
    "runs show": ["runs", "show", RUN_ID],
    "receipts show": ["receipts", "show", RUN_ID],
    "runs events": ["runs", "events", RUN_ID],
    "account": ["account"],
}


@pytest.mark.parametrize("words", LIST_ON_A_TERMINAL.values(), ids=LIST_ON_A_TERMINAL)
def test_on_a_terminal_hostile_records_change_nothing_but_its_lines(cli: Cli, words: list[str]) -> None:
    with Terminal(cli.command(*words), env=cli.environment, columns=100, rows=30) as terminal:
        assert terminal.wait_exit() == 0
        assert terminal.flags == terminal.flags_before
    assert foreign_controls(bytes(terminal.raw), renderer=True) == []
    assert terminal.screen.modes == {7, 25}
    assert not terminal.screen.is_alternate
    assert terminal.screen.bells == 0


def test_numbers_come_back_with_the_digits_they_were_sent_with(cli: Cli, service: ScriptedService) -> None:
    digits = ["0.10", "1e400", "-0.0", "12345678901234567890123", "1E-7", "3.14159265358979323846264338327950288"]
    numbers = ", ".join(f'"n{position}": {literal}' for position, literal in enumerate(digits))
    body = f'{{"execution_id": "ex_numbers", "status": "completed", "spend_usd": 0.10, {numbers}}}'
    service.say("GET", "/v1/executions/ex_numbers", Said(200, body.encode()))
    printed = cli("runs", "show", "ex_numbers", "--json")
    assert_plain(printed)
    for literal in ("0.10", *digits):
        assert f": {literal}" in printed.text or f":{literal}" in printed.text
