"""The filter grammar: what it finds, what it refuses and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.clock import format_iso
from runwatch.records.run import Run
from runwatch.view.query import expressions
from runwatch.view.query.expressions import Query, QueryError
from runwatch.view.query.parser import FILTER_FORMS, MAX_FILTER_CHARACTERS, parse_filter
from runwatch.view.query.server_filter import server_parameters
from runwatch.view.resources.registry import resource_named
from runwatch.view.table import rows
from tests.support import builders
from tests.view.strategies import CONTEXT, NOW, few, many, subjects

RUNS = resource_named("runs")
RECEIPTS = resource_named("receipts")


def run(name: str, status: str, minutes: int, **over: Any) -> Run:
    created = format_iso(NOW - timedelta(minutes=minutes))
    return builders.run(name, status, created_at=created, **over)


FLEET = [
    run("ex_live", "running", 1, mode="live", spend_usd=0.014, policy={"budget": {"max_cost_usd": 0.5}}),
    run("ex_echo", "completed", 5, mode="echo", spend_usd=0),
    run("ex_fail", "failed", 20, mode="live", spend_usd=0.6, reason="no_eligible_arms"),
    run("ex_Fail2", "failed", 90, mode="live", reason='fallback_exhausted "twice"'),
    run("ex_odd", "hovering", 3000, x={"remark": "two words"}, policy={"data_classes": ["public", "sandbox"]}),
]


def found(text: str, named: Mapping[str, str] | None = None) -> str:
    """The short names of the runs that a filter keeps."""
    query = parse_filter(text, RUNS, named=named)
    kept = query.keep(rows.build_rows(RUNS, FLEET, CONTEXT))
    return " ".join(row.id.removeprefix("ex_") for row in kept)


def parsed(form: str) -> list[Query]:
    """The filters of a form as help shows it."""
    return [parse_filter(part, RUNS, named={"name": "word"}) for part in form.replace("field", "mode").split("  ")]


def terms_in(term: Any) -> Iterator[Any]:
    yield term
    for inner in getattr(term, "terms", ()) or filter(None, [getattr(term, "term", None)]):
        yield from terms_in(inner)


@pytest.mark.parametrize("form", [form for form, _ in FILTER_FORMS])
def test_every_form_that_help_shows_can_be_read(form: str) -> None:
    assert "  ".join(query.text for query in parsed(form)) == form.replace("field", "mode")


def test_help_shows_a_form_for_each_kind_of_term() -> None:
    declared = [kind for kind in vars(expressions).values() if is_dataclass(kind) and kind is not Query]
    kinds = {kind for kind in declared if kind.__module__ == expressions.__name__}
    shown = {type(term) for form, _ in FILTER_FORMS for query in parsed(form) for term in terms_in(query.term)}
    assert shown == kinds


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "live echo fail Fail2 odd"),
        ("   ", "live echo fail Fail2 odd"),
        ("fail", "fail Fail2"),
        ("FAIL", "fail Fail2"),
        ('"no_eligible"', "fail"),
        ('"\\"twice\\""', "Fail2"),
        ("ex_echo", "echo"),
        ("0.0140", "live"),
        ('"test run"', "echo"),
        ("/^ex_f/", "fail Fail2"),
        ("/^✗ failed$/", "fail Fail2"),
        ("/no.*arms/", "fail"),
        ("~fail", "fail Fail2"),
        ("~FBEX", "Fail2"),
        ('~"pic sad"', "odd"),
        ("!~fail", "live echo odd"),
        ("~hvrg | ~eho", "echo odd"),
        ("!fail", "live echo odd"),
        ("!!fail", "fail Fail2"),
        ('!"fail"', "live echo odd"),
        ("fail arms", "fail"),
        ("echo | hovering", "echo odd"),
        ("echo|hovering", "echo odd"),
        ("fail arms | hovering", "fail odd"),
        ("status:fail", "fail Fail2"),
        ("status=failed", "fail Fail2"),
        ("status=Failed", ""),
        ("status=fail", ""),
        ("status!=failed", "live echo odd"),
        ("mode!=live", "echo odd"),
        ("run=ex_fail", "fail"),
        ("id=ex_fail", "fail"),
        ("cost>0.5", "fail"),
        ("cost>=0.014", "live fail"),
        ("cost<0.5", "live echo"),
        ("cost=0.60", "fail"),
        ("cost=0", "echo"),
        ("age<10m", "live echo"),
        ("age>1h", "Fail2 odd"),
        ("age>=20m", "fail Fail2 odd"),
        ("created<2026-11-20", "odd"),
        ("created>=2026-11-21T11:00", "live echo fail"),
        ("has:reason", "fail Fail2"),
        ("!has:cost", "Fail2 odd"),
        ("is:final", "echo fail Fail2"),
        ("is:live", "live odd"),
        ("is:problem", "fail Fail2"),
        ("is:live | is:problem", "live fail Fail2 odd"),
        ("is:test", "echo"),
        ("is:live !mode:echo", "live odd"),
        ("class=sandbox", "odd"),
        ("class:SAND", "odd"),
        ("x.remark:two", "odd"),
        ('x.remark="two words"', "odd"),
        ("x.remark=two", ""),
        ("policy.budget.max_cost_usd>0.1", "live"),
        ("slices[0].status=failed", "fail Fail2"),
        ("slices.0.slice_id=sl_1", "live echo fail Fail2 odd"),
        ("12:03", ""),
        ('"|"', ""),
        ('reason:"fallback_exhausted \\"twice\\""', "Fail2"),
    ],
)
def test_a_filter_finds_what_it_says(text: str, names: str) -> None:
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("statsu:failed", 0, "there is no field 'statsu'"),
        ("fail http://x", 5, "there is no field 'http'"),
        ("has:nothing", 4, "there is no field 'nothing'"),
        ("is:odd", 3, "unknown is:odd"),
        ("status:", 7, "status: has no value"),
        ("cost>", 5, "cost> has no value"),
        ("cost>much", 5, "cost> needs a number such as 0.01"),
        ("cost>10m", 5, "cost> needs a number such as 0.01"),
        ("spend>=2026-01-01", 7, "spend>= needs a number such as 0.01"),
        ("is:live age<5", 12, "age< needs an age such as 10m, or a date such as 2026-11-20"),
        ("took>2026-01-01", 5, "took> needs a duration such as 90s or 10m"),
        ("policy.budget.max_cost_usd>1h", 27, "policy.budget.max_cost_usd> needs a number such as 0.01"),
        ("x.remark>much", 9, "x.remark> needs a number, an age such as 10m, or a date such as 2026-11-20"),
        ("status>3", 7, "status has no order: > and < compare numbers, ages and dates"),
        ("a !", 2, "nothing after !"),
        ("! a", 0, "nothing after !"),
        ("a | | b", 2, "nothing after |"),
        ("a |", 2, "nothing after |"),
        ("| a", 0, "nothing before |"),
        ('"open', 0, "the quote is not closed"),
        ('status="open', 7, "the quote is not closed"),
        ("/open", 0, "the pattern is not closed by a /"),
        ("/a/b/", 0, "the pattern is not closed by a /"),
        ("/v1/executions", 0, "the pattern is not closed by a /"),
        ("x /(a+)+/", 7, "a quantifier on a group that holds another one or an alternative"),
        ("/[/", 1, "a class is not closed"),
        (":mine", 0, "there is no filter named 'mine'"),
        (":", 0, "there is no filter named ''"),
    ],
)
def test_a_filter_that_cannot_be_read_says_where_and_why(text: str, position: int, reason: str) -> None:
    with pytest.raises(QueryError) as caught:
        found(text)
    assert (caught.value.position, caught.value.reason) == (position, reason)
    assert f"at character {position + 1}" in str(caught.value)


def test_a_mistyped_field_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(QueryError) as caught:
        found("statsu:failed")
    assert caught.value.hint == "Did you mean 'status'?"
    assert caught.value.short_words == "there is no field 'statsu'; try status; at character 1"


@pytest.mark.parametrize(
    ("flag", "nearest", "known"),
    [
        ("failed", "status:failed", "final, live, done, problem, broken, composer, review, test, cut"),
        ("brokn", "is:broken", "broken, "),
        ("zzz", "", "final, live, done, problem, broken, composer, review, test, cut"),
    ],
)
def test_an_unknown_flag_is_answered_with_the_nearest_words_first(flag: str, nearest: str, known: str) -> None:
    with pytest.raises(QueryError) as caught:
        found(f"is:{flag}")
    assert caught.value.nearest == nearest
    assert caught.value.short_words.startswith(f"unknown is:{flag}; {'try ' if nearest else ''}{nearest}")
    assert f"known: {known}" in str(caught.value)


def test_a_filter_that_is_too_long_is_refused() -> None:
    with pytest.raises(QueryError, match="2000 characters"):
        parse_filter("a" * (MAX_FILTER_CHARACTERS + 1), RUNS)


def test_named_filters_read_like_their_text_and_may_name_others() -> None:
    named = {"bad": "is:problem", "old": "age>1h", "oldbad": ":bad :old", "any": "echo | hovering"}
    assert found(":bad", named) == "fail Fail2"
    assert found("!:bad", named) == "live echo odd"
    assert found(":oldbad", named) == "Fail2"
    assert found(":any is:live", named) == "odd"


def test_named_filters_that_contain_themselves_or_are_broken_are_refused() -> None:
    with pytest.raises(QueryError, match="contains itself"):
        found(":a", {"a": "x :b", "b": ":a"})
    with pytest.raises(QueryError, match="in the filter 'a': there is no field 'nope'"):
        found("status:x :a", {"a": "nope:1"})


@many
@given(st.one_of(st.text(max_size=40), st.text('ab :=<>!|"/\\.()[]{}*+?0159mhis_', max_size=30)))
def test_any_text_is_a_filter_or_is_refused_with_a_position(text: str) -> None:
    try:
        query = parse_filter(text, RUNS, named={"a": "b"})
    except QueryError as error:
        position = error.position
    else:
        (row,) = rows.build_rows(RUNS, [FLEET[0]], CONTEXT)
        assert query.matches(row) in {True, False}
        return
    assert 0 <= position <= len(text)


@few
@given(subjects(RUNS), st.sampled_from(["status=failed", "cost>0.1", "has:reason", "fail", "is:live", "class:a"]))
def test_a_term_and_its_negation_divide_all_rows(subject: Any, text: str) -> None:
    (row,) = rows.build_rows(RUNS, [subject], CONTEXT)
    assert parse_filter(text, RUNS).matches(row) != parse_filter(f"!{text}", RUNS).matches(row)
    assert parse_filter(f"{text} | !{text}", RUNS).matches(row)
    assert not parse_filter(f"{text} !{text}", RUNS).matches(row)


def split(text: str, spec: Any = RUNS, named: Mapping[str, str] | None = None) -> dict[str, str]:
    query = parse_filter(text, spec, named=named)
    assert isinstance(query, Query)
    return server_parameters(query, spec.record.WIRE.filters, NOW)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("", {}),
        ("status=failed", {"status": "failed"}),
        ("status=failed cost>0.5 word", {"status": "failed"}),
        ("status:failed", {}),
        ("status!=failed", {}),
        ("!status=failed", {}),
        ("status=failed | status=expired", {}),
        ("status=failed status=expired", {"status": "failed"}),
        ("age<10m", {"since": "2026-11-21T11:50:00.000Z"}),
        ("age<=600s", {"since": "2026-11-21T11:50:00.000Z"}),
        ("age>10m", {}),
        ("age>2026-11-20", {"since": "2026-11-20T00:00:00.000Z"}),
        ("age<2026-11-20", {}),
        ("age<2h age<10m", {"since": "2026-11-21T11:50:00.000Z"}),
        ("age<999999999d", {}),
        ("arm=arm_1", {}),
    ],
)
def test_the_service_is_asked_for_what_every_match_must_have(text: str, sent: dict[str, str]) -> None:
    assert split(text) == sent


def test_named_filters_and_other_resources_are_split_too() -> None:
    assert split(":bad", named={"bad": "status=failed"}) == {"status": "failed"}
    assert split("arm=arm_1 status=failed created>=2026-11-20", RECEIPTS) == {
        "arm_id": "arm_1", "status": "failed", "since": "2026-11-20T00:00:00.000Z",
    }  # fmt: skip
