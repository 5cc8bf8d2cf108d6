"""Account and usage: sums in sight, plots that fit, and every number a way to what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import cell_width, is_clean
from runwatch.records.api_key import ApiKey
from runwatch.records.arm import Arm
from runwatch.records.usage import Period, Usage
from runwatch.settings.view_state import ViewState
from runwatch.view.detail.sections import DetailLine, DetailSection, build_sections
from runwatch.view.query.parser import MAX_FILTER_CHARACTERS, build_field_filter, parse_filter, quote_value
from runwatch.view.reports.usage import NameLookup, build_receipts_view, usage_sections
from runwatch.view.resources.account import ACCOUNT, has_times
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, Role
from runwatch.view.text.safe_text import SafeText
from tests.support import builders, resources
from tests.support.builders import KEY_ID
from tests.view.strategies import CONTEXT, NOW, json_values, many, texts

NAMES = NameLookup(
    {"arm_01HX7": resources.arm(display_name="Ember"), "arm_2": resources.arm("arm_2", display_name="Atlas")},
    {KEY_ID: resources.api_key()},
)


def room(_: Sequence[SafeText]) -> int:
    return 48


def shown(usage: Usage, names: NameLookup = NAMES, context: RenderContext = CONTEXT) -> dict[str, DetailSection]:
    return {section.title: section for section in usage_sections(usage, names, room, context)}


def by_label(section: DetailSection) -> dict[str, DetailLine]:
    return {entry.label: entry for entry in section.lines}


def test_spend_is_usage_and_fee_added_up_in_decimals() -> None:
    used = by_label(shown(resources.usage())["Used"])
    assert used["spend"].text == "0.52 usage + 1.1 fee = 1.62 USD"
    assert used["runs"].text == "37"
    assert used["tokens"].text == "60,210 in · 15,020 out"


def test_a_sum_of_the_service_that_is_another_one_is_reported() -> None:
    totals = dict(resources.usage().raw["totals"]) | {"usd": 2}
    used = by_label(shown(resources.usage(totals=totals))["Used"])
    assert used["spend"].text == "0.52 usage + 1.1 fee = 1.62 USD, but the service says 2 USD"
    assert used["spend"].role is Role.WARN


def test_a_service_that_tells_no_parts_has_its_sum_shown() -> None:
    used = by_label(shown(Usage({"totals": {"usd": 2.5}}))["Used"])
    assert used["spend"].text == "2.5 USD"
    assert by_label(shown(Usage({}))["Used"])["spend"].text == "?"


def test_every_number_leads_to_the_receipts_that_it_sums_up() -> None:
    used = by_label(shown(resources.usage())["Used"])
    assert used["runs"].target == ViewState("receipts", filter="completed>=2026-11-01 completed<2026-12-01")
    day = by_label(shown(resources.usage())["Day by day"])["2026-11-20"]
    assert day.target == ViewState("receipts", filter="completed>=2026-11-20 completed<2026-11-21")


def test_what_is_named_by_id_is_shown_by_its_name_and_leads_there() -> None:
    sections = shown(resources.usage())
    arm = by_label(sections["Spend by saved model"])["Ember"]
    assert "0.4000" in arm.text
    assert arm.target == ViewState("receipts", filter="completed>=2026-11-01 completed<2026-12-01 arm=arm_01HX7")
    assert by_label(sections["Spend by API key"])["ci"].target == ("api_key", KEY_ID)


def test_saved_models_and_keys_of_one_name_are_told_apart_by_their_ids() -> None:
    names = NameLookup({id: resources.arm(id, display_name="River") for id in ("arm_01HX7", "arm_2")}, {})
    used = resources.usage(by_arm=[{"arm_id": id, "usd": 1} for id in ("arm_01HX7", "arm_2", "arm_3")])
    assert [*by_label(shown(used, names)["Spend by saved model"])] == ["River arm_01HX7", "River arm_2", "arm_3"]


def test_saved_models_of_one_model_are_added_up() -> None:
    names = NameLookup({"a": Arm({"arm_id": "a", "model_id": "ember"}), "b": Arm({"arm_id": "b", "model_id": "ember"})})
    arms = [{"arm_id": "a", "usd": 0.1, "selected_count": 2}, {"arm_id": "b", "usd": 0.25, "selected_count": 1},
            {"arm_id": "gone", "usd": 0.05, "selected_count": 1}]  # fmt: skip
    period = {"from": "2026-11-20", "to": "2026-11-20"}
    models = by_label(shown(Usage({"period": period, "by_arm": arms}), names)["Spend by model"])
    assert "0.3500  3 selections" in models["ember"].text
    day = "completed>=2026-11-20 completed<2026-11-21"
    assert models["ember"].target == ViewState("receipts", filter=f"{day} arm=a | {day} arm=b")
    assert models["not known here"].target == ViewState("receipts", filter=f"{day} arm=gone")


def test_without_any_known_model_there_is_no_plot_by_model() -> None:
    assert "Spend by model" not in shown(resources.usage(), NameLookup())


def test_sections_keep_their_places_from_one_period_to_the_next() -> None:
    days = [{"date": f"2026-11-{day:02}", "usd": day, "executions": 1} for day in range(1, 21)]
    few, many_days = (list(shown(resources.usage(by_day=listed))) for listed in (days[-1:], days))
    assert few[:-1] == [title for title in many_days[:-1] if title != "Day by day"]
    assert many_days.index("Day by day") - 1 == many_days.index("Spend by day") > many_days.index("Spend by API key")


def test_a_long_period_is_drawn_as_columns_with_gaps_for_days_that_nobody_told() -> None:
    days = [{"date": f"2026-11-{day:02}", "usd": day, "executions": 1} for day in (1, 5, 20)]
    days.append({"date": "2026-11-07", "usd": 0, "unknown_calls": 1, "executions": 1})
    plot = shown(resources.usage(by_day=days))["Spend by day"].plot
    assert plot is not None
    assert [day.name for day in plot.days if day.value is not None] == ["2026-11-01", "2026-11-05", "2026-11-20"]
    assert len(plot.days) == 20
    assert (plot.days[1].words, plot.days[-1].words) == ("not in the report", "20.0000  1 run")
    assert [(day.words, day.is_partial) for day in plot.days[5:7]] == [
        ("not in the report", False),
        ("unknown  1 run", True),
    ]
    assert plot.groupings == ()


def test_days_are_grouped_by_fee_and_by_key_where_the_parts_add_up() -> None:
    days = [
        {"date": f"2026-11-{day:02}", "usd": 3, "passthrough_usd": 2, "platform_usd": 1, "executions": 1}
        for day in range(1, 10)
    ]
    keys = [
        {"api_key_id": name, "by_day": [{"date": f"2026-11-{day:02}", "usd": usd} for day in range(1, 9)]}
        for name, usd in (("key_a", 1), ("key_b", 2))
    ]
    plot = shown(resources.usage(by_day=days, by_key=keys))["Spend by day"].plot
    assert plot is not None
    fee, key = plot.groupings
    assert (fee.name, tuple(map(str, fee.series)), fee.parts[0]) == ("fee", ("usage", "fee"), (Decimal(2), Decimal(1)))
    assert (key.name, tuple(map(str, key.series))) == ("key", ("key_b", "key_a"))
    assert (key.parts[0], key.parts[-1]) == ((Decimal(2), Decimal(1)), ())


def test_a_period_without_runs_says_so() -> None:
    section = shown(Usage({"period": {"from": "2026-11-21", "to": "2026-11-21"}, "by_day": []}))["Spend by day"]
    assert [entry.text for entry in section.lines] == ["No run became final in this period."]


def test_a_report_without_a_list_of_days_is_not_one_of_no_runs() -> None:
    section = shown(Usage({"period": {"from": "2026-11-21", "to": "2026-11-21"}}))["Spend by day"]
    assert [entry.text for entry in section.lines] == ["The answer has no days."]


def test_unknown_members_and_wrong_types_are_shown() -> None:
    rest = by_label(shown(Usage({"carbon_g": 12, "totals": {"executions": "many"}}))["Other fields"])
    assert rest["carbon_g"].text == "12"
    assert (rest["totals.executions"].text, rest["totals.executions"].role) == ("many", Role.WARN)


usages = st.builds(
    Usage,
    st.fixed_dictionaries(
        {},
        optional={
            "period": st.fixed_dictionaries({}, optional={"from": texts, "to": st.one_of(texts, json_values)}),
            "totals": json_values,
            "by_day": st.lists(
                st.fixed_dictionaries(
                    {"date": st.one_of(texts, st.sampled_from(["2026-11-20", "0001-01-01", "9999-12-31"]))},
                    optional={"usd": st.one_of(st.none(), st.floats(), st.integers()), "executions": st.integers()},
                ),
                max_size=12,
            ),
            "by_arm": st.lists(st.fixed_dictionaries({"arm_id": texts, "usd": json_values}), max_size=5),
            "by_key": json_values,
            "more": json_values,
        },
    ),
)


@many
@given(usages, st.sampled_from([CONTEXT, RenderContext(NOW, glyphs=ASCII)]))
def test_any_report_is_drawn_clean_and_within_its_cells(usage: Usage, context: RenderContext) -> None:
    for section in usage_sections(usage, NAMES, room, context):
        for entry in section.lines:
            assert is_clean(entry.label)
            assert is_clean(entry.text)
            if section.title.startswith("Spend"):
                assert cell_width(entry.text) <= 48
            if isinstance(entry.target, ViewState) and entry.target.screen == "receipts":
                parse_filter(entry.target.filter, RECEIPTS)


@many
@given(texts)
def test_any_id_survives_a_filter(value: str) -> None:
    term: Any = parse_filter(f"arm={quote_value(value)}", RECEIPTS).term if len(value) < 900 and value else None
    assert term is None or term.terms[0].text == value


def test_a_period_at_the_end_of_the_calendar_has_no_day_behind_it() -> None:
    found = build_receipts_view(Period({"from": "9999-12-31", "to": "9999-12-31"}))
    assert found == ViewState("receipts", filter="completed>=9999-12-31")


@pytest.mark.parametrize("length", [1_900, 3_000, 60_000])
def test_an_id_that_no_filter_can_hold_is_no_link(length: int) -> None:
    long = "a" * length
    usage = Usage(
        {
            "period": {"from": "2026-11-01", "to": "2026-11-21"},
            "by_arm": [{"arm_id": long, "usd": "1", "selected_count": 1}],
        }
    )
    names = NameLookup(arms={long: Arm({"arm_id": long, "display_name": "x", "model_id": long})})
    found = [
        entry.target.filter
        for section in usage_sections(usage, names, lambda _: 40, CONTEXT)
        if section.title.startswith("Spend by")
        for entry in section.lines
        if isinstance(entry.target, ViewState)
    ]
    assert len(found) == (2 if length <= MAX_FILTER_CHARACTERS else 0)
    for text in found:
        parse_filter(text, RECEIPTS)


def test_a_value_that_no_filter_can_hold_has_none() -> None:
    assert build_field_filter("arm", "a" * 3_000) == ""
    assert build_field_filter("arm", "a") == "arm=a"
    assert build_field_filter("arm", "a", "b c") == 'arm=a | arm="b c"'


def test_the_account_says_what_is_left_and_leads_to_it() -> None:
    left = by_label(build_sections(ACCOUNT, builders.account(), CONTEXT)[0])
    assert left["live now"].target == ViewState("runs", filter="is:live")
    assert left["fees"].text == "0.05 USD a run, 0.4 USD a review"
    assert left["resets"].text.startswith("in 10d, 12-01")


def test_a_limit_of_null_is_none() -> None:
    quota = {
        "executions": {"limit": None, "used": 41, "remaining": None, "reset_at": None},
        "concurrency": {"limit": None, "running": 0}, "rate_limit_rpm": None,
    }  # fmt: skip
    sections = {
        str(section.title): by_label(section)
        for section in build_sections(ACCOUNT, builders.account(quota=quota), CONTEXT)
    }
    assert sections["Limits"]["runs"].text == "41 used, unlimited"
    assert sections["Limits"]["live now"].text == "0, unlimited"
    assert sections["Limits"]["requests/min"].text == "unlimited"
    assert sections["Quota"]["executions.limit"].text == "unlimited"
    assert sections["Quota"]["concurrency.limit"].text == "unlimited"


def test_a_limit_that_is_not_reported_is_not_called_unlimited() -> None:
    account = builders.account(quota={"executions": {"used": 41}})
    sections = {str(section.title): by_label(section) for section in build_sections(ACCOUNT, account, CONTEXT)}
    assert sections["Limits"]["runs"].text == "41"
    assert sections["Quota"]["executions.limit"].text == "–"


def test_times_are_those_of_the_quota_and_the_balance() -> None:
    quota = {"executions": {"reset_at": "2026-12-01T00:00:00Z"}}
    assert has_times(builders.account(balance=None, quota=quota))
    assert has_times(builders.account(quota=None))
    assert not has_times(builders.account(balance={"balance_usd": 0}, quota={"executions": {"reset_at": None}}))


def test_names_fall_back_to_ids() -> None:
    names = NameLookup({}, {"key_x": ApiKey({"api_key_id": "key_x"})})
    assert names.key("key_x", CONTEXT) == "key_x"
    assert names.arm(None, CONTEXT) == "?"
    assert names.model("arm_nowhere") is None


def test_a_day_with_fees_is_a_stack_of_usage_and_fee_and_says_both() -> None:
    days = [
        {"date": "2026-11-20", "executions": 9, "platform_usd": 0.2, "passthrough_usd": 0.1, "usd": 0.3},
        {"date": "2026-11-21", "executions": 1, "platform_usd": 0.2, "passthrough_usd": 0.1, "usd": 0.5},
    ]
    usage = resources.usage(by_day=days, period={"from": "2026-11-20"})
    sections = usage_sections(usage, NameLookup(), lambda _: 70, CONTEXT)
    rows = [row.text for section in sections if section.title == "Spend by day" for row in section.lines]
    assert "█▒" in rows[1]
    assert "9 runs, 0.1000 + 0.2000" in rows[1]
    # What does not add up is one bar.
    assert "▒" not in rows[0]
    assert rows[2] == "█ usage   ▒ fee"
