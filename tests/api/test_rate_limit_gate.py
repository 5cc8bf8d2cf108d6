"""The gate that a 429 closes (manual: decisions, "Rate limits")."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runwatch.api.errors import RateLimitedError
from runwatch.api.rate_limit_gate import DEFAULT_HOLD_S, LONGEST_HOLD_S, RateLimitGate, parse_retry_after_s
from tests.support.builders import problem
from tests.support.clock import FakeClock

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_an_open_gate_lets_everything_through(clock: FakeClock) -> None:
    gate = RateLimitGate(clock)
    gate.check("getExecutions")
    assert gate.seconds_left() == 0
    assert gate.seconds_left("getExecutions") == 0


def test_a_rate_limit_holds_every_operation(clock: FakeClock) -> None:
    gate = RateLimitGate(clock)
    gate.close(None, 20)
    clock.advance(5)
    with pytest.raises(RateLimitedError) as held:
        gate.check("getExecutions", key="k")
    assert held.value.seconds == pytest.approx(15)
    assert (held.value.operation, held.value.attempts, held.value.key) == ("getExecutions", 0, "k")
    assert held.value.outcome_known


def test_a_hold_ends_to_the_moment(clock: FakeClock) -> None:
    gate = RateLimitGate(clock)
    gate.close(None, 20)
    clock.advance(19.99)
    with pytest.raises(RateLimitedError):
        gate.check("getAccount")
    clock.advance(0.01)
    gate.check("getAccount")


def test_a_spent_quota_holds_only_the_operation_that_met_it(clock: FakeClock) -> None:
    gate = RateLimitGate(clock)
    gate.close("postExecutions", 3600)
    gate.check("getExecutions")
    assert gate.seconds_left() == 0
    assert gate.seconds_left("postExecutions") == pytest.approx(3600)
    with pytest.raises(RateLimitedError):
        gate.check("postExecutions")


def test_the_longer_of_two_holds_counts(clock: FakeClock) -> None:
    gate = RateLimitGate(clock)
    gate.close("postExecutions", 100)
    gate.close(None, 10)
    assert gate.seconds_left("postExecutions") == pytest.approx(100)
    assert gate.seconds_left() == pytest.approx(10)


def test_a_late_answer_does_not_shorten_a_hold(clock: FakeClock) -> None:
    gate = RateLimitGate(clock)
    gate.close(None, 60)
    gate.close(None, 5)
    assert gate.seconds_left() == pytest.approx(60)


def test_no_hold_means_no_wait(clock: FakeClock) -> None:
    gate = RateLimitGate(clock)
    gate.close(None, 0)
    gate.check("getAccount")


@pytest.mark.parametrize(
    ("body", "header", "seconds"),
    [
        (20, None, 20),
        (20, "99", 20),
        (0, "99", 0),
        (None, "7", 7),
        (None, " 7 ", 7),
        (None, "Sat, 21 Nov 2026 12:00:30 GMT", 30),
        (None, "Saturday, 21-Nov-26 12:01:00 GMT", 60),
        (None, "Sat, 21 Nov 2026 12:00:30 -0000", 30),
        (None, "Sat, 21 Nov 2026 11:00:00 GMT", 0),
        (None, None, DEFAULT_HOLD_S),
        (None, "", DEFAULT_HOLD_S),
        (None, "soon", DEFAULT_HOLD_S),
        (None, "-5", DEFAULT_HOLD_S),
        (None, "1.5", DEFAULT_HOLD_S),
        (None, "٣", DEFAULT_HOLD_S),
        (None, "5, 6", DEFAULT_HOLD_S),
        (-3, None, DEFAULT_HOLD_S),
        (-3, "4", 4),
        ("20", None, DEFAULT_HOLD_S),
        (10**3000, None, LONGEST_HOLD_S),
        (None, "9" * 5000, LONGEST_HOLD_S),
        (None, "Fri, 99 Foo 2026 12:00:30 GMT", DEFAULT_HOLD_S),
    ],
)
def test_the_length_of_a_hold_is_read_from_the_body_then_the_header_then_a_minute(
    body: object, header: str | None, seconds: float
) -> None:
    said = problem("rate_limited", retry_after_s=body) if body is not None else problem("rate_limited")
    assert parse_retry_after_s(said, header, NOW) == seconds
