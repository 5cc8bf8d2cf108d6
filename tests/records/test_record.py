"""The read side: exact values, nothing lost, nothing guessed, nothing spoiled by a wrong type."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import ExactNumber, dumps, loads
from runwatch.records import record as rec
from runwatch.records.account import Account
from runwatch.records.event import RunEvent
from runwatch.records.problem import Problem
from runwatch.records.receipt import Receipt
from runwatch.records.record import Page, Record, Wire
from runwatch.records.run import Run, RunResult
from tests.support import builders
from tests.view.strategies import garbage, json_values, many, texts

KINDS = (Run, RunEvent, RunResult, Receipt, Account, Problem)


class Part(Record):
    size = rec.integer("size")


class Sample(Record):
    """A record with a member of every type."""

    KIND = "sample"
    WIRE = Wire("/v1/samples", "samples", "sample_id")

    sample_id = rec.text("sample_id")
    flag = rec.flag("flag")
    count = rec.integer("count")
    price = rec.amount("price")
    at = rec.moment("at")
    tags = rec.texts("tags")
    open = rec.mapping("open")
    any = rec.anything("any")
    part = rec.one(Part, "part")
    parts = rec.many(Part, "parts")


@pytest.mark.parametrize("name", Sample.MEMBERS)
def test_a_member_that_is_missing_or_null_reads_as_nothing_and_is_no_flaw(name: str) -> None:
    for sample in (Sample({}), Sample({name: None})):
        assert getattr(sample, name) is None
        assert sample.flaws() == ()


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("sample_id", "s", "s"),
        ("flag", False, False),
        ("count", 0, 0),
        ("count", -(10**30), -(10**30)),
        ("price", 1, Decimal(1)),
        ("price", 0.1, Decimal("0.1")),
        ("price", ExactNumber("0.10"), Decimal("0.10")),
        ("price", ExactNumber("12345678901234567890.12"), Decimal("12345678901234567890.12")),
        ("at", "2026-11-20T10:00:00Z", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("at", "2026-11-20T10:00:00", datetime(2026, 11, 20, 10, tzinfo=UTC)),
        ("at", "2026-11-20T10:00:00+02:00", datetime(2026, 11, 20, 10, tzinfo=timezone(timedelta(hours=2)))),
        ("tags", [], ()),
        ("tags", ["a", "b"], ("a", "b")),
        ("open", {"x": 1}, {"x": 1}),
        ("any", [1, "x"], [1, "x"]),
        ("part", {"size": 2}, Part({"size": 2})),
        ("parts", [{"size": 2}, "no object", {}], (Part({"size": 2}), Part({}))),
    ],
)
def test_a_member_of_the_right_type_reads_as_its_value(name: str, raw: object, value: object) -> None:
    assert getattr(Sample({name: raw}), name) == value


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("sample_id", 5),
        ("flag", 1),
        ("flag", "true"),
        ("count", True),
        ("count", 1.0),
        ("count", "1"),
        ("price", "0.1"),
        ("price", True),
        ("price", ExactNumber("1e400000")),
        ("price", ExactNumber("1e-400000")),
        ("at", 1732096800),
        ("at", "yesterday"),
        ("tags", ["a", 1]),
        ("tags", "a"),
        ("open", []),
        ("part", [{}]),
        ("parts", {"0": {}}),
    ],
)
def test_a_member_of_another_type_reads_as_nothing_is_a_flaw_and_is_kept(name: str, raw: object) -> None:
    sample = Sample({name: raw, "sample_id": "s"} if name != "sample_id" else {name: raw})
    assert getattr(sample, name) is None
    assert sample.flaws() == (name,)
    assert sample.raw[name] is raw


def test_flaws_name_the_path_of_nested_members() -> None:
    sample = Sample({"part": {"size": "x"}, "parts": [{"size": 1}, 7, {"size": "x"}, {"size": "y"}], "tags": ["a"]})
    assert sample.flaws() == ("part.size", "parts[1]", "parts[2].size", "parts[3].size")


def test_unknown_members_are_kept_in_the_order_they_came() -> None:
    sample = Sample({"z": 1, "flag": True, "a": None})
    assert list(sample.unknown().items()) == [("z", 1), ("a", None)]


def test_a_record_cannot_be_changed() -> None:
    run = builders.run()
    with pytest.raises(AttributeError, match="frozen"):
        run.status = "failed"
    assert run.status == "running"


def test_records_are_equal_when_kind_and_json_are() -> None:
    assert builders.run() == builders.run()
    assert builders.run() != builders.run(status="failed")
    assert Run({"execution_id": "a"}) != Receipt({"execution_id": "a"})
    assert Run({}) != {}
    assert copy.deepcopy(builders.run()) == builders.run()


def test_records_are_not_hashable_because_their_json_is_not() -> None:
    with pytest.raises(TypeError):
        hash(builders.run())


def test_the_name_of_a_record_shows_its_id_and_never_its_content() -> None:
    assert repr(builders.run("ex_1")) == "<Run ex_1>"
    assert repr(builders.result()).count("First point") == 0
    assert repr(Part({"size": 1})) == "<Part>"


@pytest.mark.parametrize(
    ("raw", "name"), [("ex_1", "ex_1"), (None, ""), (17, "17"), (ExactNumber("1.50"), "1.50"), ([1], "[1]")]
)
def test_an_id_of_any_type_becomes_text(raw: object, name: str) -> None:
    assert Run({"execution_id": raw}).id == name


def test_an_id_nested_beyond_the_interpreter_is_no_id() -> None:
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    assert Run({"execution_id": deep}).id == ""


@pytest.mark.hypothesis
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_comes_can_be_read_without_an_error(kind: type[Record]) -> None:
    @many
    @given(garbage(kind))
    def check(raw: dict[str, Any]) -> None:
        record = kind(raw)
        for name in kind.MEMBERS:
            getattr(record, {"raw": "body"}.get(name, name), None)
        assert isinstance(record.id, str)
        assert set(record.unknown()) == set(raw) - set(kind.MEMBERS)
        assert all(isinstance(path, str) for path in record.flaws())
        assert dumps(loads(record.json())) == dumps(raw)

    check()


@many
@given(st.dictionaries(texts, json_values))
def test_a_flaw_is_exactly_a_value_that_reads_as_nothing(raw: dict[str, Any]) -> None:
    for name in Sample.MEMBERS:
        for value in raw.values():
            sample = Sample({name: value})
            if value is not None and name not in {"part", "parts"}:
                assert (getattr(sample, name) is None) == (sample.flaws() == (name,))


def test_subclasses_collect_their_own_and_inherited_members() -> None:
    class More(Sample):
        extra = rec.text("extra")

    assert list(More.MEMBERS) == [*Sample.MEMBERS, "extra"]
    assert "extra" not in Sample.MEMBERS


def test_a_page_counts_the_items_that_are_no_records() -> None:
    values = [{"execution_id": "a"}, "junk", None]
    page = Page(values, [Run(values[0])], next_cursor="c", end_is_proven=False)  # type: ignore[arg-type]
    assert page.misfits == 2
    assert page.extra == {}
