"""One thing that fails more than the rest is named, with the moment since when; chance and general trouble are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from runwatch.view.overview.anomalies import (
    ALL,
    DIMENSIONS,
    MIN_FAILURES,
    MIN_SHARE,
    REASON,
    STILL,
    Anomaly,
    find_anomalies,
)
from runwatch.view.overview.run_counts import EndedRun
from tests.view.strategies import NOW, many


def ended(minutes_ago: float, status: str = "completed", **over: object) -> EndedRun:
    made = EndedRun(f"ex_{minutes_ago:g}_{status}", NOW - timedelta(minutes=minutes_ago), status)
    return replace(made, **over)  # type: ignore[arg-type]


def on(provider: str, *ends: tuple[float, str], reason: str | None = "dispatch_network_error") -> list[EndedRun]:
    return [
        ended(
            ago, status, id=f"ex_{provider}_{ago:g}", provider=provider, reason=reason if status == "failed" else None
        )
        for ago, status in ends
    ]


OUTAGE = on(
    "openrouter", (9, "failed"), (8, "completed"), (7, "failed"), (6, "failed"), (5, "completed"), (4, "failed"),
    (3, "failed"), (2, "completed"), (1, "failed"),
)  # fmt: skip
ELSEWHERE = on("northwind", *((minute + 0.5, "completed") for minute in range(9)))


def test_one_provider_that_fails_is_named_with_its_numbers_its_moment_and_its_reason() -> None:
    (finding,) = find_anomalies([*OUTAGE, *ELSEWHERE])
    assert (finding.dimension, finding.value) == ("provider", "openrouter")
    assert (len(finding.bad), finding.total) == (6, 9)
    assert finding.since == NOW - timedelta(minutes=9)
    assert finding.status == "failed"
    assert finding.reason == "dispatch_network_error"


def test_good_runs_before_the_trouble_do_not_hide_it() -> None:
    before = on("openrouter", *((minute, "completed") for minute in range(20, 50)))
    (finding,) = find_anomalies([*before, *OUTAGE, *ELSEWHERE])
    assert (len(finding.bad), finding.total) == (6, 9)


def test_two_failures_are_chance() -> None:
    assert find_anomalies([*on("openrouter", (2, "failed"), (1, "failed")), *ELSEWHERE]) == []


def test_three_good_runs_end_the_spell() -> None:
    healed = on("openrouter", *((0.1 * number, "completed") for number in range(STILL)))
    assert all(finding.value != "openrouter" for finding in find_anomalies([*OUTAGE, *healed, *ELSEWHERE]))


def test_where_everything_fails_no_provider_is_blamed() -> None:
    both = [
        *on("a", *((n, "failed") for n in (6, 4, 2)), reason=None),
        *on("b", *((n, "failed") for n in (5, 3, 1)), reason=None),
    ]
    (finding,) = find_anomalies(both)
    assert finding.dimension == ALL
    assert (len(finding.bad), finding.total) == (6, 6)


def test_the_model_at_fault_is_named_rather_than_the_provider_of_all() -> None:
    runs = [
        *(replace(run, model="atlas") for run in on("p", (5, "failed"), (3, "failed"), (1, "failed"))),
        *(replace(run, model="ember") for run in on("p", (4.5, "completed"), (2.5, "completed"))),
    ]
    (finding,) = find_anomalies(runs)
    assert (finding.dimension, finding.value) == ("model", "atlas")


def test_a_provider_with_one_model_and_one_saved_model_is_named_once() -> None:
    runs = [replace(run, model="atlas", arm="arm_1", connection="conn_1") for run in OUTAGE]
    (finding,) = find_anomalies([*runs, *ELSEWHERE])
    assert finding.dimension == "provider"


def test_a_check_that_rejects_everything_is_named() -> None:
    judged = [
        replace(run, check="vrf_1") for run in on("a", (5, "failed"), (3, "failed"), (1, "failed"), reason="rejected")
    ]
    others = on("a", *((n + 0.25, "completed") for n in range(9)))
    (finding,) = find_anomalies([*judged, *others])
    assert (finding.dimension, finding.value) == ("check", "vrf_1")


def test_a_reason_without_any_provider_stands_out_among_the_failed() -> None:
    unrouted = [ended(n, "failed", reason="no_eligible_arms") for n in (6, 4, 2)]
    finding, *rest = find_anomalies([*unrouted, *ELSEWHERE])
    assert (finding.dimension, finding.value, finding.total) == (REASON, "no_eligible_arms", 3)
    assert rest == []


def test_a_reason_of_a_few_among_very_many_is_no_news() -> None:
    unrouted = [ended(n, "failed", reason="runtime_exceeded") for n in (50, 30, 10)]
    crowd = [ended(n / 4, id=f"ex_{n}") for n in range(200)]
    assert find_anomalies([*unrouted, *crowd]) == []


def test_cancelled_runs_and_test_runs_are_not_counted() -> None:
    cancelled = [replace(run, status="cancelled") for run in OUTAGE]
    tests = [replace(run, is_test=True) for run in OUTAGE]
    assert find_anomalies([*cancelled, *ELSEWHERE]) == []
    assert find_anomalies([*tests, *ELSEWHERE]) == []


def test_expired_runs_count_like_failed_ones_and_a_mixture_has_no_one_word() -> None:
    runs = on("p", (5, "failed"), (3, "expired"), (1, "failed"))
    (finding,) = find_anomalies([*runs, *ELSEWHERE])
    assert finding.status is None


def test_a_provider_that_is_the_only_one_is_named_too() -> None:
    (finding,) = find_anomalies(OUTAGE)
    assert (finding.dimension, finding.value) == ("provider", "openrouter")


def test_nothing_ended_and_nothing_stands_out() -> None:
    assert find_anomalies([]) == []


a_value = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))
runs_that_ended = st.lists(
    st.builds(
        EndedRun, id=st.uuids().map(str), at=st.integers(0, 3599).map(lambda seconds: NOW - timedelta(seconds=seconds)),
        status=st.sampled_from(["completed", "failed", "failed", "expired", "cancelled"]), is_test=st.booleans(),
        reason=a_value, provider=a_value, connection=a_value, model=a_value, arm=a_value, check=a_value,
    ),
    max_size=40, unique_by=lambda run: run.id,
)  # fmt: skip


def _of(finding: Anomaly, runs: list[EndedRun]) -> list[EndedRun]:
    further: dict[str, Callable[[EndedRun], str | None]] = {REASON: lambda run: run.reason, ALL: lambda _: ""}
    value_of = {**dict(DIMENSIONS), **further}[finding.dimension]
    counted = [run for run in runs if not run.is_test and (run.is_bad or run.status == "completed")]
    if finding.dimension == REASON:
        counted = [run for run in counted if run.is_bad]
        return [run for run in counted if run.at >= finding.since and value_of(run) == finding.value]
    return [run for run in counted if run.at >= finding.since and value_of(run) == finding.value and run.is_bad]


@many
@given(runs_that_ended)
def test_every_finding_tells_runs_that_are_there_and_keeps_to_its_own_bounds(runs: list[EndedRun]) -> None:
    for finding in find_anomalies(runs):
        assert {run.id for run in _of(finding, runs)} == set(finding.bad)
        assert len(finding.bad) >= MIN_FAILURES
        assert finding.share >= MIN_SHARE
        assert finding.since == min(run.at for run in runs if run.id in finding.bad)


@many
@given(runs_that_ended, st.randoms())
def test_the_order_in_which_runs_come_changes_nothing(runs: list[EndedRun], chance: object) -> None:
    mixed = list(runs)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert find_anomalies(mixed) == find_anomalies(runs)


@many
@given(runs_that_ended)
def test_no_finding_only_repeats_those_above_it(runs: list[EndedRun]) -> None:
    told: set[str] = set()
    for finding in find_anomalies(runs):
        assert not told.issuperset(finding.bad)
        told.update(finding.bad)


@many
@given(runs_that_ended)
def test_where_at_most_two_runs_failed_nothing_stands_out(runs: list[EndedRun]) -> None:
    bad = [run for run in runs if run.is_bad]
    kept = [run for run in runs if not run.is_bad or run in bad[: MIN_FAILURES - 1]]
    assert find_anomalies(kept) == []


@many
@given(runs_that_ended)
def test_three_good_runs_of_every_value_quiet_every_dimension(runs: list[EndedRun]) -> None:
    healed = [
        ended(-number / 60, id=f"ok_{value}_{number}", **dict.fromkeys((name for name, _ in DIMENSIONS), value))
        for value in ("a", "b", "c")
        for number in range(STILL)
    ]
    assert {finding.dimension for finding in find_anomalies([*runs, *healed])} <= {REASON}
