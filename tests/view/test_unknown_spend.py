"""Spend of which a part is not known: at least the known part, or the word unknown, and never a plain 0."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest

from runwatch.base.json import loads
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.records.usage import Usage
from runwatch.view.export import text_output
from runwatch.view.export.file_formats import export_records
from runwatch.view.overview.run_counts import count_runs
from runwatch.view.overview.run_lines import live_lines
from runwatch.view.receipts.charts import spend_sections
from runwatch.view.receipts.totals import ReceiptTotals, reconcile_with_usage, total_text
from runwatch.view.reports.compliance import summary_sections
from runwatch.view.reports.profile_usage import PROFILE_USAGE, ProfileUsage
from runwatch.view.reports.profile_usage import combined_total_text as profile_words
from runwatch.view.reports.usage import NameLookup, usage_sections
from runwatch.view.resources.organization import USAGE
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.run_facts import RunFacts, SubmittedRequest
from runwatch.view.table.rows import build_rows
from runwatch.view.text.format import spent_amount
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import with_role
from tests.support import builders, resources
from tests.support.receipts import live_receipt
from tests.view.strategies import CONTEXT

LOST = {"usd": 0.0, "platform_fee_usd": 0, "runtime_s": 9.8, "unknown_calls": 1}


def lacking(usd: float, calls: int = 1, **over: Any) -> Receipt:
    """A receipt whose known part is ``usd``."""
    part = {**live_receipt().raw["slices"][0], "cost": {"usd": usd, "calls": calls + 1, "unknown_calls": calls}}
    return live_receipt(slices=[part], totals={**LOST, "usd": usd, "unknown_calls": calls}, **over)


def partial_run(known: float, **over: Any) -> RunFacts:
    return RunFacts(builders.open_run(spend_usd=None, known_spend_usd=known, unknown_calls=1, **over))


def text_of(lines: Iterable[object]) -> str:
    return "\n".join(map(str, lines))


@pytest.mark.parametrize(
    ("known", "calls", "text"),
    [
        ("0.0031", 0, "0.0031 USD"),
        ("0.0031", 2, "at least 0.0031 USD"),
        ("0", 1, "unknown"),
        (None, 1, "unknown"),
        ("0", 0, "0 USD"),
        ("0", None, "0 USD"),
    ],
)
def test_a_spend_is_exact_at_least_its_known_part_or_unknown(known: str | None, calls: int | None, text: str) -> None:
    assert spent_amount(None if known is None else Decimal(known), calls, is_exact=True) == text


@pytest.mark.parametrize(
    ("unknown_calls", "advice"),
    [(0, "Its calls cost 0.6 USD, and its cap is 0.25 USD. Submit again"), (1, "connect the source with prices")],
)
def test_a_reached_cap_is_named_with_the_spend_where_every_cost_is_known(unknown_calls: int, advice: str) -> None:
    ended = builders.run(
        status="failed", reason="cost_budget_exhausted", mode="live", known_spend_usd=0.6, unknown_calls=unknown_calls
    )
    request = SubmittedRequest({"policy": {"budget": {"max_cost_usd": 0.25}}})
    shown = text_of(text_output.detail_lines(RUNS, RunFacts(ended, request), CONTEXT))
    assert advice in " ".join(shown.split())


def test_a_live_run_says_nothing_of_a_cost_before_any_is_known() -> None:
    cost = RUNS.column("cost")
    assert cost is not None
    assert with_role(cost.draw(partial_run(0), CONTEXT) or line("")).text == "–"
    shown = text_of(text_output.detail_lines(RUNS, partial_run(0), CONTEXT))
    assert "–  not known yet" in shown
    assert "1 of unknown cost so far" in shown


@pytest.mark.parametrize(("known", "cell", "text"), [(0.0031, "≥0.0031", "at least 0.0031"), (0, "unknown", "unknown")])
def test_lists_and_details_of_runs_and_receipts_say_so(known: float, cell: str, text: str) -> None:
    run, receipt = partial_run(known, status="completed"), lacking(known)
    cost, spend = RUNS.column("cost"), RECEIPTS.column("spend")
    assert cost is not None
    assert spend is not None
    assert with_role(cost.draw(run, CONTEXT) or line("")).text == cell
    assert with_role(spend.draw(receipt, CONTEXT) or line("")).text == cell
    assert (cost.value(run), spend.value(receipt)) == (None, None)
    shown = text_of(text_output.detail_lines(RUNS, run, CONTEXT))
    assert f"  {text}" in shown
    assert "1 of unknown cost" in shown
    shown = text_of(text_output.detail_lines(RECEIPTS, receipt, CONTEXT))
    assert f"usage {text}" in shown
    assert "the cost of 1 call is not known" in shown
    assert not re.search(r"(?m)^ +(usd|spend|cost_usd) +0( USD)?\b", shown)


def test_the_receipt_of_the_first_version_wins_over_the_0_of_its_run() -> None:
    part = {"cost": {"usd": 0, "calls": 1, "usage": "unknown"}}
    receipt = Receipt({"execution_id": "ex_1", "slices": [part], "totals": {"usd": 0, "platform_fee_usd": 0}})
    facts = RunFacts(builders.open_run(spend_usd=0, status="failed"), receipt=receipt)
    assert (facts.cost_usd.value, facts.known_cost_usd.value, facts.unknown_calls) == (None, Decimal(0), 1)


def test_sums_of_receipts_are_least_amounts_and_name_the_calls() -> None:
    sums = ReceiptTotals()
    for receipt in (live_receipt(), lacking(0.01, 2), lacking(0)):
        sums.add(receipt)
    assert total_text(sums, is_whole=True) == "spend at least 0.0742 USD"
    assert (sums.partial, sums.total.unknown_calls) == (2, 3)
    sections = spend_sections(sums, line("no report"), lambda _: 40, CONTEXT, is_whole=True)
    shown = {str(entry.label): str(entry.text) for section in sections for entry in section.lines}
    assert shown["spend"] == "at least 0.0742 USD in 3 receipts"
    assert shown["unknown"] == "2 receipts with 3 calls of unknown cost"
    assert any("at least 0.0742" in text for text in shown.values())


def test_a_usage_report_that_names_other_calls_of_unknown_cost_differs() -> None:
    sums = ReceiptTotals()
    sums.add(lacking(0.01, 2))
    day = {"date": "2026-11-20", "usd": 0.01, "unknown_calls": 2}
    compared = reconcile_with_usage(
        sums.days, Usage({"totals": {"usd": 0.01, "unknown_calls": 2}, "by_day": [day]}), "2026-11-20", "2026-11-20"
    )
    assert compared.whole.words == "agrees: 0.01 USD, and 2 calls of unknown cost"
    assert not compared.differing
    other = Usage({"totals": {"usd": 0.01, "unknown_calls": 1}, "by_day": [{**day, "unknown_calls": 1}]})
    compared = reconcile_with_usage(sums.days, other, "2026-11-20", "2026-11-20")
    assert compared.whole.words == "differs: usage names 1 call of unknown cost, receipts name 2"
    assert [one.day for one in compared.differing] == ["2026-11-20"]


def report() -> Usage:
    """A usage report of which each part lacks a call, but for the second arm."""
    raw = dict(resources.usage().raw)
    mark = {"unknown_calls": 1}
    raw["totals"] = {**raw["totals"], **mark}
    raw["by_day"] = [{**one, **mark} for one in raw["by_day"]]
    raw["by_key"] = [{**one, **mark} for one in raw["by_key"]]
    first, *others = raw["by_arm"]
    raw["by_arm"] = [{**first, **mark}, *others]
    return Usage(raw)


def test_usage_names_what_is_not_known_on_its_page_and_in_print() -> None:
    sections = usage_sections(report(), NameLookup({}, {}), lambda _: 48, CONTEXT)
    shown = text_of(f"{entry.label} {entry.text}" for section in sections for entry in section.lines)
    assert "spend at least 1.62 USD: the cost of 1 call is not known" in shown
    assert shown.count("at least") >= 4
    printed = text_of(text_output.detail_lines(USAGE, report(), CONTEXT))
    assert "at least 1.62 USD" in printed
    assert "at least 0.52 USD" in printed
    assert "1.1 USD" in printed
    assert "at least 1.1 USD" not in printed


def test_several_profiles_add_up_to_a_least_amount() -> None:
    rows = [ProfileUsage("a", report()), ProfileUsage("b", resources.usage())]
    assert "at least 3.24 USD" in profile_words(rows)
    cells = {
        column.id: str(with_role(column.draw(rows[0], CONTEXT) or line("")).text) for column in PROFILE_USAGE.columns
    }
    assert (cells["usd"], cells["platform"]) == ("at least 1.6200", "1.1000")


def test_the_overview_adds_up_known_parts_as_a_least_amount() -> None:
    runs = [partial_run(0.01), RunFacts(builders.open_run("ex_2"))]
    text = " ".join(spot.text for spots in live_lines(count_runs(runs), CONTEXT, 60) for spot in spots)
    assert "≥0.0242 of 0.5000" in text


def test_a_compliance_export_says_at_least_too() -> None:
    exported = resources.compliance_export(usage_totals={"usd": 0.5, "unknown_calls": 3})
    shown = {
        str(entry.label): str(entry.text) for section in summary_sections(exported, CONTEXT) for entry in section.lines
    }
    assert shown["spend"] == "at least 0.5 USD"


def test_a_table_has_the_word_and_the_known_part_beside_it() -> None:
    (row,) = csv.DictReader("".join(export_records("csv", RECEIPTS, [lacking(0.0031)], CONTEXT)).splitlines())
    assert (row["totals.usd"], row["totals.known_usd"], row["totals.unknown_calls"]) == ("unknown", "0.0031", "1")
    assert row["totals.platform_fee_usd"] == "0"
    (printed,) = csv.DictReader(map(str, text_output.csv_lines(Run, [partial_run(0.0031).raw])))
    assert (printed["spend_usd"], printed["known_spend_usd"]) == ("unknown", "0.0031")
    (chosen,) = csv.DictReader(
        map(str, text_output.csv_lines(Run, [partial_run(0.0031).raw], {"spend_usd": "spend_usd"}))
    )
    assert chosen == {"spend_usd": "unknown"}


def test_what_is_known_is_written_as_before() -> None:
    (row,) = csv.DictReader("".join(export_records("csv", RECEIPTS, [live_receipt()], CONTEXT)).splitlines())
    assert (row["totals.usd"], row["totals.unknown_calls"]) == ("0.0142", "")
    assert "totals.known_usd" not in row


UNTOLD = {"input_tokens": 7, "output_tokens": 0, "unknown_token_calls": 1, "usd": 0.5, "estimated_calls": 2}
"""Sums with a call that reported no tokens, and with estimated costs."""


def test_tokens_that_were_not_reported_and_estimates_are_marked_in_usage() -> None:
    report = Usage({"totals": UNTOLD, "by_arm": [{"arm_id": "arm_1", **UNTOLD}], "by_key": [], "by_day": []})
    sections = usage_sections(report, NameLookup(), lambda _: 40, CONTEXT)
    drawn = text_of(entry.text for section in sections for entry in section.lines)
    assert "at least 7 in · 0 out: 1 call did not report any" in drawn
    assert "0.5 USD (estimated)" in drawn
    printed = " ".join(text_of(text_output.detail_lines(USAGE, report, CONTEXT)).split())
    assert printed.count("input_tokens at least 7") == 2
    assert printed.count("output_tokens unknown") == 2
    assert printed.count("(estimated)") == 2
    (row,) = csv.DictReader("".join(export_records("csv", USAGE, [report], CONTEXT)).splitlines())
    assert (row["totals.input_tokens"], row["totals.known_input_tokens"]) == ("unknown", "7")


def test_estimated_spend_is_marked_in_lists() -> None:
    guessed = live_receipt().raw["slices"][0]
    guessed = {**guessed, "cost": {**guessed["cost"], "pricing_basis": "estimated"}}
    receipt = live_receipt(slices=[guessed])
    run = RunFacts(builders.run(status="completed"), receipt=receipt)
    assert cell_of(RECEIPTS, "spend", receipt).startswith("~")
    assert cell_of(RUNS, "cost", run).startswith("~")
    sums = ReceiptTotals()
    sums.add(receipt)
    sections = spend_sections(sums, line("-"), lambda _: 40, CONTEXT, is_whole=True)
    assert "(estimated)" in text_of(entry.text for section in sections for entry in section.lines)


def cell_of(spec: Any, name: str, subject: Any) -> str:
    (column,) = [column for column in spec.columns if column.id == name]
    return str(with_role(column.cell(subject, CONTEXT)).text)


def test_a_day_of_a_key_says_at_least_in_print_and_in_tables() -> None:
    days = [
        {"date": "2026-11-20", "usd": 0.25, "unknown_calls": 1, "estimated_calls": 0},
        {"date": "2026-11-21", "usd": 0, "unknown_calls": 2, "estimated_calls": 0},
        {"date": "2026-11-22", "usd": 0.5, "unknown_calls": 0, "estimated_calls": 1},
    ]
    report = Usage({"totals": {"usd": 0.75, "unknown_calls": 3}, "by_key": [{"api_key_id": "key_1", "by_day": days}]})
    printed = " ".join(text_of(text_output.detail_lines(USAGE, report, CONTEXT)).split())
    assert "by_day[0].usd at least 0.25" in printed
    assert "by_day[1].usd unknown" in printed
    assert "by_day[2].usd 0.5 (estimated)" in printed
    for lines in (export_records("csv", USAGE, [report], CONTEXT), text_output.csv_lines(Usage, [report.raw])):
        (row,) = csv.DictReader("\n".join(str(line).rstrip("\n") for line in lines).splitlines())
        (key,) = loads(row["by_key"])
        assert [day["usd"] for day in key["by_day"]] == ["unknown", "unknown", 0.5]
        assert [day.get("known_usd") for day in key["by_day"]] == [0.25, 0, None]


@pytest.mark.parametrize(
    ("marks", "cell"),
    [
        ({"unknown_calls": 1}, "at least 0.5"),
        ({"estimated_calls": 1}, "0.5 (estimated)"),
        ({"unknown_calls": 1, "estimated_calls": 1}, "at least 0.5 (estimated)"),
        ({}, "0.5"),
    ],
)
def test_a_chosen_member_is_marked_as_its_own_column_is(marks: dict[str, int], cell: str) -> None:
    receipt = live_receipt(totals={"usd": 0.5, "platform_fee_usd": 0, **marks})
    rows = build_rows(RECEIPTS, [receipt], CONTEXT)
    head, shown = map(str, text_output.table_lines(RECEIPTS, rows, fields=["totals.usd"]))
    assert (head, shown) == ("totals.usd", cell)


@pytest.mark.parametrize(
    ("spend", "cell", "detail"),
    [
        ({"spend_usd": 0.5}, "0.5000", "0.5 USD"),
        ({"spend_usd": 0.5, "estimated_calls": 1}, "~0.5000", "0.5 USD (estimated)"),
        ({"spend_usd": None, "known_spend_usd": 0.5, "unknown_calls": 1}, "≥0.5000", "at least 0.5 USD"),
        (
            {"spend_usd": None, "known_spend_usd": 0.5, "unknown_calls": 1, "estimated_calls": 2},
            "≥~0.5000",
            "at least 0.5 USD (estimated)",
        ),
        ({"spend_usd": None, "known_spend_usd": 0, "unknown_calls": 1}, "unknown", "unknown"),
    ],
)
def test_a_listed_run_tells_exact_estimated_least_and_unknown_spend_apart_without_its_receipt(
    spend: dict[str, Any], cell: str, detail: str
) -> None:
    body = builders.open_run(status="completed").raw
    allowed = {**body["policy"], "budget": {"max_cost_usd": 1, "max_runtime_s": 60}}
    run = RunFacts(Run({**body, "policy": allowed, **spend}))
    assert cell_of(RUNS, "cost", run) == cell
    printed = [" ".join(one.split()) for one in map(str, text_output.detail_lines(RUNS, run, CONTEXT))]
    assert f"cost_usd {detail} (run)" in printed
    assert (f"estimated_calls {spend.get('estimated_calls')} of estimated cost" in printed) is (
        "estimated_calls" in spend
    )
    (row,) = csv.DictReader(map(str, text_output.csv_lines(Run, [run.raw])))
    assert row["spend_usd"] == ("unknown" if spend["spend_usd"] is None else "0.5")
    assert row["estimated_calls"] == str(spend.get("estimated_calls", ""))


def test_a_live_run_marks_its_estimate_beside_the_gauge_and_so_does_the_overview() -> None:
    run = RunFacts(builders.open_run(estimated_calls=1))
    assert "~0.0142" in cell_of(RUNS, "cost", run)
    text = " ".join(spot.text for spots in live_lines(count_runs([run]), CONTEXT, 60) for spot in spots)
    assert "~0.0142 of" in text


def test_sums_of_shown_receipts_mark_their_estimates_and_their_unknown_usage() -> None:
    guessed = live_receipt().raw["slices"][0]
    guessed = {**guessed, "cost": {**guessed["cost"], "pricing_basis": "estimated"}}
    sums = ReceiptTotals()
    sums.add(live_receipt(slices=[guessed]))
    assert total_text(sums, is_whole=True) == "spend 0.0642 USD (estimated)"
    sums.add(lacking(0.0031))
    sections = spend_sections(sums, line("-"), lambda _: 40, CONTEXT, is_whole=True)
    shown = {str(entry.label): str(entry.text) for entry in sections[0].lines}
    assert shown["usage"] == "at least 0.0173 USD (estimated) + 0.05 USD in fees"


def test_tokens_of_calls_that_did_not_report_them_are_unknown_in_a_receipt_too() -> None:
    part = {**live_receipt().raw["slices"][0], "attempts": [{"usage": "unknown", "input_tokens": None}]}
    untold = {"usd": 0, "input_tokens": 0, "output_tokens": 9, "calls": 2, "usage": "unknown", "unknown_calls": 1}
    receipt = live_receipt(slices=[{**part, "cost": untold}])
    printed = " ".join(text_of(text_output.detail_lines(RECEIPTS, receipt, CONTEXT)).split())
    assert "cost.input_tokens unknown" in printed
    assert "cost.output_tokens at least 9" in printed
    assert "attempts[0].input_tokens unknown" in printed
    for lines in (export_records("csv", RECEIPTS, [receipt], CONTEXT), text_output.csv_lines(Receipt, [receipt.raw])):
        (row,) = csv.DictReader("\n".join(str(line).rstrip("\n") for line in lines).splitlines())
        told = loads(row["slice"])
        assert (told["cost"]["usd"], told["cost"]["input_tokens"], told["cost"]["output_tokens"]) == ("unknown",) * 3
        assert (told["cost"]["known_input_tokens"], told["cost"]["known_output_tokens"]) == (0, 9)
        assert told["attempts"][0]["input_tokens"] == "unknown"


def test_the_counts_of_a_usage_report_are_in_the_blocks_that_they_belong_to() -> None:
    day = {"date": "2026-11-20", "usd": 0.5, "unknown_calls": 0, "estimated_calls": 3}
    raw = {"totals": UNTOLD, "by_arm": [{"arm_id": "arm_1", **UNTOLD}, {"arm_id": "arm_2", "usd": 1}], "by_day": [day]}
    printed = text_of(text_output.detail_lines(USAGE, Usage(raw), CONTEXT))
    blocks = {block.splitlines()[0]: " ".join(block.split()) for block in printed.split("\n\n")}
    assert list(blocks) == ["Totals", "Saved model arm_1", "Saved model arm_2", "Day 2026-11-20"]
    assert "unknown_token_calls 1 estimated_calls 2" in blocks["Saved model arm_1"]
    assert "_calls" not in blocks["Saved model arm_2"]
    assert "unknown_calls 0 estimated_calls 3" in blocks["Day 2026-11-20"]
    odd = Usage({"totals": UNTOLD, "by_arm": [{"arm_id": "arm_1", "unknown_calls": "many"}]})
    assert "unknown_calls many" in " ".join(text_of(text_output.detail_lines(USAGE, odd, CONTEXT)).split())
