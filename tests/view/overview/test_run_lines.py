"""The overview lists the runs there are, counts what its filters find, and does not guess what is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.clock import format_iso
from runwatch.records.account import Account
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.state.changes import ReadFailure
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.view.overview.anomalies import find_anomalies
from runwatch.view.overview.failure_matrix import build_failure_matrix
from runwatch.view.overview.issues import Inventory, find_issues, issue_line
from runwatch.view.overview.limits import AccountLimits, account_age_text, limit_lines, missing_lists_text
from runwatch.view.overview.links import LinkedLine, ViewLink, build_equals_filter, count_cells
from runwatch.view.overview.newest_runs import newest_run_lines
from runwatch.view.overview.run_counts import HOUR, count_runs
from runwatch.view.overview.run_lines import compact_lines, ended_lines, ended_note, live_lines
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.registry import resource_named
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.table.rows import build_rows
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII
from tests.support import resources
from tests.support.builders import account, open_run
from tests.view.strategies import CONTEXT, NOW, few, hostile, many, subjects

FAILED_READ = ReadFailure(FailureKind.NOT_OFFERED, "Nothing is there")


def ago(seconds: float) -> str:
    """A moment before now, as a service writes it."""
    return format_iso(NOW - timedelta(seconds=seconds))


def live(run_id: str, status: str = "running", **over: Any) -> RunFacts:
    return RunFacts(open_run(run_id, status, **{"created_at": ago(60), **over}))


def ended(run_id: str, status: str = "completed", seconds_ago: float = 60, **over: Any) -> RunFacts:
    members = {"created_at": ago(seconds_ago + 5), "completed_at": ago(seconds_ago), "current": None, **over}
    return RunFacts(open_run(run_id, status, **members))


def on(provider: str | None, run: RunFacts, **selected: Any) -> RunFacts:
    """The same with a receipt that names its provider."""
    chosen = None if provider is None else {"provider": provider, **selected}
    raw = {"execution_id": run.id, "status": run.status, "slices": [{"route": {"selected": chosen}}]}
    return run._replace(receipt=Receipt(raw))


def text(lines: Iterable[LinkedLine]) -> str:
    return "\n".join("".join(part.text for part in parts) for parts in lines)


def ways(lines: Iterable[LinkedLine]) -> list[tuple[str, ViewLink]]:
    """What leads somewhere, and where."""
    return [(part.text.strip(), part.way) for parts in lines for part in parts if part.way is not None]


def found_by(filter: str, runs: Sequence[RunFacts], now: datetime = NOW) -> list[str]:
    """The runs that a list shows under a filter."""
    query = parse_filter(filter, RUNS)
    return [row.id for row in build_rows(RUNS, runs, RenderContext(now)) if query.matches(row)]


# What is live.


def test_live_runs_are_counted_with_the_oldest_and_what_they_spent_of_what_they_may() -> None:
    caps: dict[str, Any] = {"policy": {"budget": {"max_cost_usd": 0.5}}}
    runs = [
        live("ex_new", "queued", spend_usd=0, **caps),
        live("ex_old", created_at=ago(198), spend_usd=0.1612, **caps),
        live("ex_odd", "hovering", spend_usd=None, **caps),
    ]
    shown = text(live_lines(count_runs(runs), CONTEXT, 36))
    assert "● 3 live   ● 1 queued" in shown
    assert "oldest 3:18  ex_old" in shown
    assert "cost now  0.1612 of 1.0000 allowed" in shown
    assert "16 %" in shown
    assert "1 without cost or cap" in shown


def test_the_newest_runs_have_a_line_each_that_opens_them_live_ones_first_and_no_wider_than_the_window() -> None:
    runs = [
        ended("ex_failed", "failed", 30, reason="dispatch_network_error"),
        live("ex_live", created_at=ago(500)),
        ended("ex_first", seconds_ago=900),
    ]
    newest = count_runs(runs).newest
    lines = newest_run_lines(newest, CONTEXT, 76)
    assert [way.record for _, way in ways(lines)] == ["ex_live", "ex_failed", "ex_first"]
    assert "dispatch_network_error" in text(lines)
    assert {count_cells(parts) for parts in newest_run_lines(newest, CONTEXT, 60)} <= set(range(61))
    long = count_runs([ended("ex_01M8B58QW1Y56CX18PY5QT7BQT")]).newest
    assert [text(newest_run_lines(long, CONTEXT, cells)).count("…") for cells in (96, 118)] == [1, 0]
    utc, other_day = replace(CONTEXT, time="utc"), count_runs([ended("ex_old", seconds_ago=36 * 3600)]).newest
    created = other_day[0].run.created_at
    assert created is not None
    for cells, form in ((76, f"{created:%m-%d %H:%M:%S}  "), (60, f"{created:%m-%d %H:%M} ")):
        assert form in text(newest_run_lines(other_day, utc, cells))


def test_the_oldest_leads_to_itself() -> None:
    runs = [live("ex_new"), live("ex_old", created_at=ago(500))]
    assert ViewLink("runs", record="ex_old") in [way for _, way in ways(live_lines(count_runs(runs), CONTEXT, 36))]


def test_test_runs_have_no_cost_to_add_up() -> None:
    shown = text(live_lines(count_runs([live("ex_1", mode="echo"), live("ex_2", mode="echo")]), CONTEXT, 36))
    assert "2 test runs, no cost" in shown
    assert "allowed" not in shown


def test_a_cost_of_which_no_part_is_known_has_no_gauge() -> None:
    caps: dict[str, Any] = {"policy": {"budget": {"max_cost_usd": 0.5}}}
    shown = text(live_lines(count_runs([live("ex_1", spend_usd=0, unknown_calls=1, **caps)]), CONTEXT, 36))
    assert "cost now  unknown of 0.5000 allowed" in shown
    assert "%" not in shown


def test_costs_that_nobody_tells_are_no_nought() -> None:
    shown = text(live_lines(count_runs([live("ex_1", spend_usd=None)]), CONTEXT, 36))
    assert "cost now  ? not reported by these runs" in shown
    assert "0.0000" not in shown


def test_with_nothing_live_there_is_nothing_to_add_up() -> None:
    assert "nothing is live" in text(live_lines(count_runs([]), CONTEXT, 36))


# What ended.


def test_ends_are_counted_over_a_quarter_of_an_hour_and_an_hour() -> None:
    runs = [
        ended("ex_1"), ended("ex_2", seconds_ago=899), ended("ex_3", seconds_ago=900), ended("ex_4", seconds_ago=3599),
        ended("ex_5", seconds_ago=3600), ended("ex_6", "failed", 1000),
    ]  # fmt: skip
    shown = text(ended_lines(count_runs(runs), CONTEXT))
    assert re.search(r"✓ completed +2 +4\n", shown)
    assert re.search(r"✗ failed +0 +1\n", shown)


def test_the_plot_has_a_bar_for_every_five_minutes_and_the_sign_of_failure_where_most_failed() -> None:
    runs = [ended(f"ex_{n}", "failed", 400) for n in range(4)] + [ended("ex_ok", seconds_ago=30)]
    bars = ended_lines(count_runs(runs), CONTEXT)[-1][:-1]
    assert "".join(bar.text for bar in bars) == "▁▁▁▁▁▁▁▁▁▁✗▂"
    assert [bar.role for bar in bars][-2:] == ["bad", "plain"]


@pytest.mark.parametrize(
    ("completed", "cells", "bars", "row"),
    [
        (9, 77, 12, "✓ 9 completed  ✗ 1 failed  ◷ 0 expired  ⊘ 0 cancelled  ▁▁▁▁▁▁▁▁▁▁▁█"),
        (9, 76, 12, "✓ 9 completed ✗ 1 failed ◷ 0 expired ⊘ 0 cancelled ▁▁▁▁▁▁▁▁▁▁▁█"),
        (10, 76, 12, "✓ 10 completed ✗ 1 failed ◷ 0 expired ⊘ 0 cancelled ▁▁▁▁▁▁▁▁▁▁▁█"),
        (100, 76, 12, "✓ 100 completed ✗ 1 failed ◷ 0 expired ⊘ 0 cancelled ▁▁▁▁▁▁▁▁▁▁▁█"),
        (100, 70, 6, "✓ 100 completed ✗ 1 failed ◷ 0 expired ⊘ 0 cancelled ▁▁▁▁▁█"),
        (100, 60, 0, "✓ 100 completed ✗ 1 failed ◷ 0 expired"),
    ],
)
def test_a_narrow_window_shortens_padding_and_then_bars(completed: int, cells: int, bars: int, row: str) -> None:
    runs = [*(ended(f"ex_{n}") for n in range(completed)), ended("ex_x", "failed")]
    lines, buckets = compact_lines(count_runs(runs), AccountLimits(), CONTEXT, cells)
    assert text(lines).splitlines()[3] == f"hour     {row}"
    assert buckets == bars


def test_midnight_ends_no_hour() -> None:
    midnight = datetime(2026, 11, 22, 0, 3, tzinfo=UTC)
    runs = [
        on("p", ended(f"ex_{n}", "failed", completed_at=format_iso(midnight - timedelta(minutes=n)))) for n in (9, 5, 1)
    ]
    for zone in (UTC, timezone(timedelta(hours=5, minutes=30))):
        context = RenderContext(midnight, zone=zone)
        known = count_runs(runs)
        assert re.search(r"✗ failed +3 +3\n", text(ended_lines(known, context)))
        (trouble,) = find_issues(find_anomalies(known.ended_within(HOUR, midnight)), Inventory(), context)
        assert ("since 11-21 23:54" if zone is UTC else "since 05:24") in trouble.text
        assert len(found_by(trouble.way.filter, runs, midnight)) == 3


def test_runs_that_ended_at_a_time_nobody_tells_are_said_to_be_missing() -> None:
    known = count_runs([ended("ex_1", completed_at=None), ended("ex_2")])
    assert ended_note(known, CONTEXT, is_whole=True, is_read=True) == "1 more have no end time"


def test_a_list_that_may_go_on_within_the_hour_says_how_far_it_reaches() -> None:
    known = count_runs([ended("ex_1"), live("ex_2")])
    assert ended_note(known, CONTEXT, is_whole=False, is_read=True) == "of the newest 2 runs"
    assert ended_note(known, CONTEXT, is_whole=True, is_read=True) == ""
    older = count_runs([ended("ex_1"), ended("ex_2", seconds_ago=7200)])
    assert ended_note(older, CONTEXT, is_whole=False, is_read=True) == ""
    assert ended_note(count_runs([]), CONTEXT, is_whole=False, is_read=False) == ""


# Failed and expired.


def test_reasons_and_providers_make_a_table() -> None:
    runs = [
        *(on("openrouter", ended(f"ex_a{n}", "failed", reason="dispatch_network_error")) for n in range(6)),
        *(on("northwind", ended(f"ex_b{n}", "failed", reason="fallback_exhausted")) for n in range(2)),
        on("northwind", ended("ex_c", "expired", reason="runtime_exceeded")),
        on(None, ended("ex_d", "failed", reason=None, decision_packet=None)),
    ]
    table = build_failure_matrix(count_runs(runs), CONTEXT, 110)
    lines = text(table.lines).splitlines()
    assert text([table.head]).split() == ["reason", "northwind", "openrouter", "no", "provider", "all"]
    assert [row.split() for row in lines][:2] == [
        ["dispatch_network_error", "0", "6", "0", "6"], ["fallback_exhausted", "2", "0", "0", "2"],
    ]  # fmt: skip
    assert ["?", "no", "reason", "given", "0", "0", "1", "1"] in [row.split() for row in lines]


def test_providers_without_room_are_counted_and_still_in_the_sum() -> None:
    runs = [on(f"provider_number_{n}", ended(f"ex_{n}", "failed", reason="x")) for n in range(9)]
    table = build_failure_matrix(count_runs(runs), CONTEXT, 75)
    assert table.left_out > 0
    assert text(table.lines).split()[-1] == "9"
    assert all(count_cells(parts) <= 75 for parts in (table.head, *table.lines))


def test_nothing_failed_and_there_is_no_table() -> None:
    assert build_failure_matrix(count_runs([ended("ex_1")]), CONTEXT, 75).lines == ()


# What is left to spend.


def test_requests_quota_balance_and_problems_are_together() -> None:
    spending = AccountLimits(18, 60, 42, account(), problems=[NOW - timedelta(minutes=n) for n in (1, 14, 15, 80)])
    assert text(limit_lines(spending, CONTEXT)).splitlines() == [
        "requests 18 of 60 a minute", "quota    37 of 500 runs used", "balance  18.4 USD",
        "problems 2 in 15 min   0.1/min",
    ]  # fmt: skip


def test_tries_that_get_no_connection_are_no_nought() -> None:
    lost = PaneState(LoadState.OFFLINE, age_s=9, is_lost=True)
    assert text(limit_lines(AccountLimits(limit=60, state=lost), CONTEXT)).splitlines()[0] == (
        "requests no try gets a connection"
    )
    assert "requests 3 of 60 a minute" in text(limit_lines(AccountLimits(3, 60, state=lost), CONTEXT))


def test_an_account_read_earlier_than_the_runs_says_when() -> None:
    spending = AccountLimits(account=account(), state=PaneState(LoadState.FRESH, age_s=48))
    assert account_age_text(spending) == "account read 48s ago"
    narrow = text(compact_lines(count_runs([]), spending, CONTEXT, 76).lines)
    assert "account  quota 37 of 500 runs used · balance 18.4 USD · read 48s ago" in narrow
    assert account_age_text(AccountLimits(account=account(), state=PaneState(LoadState.FRESH, age_s=9))) == ""


def test_an_account_that_is_not_offered_is_no_nought() -> None:
    spending = AccountLimits(3, state=PaneState(LoadState.NOT_OFFERED, failure=FAILED_READ))
    shown = text(limit_lines(spending, CONTEXT))
    assert "account  not offered by this service" in shown
    assert "USD" not in shown


def test_an_account_that_tells_nothing_says_so() -> None:
    shown = text(limit_lines(AccountLimits(account=Account({"tenant_id": "t"})), CONTEXT))
    assert "quota    ? not stated" in shown
    assert "balance  ? not stated" in shown


def test_lists_that_are_missing_are_named_with_why() -> None:
    states = {
        "receipts": PaneState(LoadState.NOT_OFFERED),
        "checks": PaneState(LoadState.NOT_OFFERED),
        "connections": PaneState(LoadState.NOT_AUTHORISED),
        "saved models": PaneState(LoadState.FRESH, age_s=1),
    }
    assert missing_lists_text(states) == "receipts, checks: not offered by this service; connections: not for this key"


# What is wrong with what runs are made with.


def test_each_trouble_leads_to_its_record() -> None:
    inventory = Inventory(
        arms=[
            resources.arm("arm_1", "degraded", status_reason="no_route"),
            resources.arm(
                "arm_2",
                display_name="Held",
                route_availability={"status": "held", "reason": "capacity", "since": ago(60)},
            ),
            resources.arm("arm_3", "disabled"),
            resources.arm("arm_4", display_name="Well"),
        ],
        connections=[
            resources.connection(
                "conn_1", display_name="openrouter", test_state="failed", test_error="authentication",
                last_tested_at=ago(360),
            ),
            resources.connection("conn_2", test_state="failed", revoked_at=ago(10)),
        ],
        checks=[
            resources.verifier(status="degraded", status_reason="response_incompatible"),
            resources.verifier(
                "vrf_2", display_name="Old key", connection={"status": "expired", "stopped_at": ago(7200)}
            ),
            resources.verifier("vrf_3", display_name="Soon", connection={"status": "active", "days_remaining": 1}),
            resources.verifier("vrf_4", status="retired", connection={"status": "revoked"}),
        ],
    )  # fmt: skip
    found = find_issues([], inventory, CONTEXT)
    assert [trouble.text for trouble in found] == [
        "connection openrouter: test failed 6m ago · authentication",
        "output check Release-notes check vrf_7c1e: its response is not valid",
        "output check Old key: its key is expired 2h ago",
        "output check Soon: its key stops in 1 day", "saved model Ember 7B Instruct arm_1: degraded · no route",
        "saved model Held: held · capacity · 1m ago", "1 saved model is disabled",
    ]  # fmt: skip
    assert [trouble.way.record for trouble in found] == ["conn_1", "vrf_7c1e", "vrf_2", "vrf_3", "arm_1", "arm_2", ""]


def test_many_troubles_of_one_kind_are_one_line_that_leads_to_exactly_them() -> None:
    inventory = Inventory(
        arms=[
            *(resources.arm(f"arm_{n}", "degraded") for n in range(5)),
            resources.arm("arm_off", "disabled", route_availability={"status": "held"}), resources.arm("arm_ok"),
        ],
        connections=[
            *(resources.connection(f"conn_{n}", test_state="failed") for n in range(4)),
            resources.connection("conn_off", test_state="failed", revoked_at=ago(10)), resources.connection(),
        ],
        checks=[
            *(resources.verifier(f"vrf_a{n}", status="degraded") for n in range(4)),
            *(resources.verifier(f"vrf_b{n}", connection={"status": "expired"}) for n in range(5)),
            *(resources.verifier(f"vrf_c{n}", connection={"status": "active", "days_remaining": n}) for n in range(6)),
            resources.verifier("vrf_old", status="retired", connection={"status": "expired", "days_remaining": 0}),
        ],
    )  # fmt: skip
    every = {"arms": inventory.arms, "sources": inventory.connections, "verifiers": inventory.checks}
    found = find_issues([], inventory, CONTEXT)
    assert len(found) == 6
    for trouble in found:
        spec = resource_named(trouble.way.screen)
        query = parse_filter(trouble.way.filter, spec)
        number = int(trouble.text.split()[0])
        assert sum(query.matches(row) for row in build_rows(spec, every[trouble.way.screen], CONTEXT)) == number


def test_a_finding_is_one_sentence_with_numbers_moment_and_reason() -> None:
    bad = [
        on("openrouter", ended(f"ex_{n}", "failed", 60 * n, reason="dispatch_network_error"))
        for n in (2, 3, 4, 5, 6, 7)
    ]
    good = [on("openrouter", ended(f"ex_ok{n}", "completed", 60 * n - 30)) for n in (3, 4, 5)]
    context = RenderContext(NOW, zone=UTC)
    (trouble,) = find_issues(find_anomalies(count_runs([*bad, *good]).ended), Inventory(), context)
    assert trouble.text == "6 of 9 runs on openrouter failed since 11:53 · dispatch_network_error"
    assert set(found_by(trouble.way.filter, [*bad, *good])) == {run.id for run in bad}
    wide = issue_line(trouble, context, "enter", 114)
    assert text([wide]).endswith("enter lists them")
    assert count_cells(wide) <= 114
    assert text([issue_line(trouble, context, "enter", 75)]) == f"✗ {trouble.text}"


def test_a_saved_model_and_a_check_are_called_by_their_names() -> None:
    def failing(number: int) -> RunFacts:
        return on("p", ended(f"ex_{number}", "failed", 60 * number, reason="x"), arm_id="arm_1")

    good = [on("p", ended(f"ex_ok{n}", "completed", 60 * n), arm_id="arm_2") for n in range(9)]
    inventory = Inventory(arms=[resources.arm("arm_1", display_name="Ember EU")])
    found = find_issues(find_anomalies(count_runs([*map(failing, (1, 2, 3)), *good]).ended), inventory, CONTEXT)
    assert found[0].text.startswith("3 of 3 runs with the saved model Ember EU failed since")


# Everything at once, whatever the records say.


def every_line(runs: Sequence[RunFacts], context: RenderContext, cells: int) -> list[LinkedLine]:
    """All that the overview may draw of some runs."""
    known, spending = count_runs(runs), AccountLimits()
    return [
        *live_lines(known, context, cells),
        *ended_lines(known, context),
        *compact_lines(known, spending, context, cells).lines,
        *(matrix := build_failure_matrix(known, context, cells)).lines,
        matrix.head,
        *(
            issue_line(trouble, context, "enter", cells)
            for trouble in find_issues(find_anomalies(known.ended_within(HOUR, context.now)), Inventory(), context)
        ),
    ]


names = st.one_of(st.none(), st.sampled_from(['a "quoted" \\ name', "p | q", "!x", "", "a:b"]), hostile)
some_runs = st.lists(
    st.builds(
        lambda status, seconds, provider, reason, mode: on(
            provider, ended("ex", status, seconds, reason=reason, mode=mode)
        ),
        st.sampled_from(["completed", "failed", "failed", "failed", "expired", "cancelled"]),
        st.integers(-30, 4000),
        names,
        names,
        st.sampled_from(["live", "live", "live", "echo", None]),
    ),
    max_size=25,
).map(
    lambda runs: [
        run._replace(run=Run({**run.run.raw, "execution_id": f"ex_{number}"})) for number, run in enumerate(runs)
    ]
)


@many
@given(some_runs, st.lists(st.sampled_from(["queued", "running", "accepted", "hovering"]), max_size=5))
def test_every_number_counts_what_its_filter_finds(runs: list[RunFacts], states: list[str]) -> None:
    runs = [*runs, *(live(f"ex_live_{number}", status) for number, status in enumerate(states))]
    for said, way in ways(every_line(runs, CONTEXT, 100)):
        if way.screen != "runs" or way.record:
            continue
        found = found_by(way.filter, runs)
        number = re.match(r"(?:[●✓✗⊘◷] )?([0-9,]+)(?= (?!min)|$)", said)
        if number is not None:
            assert int(number[1].replace(",", "")) == len(found), (said, way)


@few
@given(st.lists(subjects(RUNS), max_size=6), st.sampled_from([20, 36, 75, 114]))
def test_records_of_any_form_are_counted_and_never_break_it(runs: list[RunFacts], cells: int) -> None:
    for context in (CONTEXT, RenderContext(NOW, glyphs=ASCII, time="utc")):
        for _, way in ways(every_line(runs, context, cells)):
            if way.filter:
                parse_filter(way.filter, RUNS)


@pytest.mark.parametrize("value", ["plain", 'with "quotes" and \\', "a | b", "", "x" * 5000])
def test_a_filter_for_a_value_finds_it(value: str) -> None:
    first = ended("ex_1", "failed", reason=value, decision_packet=None)
    runs = [first, ended("ex_2", "failed", reason="another"), ended("ex_3", "failed")]
    assert found_by(build_equals_filter("reason", value), runs) == ["ex_1"]


def test_a_filter_for_no_value_finds_those_without() -> None:
    runs = [ended("ex_1", "failed", reason="x"), ended("ex_2", "failed", reason=None, decision_packet=None)]
    assert found_by(build_equals_filter("reason", None), runs) == ["ex_2"]
