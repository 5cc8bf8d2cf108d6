"""What a pane says where its list cannot be read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from runwatch.api.errors import ServiceStoppedError
from runwatch.records.problem import NOT_A_PROBLEM, Problem, synthetic_problem
from runwatch.records.receipt import Receipt
from runwatch.store.state.changes import ReadFailure, read_failure_from_error
from runwatch.store.state.failure_kind import FailureKind
from runwatch.store.state.freshness import LoadState, PaneState
from runwatch.view.detail.pane_state import empty_state_lines, is_stale, pane_status
from runwatch.view.query.parser import parse_filter
from runwatch.view.query.server_filter import server_parameters
from runwatch.view.resources.arms import ARMS
from runwatch.view.resources.receipts import RECEIPTS
from runwatch.view.resources.verifiers import VERIFIERS
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.format import time_of_day
from tests.support import builders
from tests.view.strategies import CONTEXT, NOW


def test_a_list_that_is_too_large_names_filters_that_the_service_knows() -> None:
    failure = ReadFailure(FailureKind.ERROR, "The response is larger than 64 MiB", is_final=True)
    state = PaneState(LoadState.ERROR, failure=failure)
    told = "\n".join(empty_state_lines(RECEIPTS, state, CONTEXT, lambda key: key))
    assert "Nothing is read until you press screen.refresh." in told
    assert Receipt.WIRE is not None
    for named in re.findall(r"\w+[<=]\w+", told):
        assert server_parameters(parse_filter(named, RECEIPTS), Receipt.WIRE.filters, NOW), named


def test_an_empty_list_names_keys_where_a_record_can_be_made_and_commands_elsewhere() -> None:
    def told(spec: ResourceSpec[Any], *, can_create: bool = True) -> str:
        keys = {"app.models": "3", "screen.new": "+"}
        return "\n".join(
            empty_state_lines(
                spec, PaneState(LoadState.EMPTY), CONTEXT, lambda id: keys.get(id, id), can_create=can_create
            )
        )

    assert told(ARMS).splitlines()[:2] == ["Nothing is saved yet.", "Press 3 (Models), then + on a model."]
    assert told(VERIFIERS) == "No output checks yet.\n+  Register an output check"
    assert "`runwatch models save ID` saves a model" in told(ARMS, can_create=False)


def test_a_list_of_a_service_that_no_retry_starts_says_how_to_start_it() -> None:
    error = ServiceStoppedError(
        "It is not running",
        kind="refused",
        was_sent=False,
        operation="",
        attempts=1,
        outcome_known=True,
        key=None,
        detail=None,
        hint="Start it.",
    )
    failure = read_failure_from_error(error, collection=True)
    told = empty_state_lines(RECEIPTS, PaneState(LoadState.OFFLINE, failure=failure), CONTEXT, str)
    assert told == ("It is not running", "Start it.")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (PaneState(LoadState.LOADING, budget_s=11.2), "waits for the request limit, reads in 12 s"),
        (
            PaneState(LoadState.STALE, age_s=61, budget_s=130),
            "updated 1m ago · waits for the request limit, reads in 2:10",
        ),
        (PaneState(LoadState.FRESH, budget_s=1), "updated just now · waits for the request limit, reads in 1 s"),
        (PaneState(LoadState.FRESH), "updated just now"),
        (
            PaneState(LoadState.STALE, failure=None, age_s=61, waiting_s=1, is_refreshing=True, budget_s=3),
            "updated 1m ago · reading",
        ),
    ],
)
def test_a_read_that_waits_for_the_request_limit_says_when_it_goes(state: PaneState, said: str) -> None:
    assert pane_status(state, CONTEXT).text == said
    if state.load is LoadState.LOADING:
        told = empty_state_lines(RECEIPTS, state, CONTEXT, lambda key: key)
        assert told == (said, "screen.refresh asks now.")


@pytest.mark.parametrize("load", [LoadState.OFFLINE, LoadState.NOT_AUTHORISED, LoadState.ERROR])
def test_a_list_that_failed_says_that_it_is_being_read_again(load: LoadState) -> None:
    failure = ReadFailure(FailureKind(load.value), "It did not work", is_final=True)
    state = PaneState(load, age_s=60.0, failure=failure, waiting_s=3.0)
    assert "reading again… 3s" in pane_status(state, CONTEXT).text
    told = empty_state_lines(RECEIPTS, state, CONTEXT, lambda key: key)
    assert (told[0], told[-1]) == ("It did not work", "Reading again… 3s")
    # Of a lost service, each try would come and go.
    lost = state._replace(load=LoadState.OFFLINE, is_lost=True)
    assert "again…" not in f"{pane_status(lost, CONTEXT).text}{empty_state_lines(RECEIPTS, lost, CONTEXT, str)}"
    never = lost._replace(age_s=None, since=CONTEXT.now)
    assert pane_status(never, CONTEXT).text == f"not read since {time_of_day(CONTEXT.now, CONTEXT)}"


def test_a_list_that_is_withdrawn_has_old_rows_and_says_since_when() -> None:
    problem = builders.problem("not_found", status=404)
    failure = ReadFailure(FailureKind.ERROR, "Not found", problem=problem, is_withdrawn=True)
    state = PaneState(LoadState.ERROR, age_s=130.0, since=CONTEXT.now, failure=failure)
    since = time_of_day(CONTEXT.now, CONTEXT)
    assert is_stale(state)
    assert pane_status(state, CONTEXT).text == f"no longer listed · data 2m old · since {since}"
    first, last = empty_state_lines(RECEIPTS, state, CONTEXT, lambda key: key)
    assert first == f"The service lists no receipts since {since} (404). What is known of them is from before."
    assert "screen.refresh looks now" in last
    assert not is_stale(state._replace(failure=failure._replace(is_withdrawn=False)))


def test_a_first_read_that_was_refused_is_not_loading_for_ever() -> None:
    failure = ReadFailure(FailureKind.RATE_LIMITED, "Too many requests")
    assert pane_status(PaneState(LoadState.LOADING, failure=failure), CONTEXT).text == "not read · Too many requests"
    again = PaneState(LoadState.LOADING, failure=failure, waiting_s=0.2)
    assert pane_status(again, CONTEXT).text == "loading…"


def test_a_list_in_whose_place_a_page_of_another_program_came_may_be_hidden_by_a_proxy() -> None:
    def said(problem: Problem) -> str:
        failure = ReadFailure(FailureKind.NOT_OFFERED, "Not found", problem=problem)
        return empty_state_lines(VERIFIERS, PaneState(LoadState.NOT_OFFERED, failure=failure), CONTEXT, str)[0]

    assert said(builders.problem("not_found", status=404)) == "This service offers no list of output checks."
    assert said(synthetic_problem(NOT_A_PROBLEM, "", 404, "")).endswith(
        "or a proxy in between hides it: an answer of another program (404) came."
    )
