"""How checks have judged: technical failures are no verdicts, and activities are never added up."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width, is_clean
from runwatch.records.evaluation import EvalSummary
from runwatch.records.verifier import Verifier
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.reports.check_trends import build_trends, overview_section, trend_sections
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText
from tests.support import resources
from tests.view.strategies import CONTEXT, json_values, many, texts

CHECK = "vrf_7c1e"


def room(_: Sequence[SafeText]) -> int:
    return 44


def day(date: str, passed: int, total: int, *, failures: int = 0, **over: Any) -> dict[str, Any]:
    return {
        "day": date, "verifier_id": CHECK, "activity": "customer", "attempted_checks": total + failures,
        "technical_failures": failures, "total": total, "passed": passed,
        "pass_rate": passed / total if total else None, "mean_quality_score": None, **over,
    }  # fmt: skip


def summary(*days: dict[str, Any]) -> EvalSummary:
    return resources.eval_summary(pass_rate_trend=list(days))


def by_label(section: DetailSection) -> dict[str, DetailLine]:
    return {entry.label: entry for entry in section.lines}


def shown(found: EvalSummary, check: str = CHECK) -> dict[str, DetailSection]:
    return {section.title: section for section in trend_sections(found, check, room, CONTEXT)}


def test_the_pass_rate_of_a_window_is_that_of_all_its_verdicts() -> None:
    (trend,) = build_trends(summary(day("2026-11-20", 1, 1), day("2026-11-19", 0, 3)))
    assert (trend.passed, trend.total, trend.pass_rate) == (1, 4, Decimal("0.25"))
    assert [one.day for one in trend.days] == ["2026-11-19", "2026-11-20"]


def test_a_technical_failure_is_distinguished_and_counts_in_no_pass_rate() -> None:
    sections = shown(summary(day("2026-11-20", 7, 9, failures=1)))
    sums = by_label(sections["Verdicts on live runs"])
    assert sums["passed"].text == "77 %, 7 of 9 verdicts"
    assert sums["technical failures"].text == "1 of 10 tries; they count in no pass rate"
    assert sums["technical failures"].role is Role.WARN
    plotted = by_label(sections["Pass rate by day"])["2026-11-20"]
    assert plotted.role is Role.WARN
    assert "77 %" in plotted.text


def test_a_day_of_failures_alone_has_no_pass_rate_and_no_nought() -> None:
    sections = shown(summary(day("2026-11-20", 0, 0, failures=2)))
    assert by_label(sections["Verdicts on live runs"])["passed"].text == "–"
    assert "0 %" not in by_label(sections["Pass rate by day"])["2026-11-20"].text


def test_activities_are_never_added_up() -> None:
    found = summary(day("2026-11-20", 1, 2), day("2026-11-20", 5, 5, activity="platform_echo"))
    sections = shown(found)
    assert by_label(sections["Verdicts on live runs"])["passed"].text == "50 %, 1 of 2 verdicts"
    assert by_label(sections["Verdicts on test runs"])["passed"].text == "100 %, 5 of 5 verdicts"


def test_an_unknown_activity_is_named_as_it_came() -> None:
    assert "Verdicts on shadow" in shown(summary(day("2026-11-20", 1, 2, activity="shadow")))


def test_a_check_without_verdicts_says_so() -> None:
    sections = shown(summary(day("2026-11-20", 1, 2)), "vrf_other")
    assert list(sections) == ["Trend"]
    assert by_label(sections["Trend"])["verdicts"].text == "none in this window"


def test_every_check_is_in_one_line_that_leads_to_it() -> None:
    found = summary(day("2026-11-19", 0, 2), day("2026-11-20", 2, 2, failures=1))
    (section,) = overview_section(found, {CHECK: resources.verifier()}, room, CONTEXT)
    (entry,) = section.lines
    assert entry.label == resources.verifier().display_name
    assert entry.text == "▁█  50 % of 4, 1 could not run"
    (section,) = overview_section(found, {CHECK: resources.verifier()}, lambda _: 70, CONTEXT)
    assert section.lines[0].text == "▁█  50 % of 4, by day 0 % to 100 %, 1 could not run"
    assert entry.target == (Verifier.KIND, CHECK)
    (section,) = overview_section(found, {}, lambda _: 20, CONTEXT)
    assert section.title == "Output checks, pass rate", "without room for days"


def test_a_cell_is_the_same_day_for_each_check_and_equal_names_have_their_ids() -> None:
    other = "vrf_01M64DAMW27FFA2EZCQ5SKQ91V"
    found = summary(
        day("2026-11-16", 1, 2),
        day("2026-11-20", 5, 10),
        day("2026-11-18", 1, 1, failures=1, verifier_id=other, activity="customer"),
    )
    (section,) = overview_section(
        found, dict.fromkeys((CHECK, other), resources.verifier(display_name="Form")), room, CONTEXT
    )
    assert [(str(entry.label), str(entry.text)) for entry in section.lines] == [
        ("Form vrf_…Q91V", "  █    100 % of  1, 1 could not run"),
        # Rates, totals and the signs of links are below each other.
        ("Form vrf_7c1e", "▄   ▄   50 % of 12                 "),
    ]


@pytest.mark.parametrize(("cells", "label"), [(47, "vrf_7c1e, platform baseline"), (46, "vrf_7c1e, platform baseli…")])
def test_a_name_takes_the_room_that_its_values_leave_and_is_else_cut(cells: int, label: str) -> None:
    def room_of(labels: Sequence[SafeText]) -> int:
        widest = max((len(label) for label in labels if len(label) <= 14), default=0)
        return cells - widest - 3 if widest else cells - 2 if labels else cells

    (section,) = overview_section(summary(day("2026-11-20", 1, 1, activity="platform_baseline")), {}, room_of, CONTEXT)
    assert section.lines[0].label == label
    assert section.title == "Output checks, pass rate by day"


def test_a_check_that_is_not_listed_leads_nowhere() -> None:
    (section,) = overview_section(summary(day("2026-11-19", 0, 2)), {}, room, CONTEXT)
    assert section.lines[0].target is None


def test_nothing_judged_is_no_section() -> None:
    assert overview_section(summary(), {}, room, CONTEXT) == []


summaries = st.builds(
    EvalSummary,
    st.fixed_dictionaries(
        {},
        optional={
            "window": json_values,
            "pass_rate_trend": st.lists(
                st.one_of(
                    json_values,
                    st.fixed_dictionaries(
                        {"day": texts, "verifier_id": st.one_of(st.none(), st.just(CHECK), texts)},
                        optional={
                            "activity": texts, "total": st.integers(), "passed": st.integers(),
                            "pass_rate": json_values, "technical_failures": st.integers(),
                            "mean_quality_score": json_values,
                        },
                    ),
                ),
                max_size=9,
            ),
        },
    ),
)  # fmt: skip


@many
@given(summaries)
def test_any_summary_is_drawn_clean_and_within_its_cells(found: EvalSummary) -> None:
    for section in (*trend_sections(found, CHECK, room, CONTEXT), *overview_section(found, {}, room, CONTEXT)):
        for entry in section.lines:
            assert is_clean(entry.label)
            assert is_clean(entry.text)
            assert not section.title.startswith("Pass rate") or cell_width(entry.text) <= 44
