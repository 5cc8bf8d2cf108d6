"""What the last answers say of the connection."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.store.live.connection_state import ConnectionState

AT: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
GOOD: Final = RequestAttempt(
    at=AT, operation="getExecutions", method="GET", path="/v1/executions", query="", status=200, elapsed_s=0.1,
    attempt=1, key=None, sent_bytes=0, received_bytes=0, error=None, problem=None, profile="work",
    origin="http://127.0.0.1:1",
)  # fmt: skip
PAGE: Final = GOOD._replace(error="unusable")
BAD: Final = GOOD._replace(status=502)
TOO_LARGE: Final = GOOD._replace(status=None, error="too_large")
DEAD: Final = GOOD._replace(status=None, error="refused")
RESET: Final = GOOD._replace(status=None, error="reset")
ACCOUNT: Final = "/v1/account"


@pytest.mark.parametrize(
    ("attempts", "is_failing"),
    [
        ([PAGE, PAGE, PAGE], True),
        ([BAD, BAD._replace(path=ACCOUNT), DEAD], True),
        ([BAD, DEAD], False),
        ([BAD, BAD._replace(attempt=2), BAD._replace(attempt=3)], False),
        ([PAGE, PAGE, PAGE, GOOD], False),
        ([PAGE, PAGE, GOOD, PAGE], False),
        ([TOO_LARGE, TOO_LARGE, TOO_LARGE], False),
    ],
)
def test_three_failures_in_a_row_are_no_live_connection(attempts: list[RequestAttempt], is_failing: bool) -> None:
    state = ConnectionState(2, lambda _: None, lambda: None, lambda: None)
    for second, attempt in enumerate(attempts):
        state.note(attempt._replace(at=AT + timedelta(seconds=second)))
    assert state.failing_since == (AT if is_failing else None)


EVENTS: Final = RESET._replace(operation="getExecutionsByExecutionIdEvents", path="/v1/executions/ex_1/events")


@pytest.mark.parametrize(
    ("attempts", "is_lost"),
    [
        ([EVENTS], True),
        ([EVENTS, GOOD], False),
        ([EVENTS, GOOD, EVENTS], False),
        ([EVENTS, GOOD, EVENTS, RESET], True),
        ([EVENTS, GOOD, EVENTS._replace(error="refused")], True),
        ([EVENTS, GOOD, EVENTS._replace(status=200, error=None), GOOD, EVENTS], True),
    ],
)
def test_one_operation_whose_connections_break_says_nothing_of_a_service_that_answers_others(
    attempts: list[RequestAttempt], is_lost: bool
) -> None:
    state = ConnectionState(0, lambda _: None, lambda: None, lambda: None)
    for attempt in attempts:
        state.note(attempt)
    assert (state.lost_since is not None) == is_lost


@pytest.mark.parametrize(
    ("heard", "lost_since"),
    [
        ([False], AT),
        ([GOOD, False, False], AT + timedelta(seconds=1)),
        ([False, True], None),
        ([False, GOOD], None),
        ([DEAD, True], AT),
        ([False, DEAD, True], AT),
    ],
)
def test_a_connection_that_does_not_open_is_a_loss_and_one_that_opens_takes_back_only_that(
    heard: list[RequestAttempt | bool], lost_since: datetime | None
) -> None:
    state = ConnectionState(0, lambda _: None, lambda: None, lambda: None)
    for second, what in enumerate(heard):
        at = AT + timedelta(seconds=second)
        if isinstance(what, bool):
            state.note_connect(at, is_open=what)
        else:
            state.note(what._replace(at=at))
    assert state.lost_since == lost_since


@pytest.mark.parametrize(
    ("attempt", "came"),
    [
        (BAD._replace(received_bytes=40), "an error page (502)"),
        (BAD._replace(received_bytes=0), "an empty answer (502)"),
        (PAGE._replace(received_bytes=40), "an unreadable answer (200)"),
        (PAGE, "an empty answer (200)"),
        (GOOD._replace(status=None, error="cut"), "an answer that breaks off"),
        (DEAD, ""),
    ],
)
def test_a_service_that_answers_nonsense_is_told_from_one_that_is_gone(attempt: RequestAttempt, came: str) -> None:
    state = ConnectionState(0, lambda _: None, lambda: None, lambda: None)
    state.note(attempt)
    state.note(attempt._replace(at=AT + timedelta(seconds=1), operation="getAccount", path=ACCOUNT))
    assert (state.lost_since, state.came) == (AT, came)
    state.note(GOOD._replace(at=AT + timedelta(seconds=2)))
    assert (state.lost_since, state.came) == (None, "")


@pytest.mark.parametrize("lost", [DEAD, BAD])
@pytest.mark.parametrize("key", ["key_1", None])
def test_a_write_that_is_lost_says_nothing_of_the_service_and_a_read_asks_at_once(
    lost: RequestAttempt, key: str | None
) -> None:
    asked_in: list[float] = []
    state = ConnectionState(1, asked_in.append, lambda: None, lambda: None)
    state.note(GOOD)
    for attempt in (1, 2) if key else (1,):
        assert not asked_in
        state.note(lost._replace(method="POST", operation="postExecutions", key=key, attempt=attempt))
    assert (state.lost_since, state.failing_since, asked_in) == (None, None, [0.0])
    for attempt in (1, 2):
        state.note(DEAD._replace(at=AT + timedelta(seconds=attempt), attempt=attempt))
    assert state.lost_since == AT + timedelta(seconds=1)
    state.note(GOOD._replace(method="POST"))
    assert state.lost_since is None, "an answer to a write is one of the service"
