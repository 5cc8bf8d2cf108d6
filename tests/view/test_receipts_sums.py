"""What receipts add up to, to the last digit, and whether the usage report says the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import loads
from runwatch.records.receipt import Receipt
from runwatch.records.usage import Usage
from runwatch.view.query.parser import parse_filter
from runwatch.view.receipts.charts import MAX_LINES, spend_sections
from runwatch.view.receipts.run_context import run_context_section
from runwatch.view.receipts.totals import (
    FEE,
    NO_CALL,
    NO_DAY,
    NO_MODEL,
    ReceiptTotals,
    SpendComparison,
    SpendSum,
    comparable_days,
    day_filter,
    find_receipt_day,
    format_amount,
    reconcile_with_usage,
    total_text,
)
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.table.rows import build_rows
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from tests.support.builders import run
from tests.support.receipts import echo_receipt, live_receipt
from tests.view.strategies import CONTEXT, CONTEXTS, garbage, many

RECEIPTS_GONE_WRONG = garbage(Receipt).map(Receipt)


def receipt(usd: Any, fee: Any, *, day: str = "2026-11-20", slices: list[Any] | None = None) -> Receipt:
    totals = {"usd": usd, "platform_fee_usd": fee}
    at = f"{day}T10:00:00Z"
    return Receipt({"execution_id": "ex_1", "completed_at": at, "totals": totals, "slices": slices or []})


def part(usd: Any, model: str | None) -> dict[str, Any]:
    option = None if model is None else {"model_key": model}
    return {"slice_id": "sl_1", "route": {"selected": option}, "cost": {"usd": usd}}


def added(*listed: Receipt) -> ReceiptTotals:
    sums = ReceiptTotals()
    for one in listed:
        sums.add(one)
    return sums


def told(sums: dict[str, SpendSum]) -> dict[str, tuple[str, int]]:
    return {name: (format_amount(found.usd), found.count) for name, found in sums.items()}


def test_each_call_counts_for_its_own_model() -> None:
    one = part(0.5, "b") | {
        "attempts": [
            {"arm_id": "arm_a", "model_key": "a", "usd": 0.2, "pricing_basis": "estimated"},
            {"arm_id": "arm_c", "model_key": "c", "usd": None, "usage": "unknown"},
            {"arm_id": "arm_b", "model_key": "b", "usd": 0.3, "pricing_basis": "source_reported"},
        ]
    }
    sums = added(receipt(0.5, 0, slices=[one]))
    assert told(sums.models) == {"a": ("0.20", 1), "b": ("0.30", 1), "c": ("0.00", 1)}
    assert {name: (it.unknown_calls, it.estimated_calls) for name, it in sums.models.items()} == {
        "a": (0, 1),
        "b": (0, 0),
        "c": (1, 0),
    }


def test_spend_is_usage_and_fee_in_decimals() -> None:
    sums = added(*(receipt(0.1, 0.2) for _ in range(3)))
    assert (sums.total.usd, sums.usage, sums.fees) == (Decimal("0.9"), Decimal("0.3"), Decimal("0.6"))


def test_a_receipt_counts_on_the_day_in_utc_on_which_it_became_final() -> None:
    late = Receipt({"completed_at": "2026-11-20T23:30:00-02:00", "created_at": "2026-11-19T00:00:00Z"})
    assert find_receipt_day(late) == "2026-11-21"
    assert find_receipt_day(Receipt({"created_at": "2026-11-19T00:00:00Z"})) == "2026-11-19"
    assert find_receipt_day(Receipt({"completed_at": "soon"})) == NO_DAY


def test_each_model_has_what_its_slices_cost_and_the_fee_a_line_of_its_own() -> None:
    sums = added(
        receipt(0.5, 0.05, slices=[part(0.3, "a"), part(0.2, "b")]), receipt(0.1, 0.05, slices=[part(0.1, "a")])
    )
    assert told(sums.models) == {FEE: ("0.10", 2), "a": ("0.40", 2), "b": ("0.20", 1)}


def test_a_receipt_at_no_cost_counts_for_the_model_that_a_filter_finds_it_by() -> None:
    sums = added(receipt(0, 0, slices=[part(0, "a")]), receipt(0.1, 0, slices=[part(0.1, "a")]), receipt(0, 0))
    assert told(sums.models) == {"a": ("0.10", 2), NO_CALL: ("0.00", 1)}


def test_what_no_slice_tells_of_is_not_lost() -> None:
    assert told(added(receipt(0.5, 0, slices=[part(0.3, "a")])).models) == {"a": ("0.50", 1)}
    assert told(added(receipt(0.5, 0)).models) == {NO_MODEL: ("0.50", 1)}
    assert told(added(receipt(0.5, 0, slices=[part(0.5, None)])).models) == {NO_MODEL: ("0.50", 1)}


def test_a_test_run_costs_nothing_and_is_counted_as_one() -> None:
    sums = added(echo_receipt(), live_receipt())
    assert (sums.tests, sums.total.count, sums.total.usd) == (1, 2, Decimal("0.0642"))


def test_a_receipt_without_a_cost_makes_the_total_a_least() -> None:
    sums = added(live_receipt(), live_receipt(totals={"usd": 1}))
    assert sums.without_cost == 1
    assert total_text(sums, is_whole=True) == "spend at least 0.0642 USD"


@pytest.mark.parametrize(("is_whole", "words"), [(True, "spend 4.12 USD"), (False, "spend at least 4.12 USD")])
def test_a_total_whose_end_is_not_proven_is_a_least(is_whole: bool, words: str) -> None:
    assert total_text(added(receipt(4, 0.12)), is_whole=is_whole) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [("0", "0.00"), ("4.1", "4.10"), ("4.120", "4.12"), ("0.0142", "0.0142"), ("1200", "1200.00"), ("-3", "-3.00"),
     ("1e-40", "1E-40"), ("1e40", "1E+40")],
)  # fmt: skip
def test_an_amount_has_all_its_digits_and_at_least_two_decimals(text: str, shown: str) -> None:
    assert format_amount(Decimal(text)) == shown


@many
@given(st.lists(RECEIPTS_GONE_WRONG, max_size=6))
def test_the_parts_always_add_up_to_the_total(listed: list[Receipt]) -> None:
    sums = added(*listed)
    for parts in (sums.days, sums.models):
        whole = SpendSum()
        for one in parts.values():
            whole.merge(one)
        # Amounts a thousand powers of ten apart are beyond the digits that a sum keeps.
        assert abs(whole.usd - sums.total.usd) <= abs(sums.total.usd) * Decimal("1e-20") + Decimal("1e-20") or any(
            abs(one.usd) > Decimal("1e30") for one in parts.values()
        )
    assert sums.total.count + sums.without_cost == len(listed)


# Against usage.


def usage(*days: tuple[str, Any], whole: Any) -> Usage:
    by_day = [{"date": name, "usd": usd} for name, usd in days]
    return Usage({"totals": {"usd": whole}, "by_day": by_day})


def test_receipts_and_usage_that_say_the_same_agree() -> None:
    sums = added(receipt(0.1, 0.05), receipt(0.2, 0, day="2026-11-21"))
    report = usage(("2026-11-20", 0.15), ("2026-11-21", 0.2), whole=0.35)
    found = reconcile_with_usage(sums.days, report, "2026-11-20", "2026-11-21")
    assert found.whole.words == "agrees: 0.35 USD"
    assert found.differing == ()


def test_a_difference_is_reported_day_by_day() -> None:
    sums = added(receipt(0.1, 0.05), receipt(0.2, 0, day="2026-11-21"))
    report = usage(("2026-11-20", 0.15), ("2026-11-21", 0.25), whole=0.4)
    found = reconcile_with_usage(sums.days, report, "2026-11-20", "2026-11-21")
    assert found.whole.words == "differs by 0.05 USD: usage 0.40, receipts 0.35"
    assert [day.day for day in found.differing] == ["2026-11-21"]


def test_only_days_that_are_over_are_compared_over_reads_that_are_apart() -> None:
    sums = added(receipt(0.1, 0), receipt(0.2, 0, day="2026-11-21"))
    report = usage(("2026-11-20", 0.1), ("2026-11-21", 0.15), whole=0.25)
    found = reconcile_with_usage(sums.days, report, "2026-11-20", "2026-11-21", apart_s=25)
    assert found.whole.words == "not compared: usage 0.25 and receipts 0.30 were read 25s apart"
    assert (found.whole.role, found.differing) == (Role.QUIET, ())
    report = usage(("2026-11-20", 0.2), ("2026-11-21", 0.15), whole=0.35)
    found = reconcile_with_usage(sums.days, report, "2026-11-20", "2026-11-21", apart_s=25)
    assert found.whole.words == "differs by 0.05 USD: usage 0.35, receipts 0.30"


def test_a_day_that_only_one_side_knows_is_compared_too() -> None:
    found = reconcile_with_usage(
        added(receipt(1, 0)).days, usage(("2026-11-19", 2), whole=2), "2026-11-19", "2026-11-20"
    )
    assert [(day.day, str(day.words)) for day in found.differing] == [
        ("2026-11-19", "differs by 2.00 USD: usage 2.00, receipts 0.00"),
        ("2026-11-20", "not in usage; receipts 1.00 USD"),
    ]


def test_a_day_of_test_runs_that_usage_leaves_out_agrees() -> None:
    assert SpendComparison("2026-11-20", Decimal(0), None).agrees


def test_days_outside_the_report_are_not_compared() -> None:
    sums = added(receipt(1, 0, day="2026-10-01"), receipt(1, 0))
    found = reconcile_with_usage(sums.days, usage(("2026-11-20", 1), whole=1), "2026-11-20", "2026-11-20")
    assert found.whole.agrees
    assert found.day("2026-10-01") is None


def test_the_earliest_day_of_a_cut_list_is_left_out_because_it_may_have_more() -> None:
    sums = added(receipt(1, 0, day="2026-11-18"), receipt(1, 0))
    assert comparable_days(sums, "2026-11-21", is_whole=True) == ("2026-11-18", "2026-11-21")
    assert comparable_days(sums, "2026-11-21", is_whole=False) == ("2026-11-20", "2026-11-21")
    assert comparable_days(added(receipt(1, 0)), "2026-11-21", is_whole=False) is None
    assert comparable_days(ReceiptTotals(), "2026-11-21", is_whole=True) is None


# As the user sees them.


def room(_: object) -> int:
    return 40


def texts_of(sums: ReceiptTotals, **over: Any) -> dict[str, list[str]]:
    compared = over.pop("compared", line("not compared: no usage"))
    made = spend_sections(sums, compared, room, CONTEXT, is_whole=over.pop("is_whole", True))
    return {str(one.title): [f"{entry.label} {entry.text}".strip() for entry in one.lines] for one in made}


def test_days_are_with_the_newest_first_and_lead_to_their_receipts() -> None:
    sums = added(receipt(1, 0, day="2026-11-19"), receipt(2, 0, day="2026-11-20"))
    made = spend_sections(sums, line("no"), room, CONTEXT, is_whole=True)
    days = next(one for one in made if one.title.startswith("Spend by day"))
    assert [str(entry.label) for entry in days.lines] == ["2026-11-20", "2026-11-19"]
    assert days.lines[0].target == "completed>=2026-11-20 completed<2026-11-21"
    query = parse_filter(str(days.lines[0].target), RECEIPTS)
    found = build_rows(RECEIPTS, [receipt(1, 0, day="2026-11-19"), receipt(2, 0, day="2026-11-20")], CONTEXT)
    assert [query.matches(row) for row in found] == [False, True]


def test_the_last_day_of_the_calendar_has_no_next_one() -> None:
    assert day_filter("9999-12-31") == "completed>=9999-12-31"


def test_many_days_are_columns_too_and_days_without_a_run_are_gaps() -> None:
    sums = added(*(receipt(1, 0, day=f"2026-11-{day:02}") for day in (1, 3, 5, 7, 9, 11, 13, 15)))
    made = spend_sections(sums, line("no"), lambda _: 60, CONTEXT, is_whole=True)
    plot = next(section.plot for section in made if section.plot is not None)
    assert [day.name for day in plot.days if day.value is None] == [f"2026-11-{day:02}" for day in range(2, 15, 2)]
    assert plot.days[-1].target == "completed>=2026-11-15 completed<2026-11-16"
    assert len(texts_of(sums)["Day by day"]) == 8


def test_the_spend_of_a_day_is_divided_by_model_and_by_status() -> None:
    listed = [receipt(2, 0, day=f"2026-11-{day:02}", slices=[part(1, "a"), part(1, "b")]) for day in range(1, 9)]
    made = spend_sections(added(*listed), line("no"), lambda _: 60, CONTEXT, is_whole=True)
    plot = next(section.plot for section in made if section.plot is not None)
    (grouping,) = plot.groupings
    assert (grouping.name, tuple(map(str, grouping.series))) == ("model", ("a", "b"))
    assert grouping.parts[0] == (Decimal(1), Decimal(1))


def test_more_models_than_there_is_room_for_are_one_line() -> None:
    listed = [receipt(1, 0, slices=[part(1, f"m{number}")]) for number in range(MAX_LINES + 5)]
    models = texts_of(added(*listed))["Spend by model"]
    assert len(models) == MAX_LINES + 1
    assert models[-1].startswith("5 other models")
    assert "5 receipts" in models[-1]


def test_a_model_leads_to_its_receipts() -> None:
    made = spend_sections(added(receipt(1, 0.1, slices=[part(1, "a b")])), line("no"), room, CONTEXT, is_whole=True)
    models = next(one for one in made if one.title == "Spend by model")
    assert [(str(entry.label), entry.target) for entry in models.lines] == [("a b", 'model="a b"'), (FEE, None)]


def test_what_is_not_known_is_beside_what_is() -> None:
    shown = texts_of(added(live_receipt(), echo_receipt(), Receipt({})), is_whole=False)["Receipts shown"]
    assert shown == [
        "spend at least 0.0642 USD in 2 receipts", "usage at least 0.0142 USD + at least 0.05 USD in fees",
        "test runs 1 of them, at no charge", "not stated 1 receipt without a cost", "end not proven: more may follow",
    ]  # fmt: skip


@many
@given(st.lists(RECEIPTS_GONE_WRONG, max_size=6), st.sampled_from(CONTEXTS))
def test_any_receipts_can_be_drawn(listed: list[Receipt], context: Any) -> None:
    sums = added(*listed)
    days = comparable_days(sums, "2026-11-21", is_whole=True)
    compared = line("none") if days is None else reconcile_with_usage(sums.days, Usage({}), *days)
    assert spend_sections(sums, compared, room, context, is_whole=True)
    for one in listed:
        assert run_context_section(one, run(), context.now, compared, context).lines


# One receipt.


def test_a_receipt_is_compared_with_the_usage_of_its_day() -> None:
    one = receipt(1, 0)
    compared = reconcile_with_usage(added(one).days, usage(("2026-11-20", 1), whole=1), "2026-11-20", "2026-11-21")
    shown = run_context_section(one, None, None, compared, CONTEXT).lines
    assert [str(entry.text) for entry in shown] == ["✓ agrees: 1.00 USD, of 2026-11-20 (UTC), all receipts of that day"]
    assert shown[0].role is Role.GOOD
    differing = reconcile_with_usage(added(one).days, usage(("2026-11-20", 2), whole=2), "2026-11-20", "2026-11-21")
    assert run_context_section(one, None, None, differing, CONTEXT).lines[0].role is Role.WARN


def test_dates_that_a_receipt_lacks_come_from_its_run_and_say_so() -> None:
    known = run("ex_1", "completed", created_at="2026-11-21T11:50:00Z", completed_at="2026-11-21T11:55:00Z")
    bare = Receipt({"execution_id": "ex_1", "totals": {"runtime_s": 9.8}})
    shown = {
        str(entry.label): str(entry.text) for entry in run_context_section(bare, known, None, line("-"), CONTEXT).lines
    }
    assert shown["created_at"] == "10m ago, from the run"
    assert shown["completed_at"] == "5m ago, from the run"


def test_runtime_and_a_spend_over_its_limit_are_beside_the_cap() -> None:
    capped = run("ex_1", policy={"budget": {"max_runtime_s": 60, "max_cost_usd": 0.1}})
    parsed = Receipt(loads('{"totals": {"runtime_s": 9.8, "usd": 3, "platform_fee_usd": 0}}'))
    shown = {
        str(entry.label): str(entry.text)
        for entry in run_context_section(parsed, capped, None, line("-"), CONTEXT).lines
    }
    assert shown["runtime"] == "9.8 s of 1 min, the cap from the run"
    assert shown["spend"] == "3 USD, over its limit of 0.1 USD, the cap from the run"
