"""Files of records: every kind by its members, broken lines told, and nothing of a file lost without a word."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.api.decoding.decoder import SLICED_DECODE_BYTES
from runwatch.base.errors import UsageError
from runwatch.records.record import Record
from runwatch.view.export import record_file as module
from runwatch.view.export.file_formats import encode_for_file, export_records
from runwatch.view.export.record_file import RecordFile, read_records, record_from_json
from runwatch.view.problems.support_bundle import BUNDLE_FORMAT
from runwatch.view.resources.registry import RESOURCES, resource_for_kind
from tests.support import resources
from tests.support.builders import account, echo_events, echo_receipt, live_receipt, open_run, problem, run
from tests.support.problems import entry_from_problem
from tests.view.strategies import CONTEXT, NOW

LISTS: dict[str, Any] = {
    "run": lambda: [run("ex_1"), open_run("ex_2")], "receipt": lambda: [echo_receipt("ex_1"), live_receipt("ex_2")],
    "event": lambda: echo_events("ex_1"), "account": lambda: [account()], **resources.LISTS,
}  # fmt: skip


def read(content: bytes | str) -> RecordFile:
    steps = read_records(content.encode() if isinstance(content, str) else content)
    while True:
        try:
            assert 0.0 <= next(steps) <= 1.0
        except StopIteration as end:
            filed: RecordFile = end.value
            return filed


def lines(raws: list[Any]) -> str:
    return "".join(f"{json.dumps(dict(raw))}\n" for raw in raws)


MEMBERS = (
    "execution_id", "status", "time", "instance", "code", "raw", "type", "method", "path", "attempt", "sent_bytes",
    "form", "problem", "arm_id",
)  # fmt: skip
KINDS = [spec.kind for spec in RESOURCES if spec.kind in LISTS]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["ndjson", "json"])
def test_what_is_exported_is_read_again_as_what_it_was(kind: str, form: Any) -> None:
    own: list[Record] = list(LISTS[kind]())
    text = "".join(
        export_records(form, resource_for_kind(kind), list(map(resource_for_kind(kind).subject, own)), CONTEXT)
    )
    found = read(encode_for_file(text))
    assert list(found.records) == [kind]
    assert [each.raw for each in found.records[kind].values()] == [each.raw for each in own]
    assert found.flaws() == ""
    assert found.main is resource_for_kind(kind)


def test_a_service_s_answer_is_a_list_too() -> None:
    page = {"executions": [dict(run("ex_1").raw)], "next_cursor": None}
    assert list(read(json.dumps(page)).records["run"]) == ["ex_1"]


def test_one_printed_record_is_one_record() -> None:
    assert list(read(json.dumps(dict(run("ex_1").raw), indent=2)).records["run"]) == ["ex_1"]


def test_kinds_may_be_mixed_and_the_most_frequent_leads() -> None:
    found = read(lines([run("ex_1").raw, echo_receipt("ex_1").raw, echo_receipt("ex_2").raw]))
    assert {kind: len(known) for kind, known in found.records.items()} == {"run": 1, "receipt": 2}
    assert found.main is resource_for_kind("receipt")


def test_lines_of_the_journal_are_known() -> None:
    entry = entry_from_problem(problem("not_found"), time=NOW, profile="work", method="GET", path="/v1/x", attempt=1)
    request = {"time": "2026-11-22T03:10:00.000Z", "method": "GET", "path": "/v1/x", "attempt": 1, "sent_bytes": 0}
    found = read(lines([entry.raw, request, problem("rate_limited").raw]))
    assert {kind: len(known) for kind, known in found.records.items()} == {"problem": 2, "request": 1}


def test_broken_lines_spoil_only_themselves_and_are_reported() -> None:
    text = lines([run("ex_1").raw]) + '{"execution_id": "cut\n' + "\n" + lines([run("ex_2").raw]) + "nonsense\n"
    found = read(text)
    assert list(found.records["run"]) == ["ex_1", "ex_2"]
    assert found.flaws() == "2 lines are no JSON, the first is line 2"


def test_a_broken_first_line_does_not_hide_the_others() -> None:
    found = read('{"execution_id": "cut\n' + lines([run("ex_1").raw, run("ex_2").raw]))
    assert found.count == 2
    assert "the first is line 1" in found.flaws()


def test_what_has_no_id_or_an_earlier_one_is_reported() -> None:
    found = read(lines([run("ex_1").raw, run("ex_1", "completed").raw, {"a": 1}]) + "[]\n")
    assert found.records["run"]["ex_1"].raw["status"] == "completed"
    assert found.flaws() == (
        "2 are not records that runwatch knows; 1 record repeats the id of another, of which the last counts"
    )


def test_a_bundle_with_two_entries_about_one_run_has_nothing_to_report() -> None:
    ends = [{"what": "run", "run_id": "ex_1", "state": "failed", "time": f"2026-11-22T03:1{n}:00.000Z"} for n in (0, 1)]
    found = read(json.dumps({"form": BUNDLE_FORMAT, "around": ends}))
    assert {kind: len(known) for kind, known in found.records.items()} == {"run": 1, "happening": 2}
    assert found.flaws() == ""


def test_separators_of_unicode_end_no_line() -> None:
    raw = dict(run("ex_\u2028_\u0085_\x0b").raw)
    text = json.dumps(raw, ensure_ascii=False) + "\r\n" + json.dumps(dict(run("ex_2").raw)) + "\r\n"
    assert list(read("\ufeff" + text).records["run"]) == ["ex_\u2028_\u0085_\x0b", "ex_2"]


@pytest.mark.parametrize("wrap", ["bare", "answer", "lines"])
def test_big_files_are_read_in_many_steps(wrap: str) -> None:
    raws = [dict(live_receipt(f"ex_{number}").raw) for number in range(2_000)]
    text = {"bare": json.dumps(raws), "answer": json.dumps({"receipts": raws}), "lines": lines(raws)}[wrap]
    assert len(text) > SLICED_DECODE_BYTES
    steps = list_of(text)
    assert len(steps) > 20
    assert steps == sorted(steps)
    assert read(text).count == 2_000


def list_of(text: str) -> list[float]:
    return list(read_records(text.encode()))


def test_a_big_list_of_a_member_that_is_last_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICED_DECODE_BYTES", 10)
    text = json.dumps({"receipts": [dict(echo_receipt("ex_1").raw)], "next_cursor": None, "total": 1})
    assert read(text).count == 1
    assert read(json.dumps(dict(run("ex_1").raw), indent=2)).count == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file is empty"),
        (b" \n ", "The file is empty"),
        (b"\xff\xfe{}", "not UTF-8 text"),
        (b"PK\x03\x04", "neither JSON nor lines"),
        (b"id,status\nex_1,failed\n", "neither JSON nor lines"),
        (b"{", "neither JSON nor lines"),
        (b'{"a": 1}', "The file has no record"),
        (b"[]", "The file has no record"),
        (b"[1, 2]", "The file has no record"),
        (b"{}\n{}\n", "The file has no record"),
        (b'{"a": NaN}', "neither JSON nor lines"),
        (b"[" * 5_000, "neither JSON nor lines"),
        (b'{"form": "runwatch-support-bundle"}', "The file has no record"),
    ],
)
def test_what_holds_no_records_is_refused_with_the_reason(content: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read(content)
    assert caught.value.hint


def test_a_table_of_csv_says_what_to_export_instead() -> None:
    with pytest.raises(UsageError) as caught:
        read("execution_id,status\nex_1,failed\n")
    assert "NDJSON" in str(caught.value.detail)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_content_is_read_or_refused(content: bytes) -> None:
    try:
        found = read(content)
    except UsageError:
        return
    assert found.count


@given(
    st.dictionaries(
        st.sampled_from(MEMBERS),
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.none(), max_size=1),
    )
)
def test_members_of_any_type_are_a_record_or_none(value: dict[str, Any]) -> None:
    record = record_from_json(value)
    assert record is None or isinstance(record.id, str)
