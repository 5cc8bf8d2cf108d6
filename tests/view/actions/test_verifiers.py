"""Actions on output checks, and on the keys of their endpoints and of review agents."""

from __future__ import annotations

import pytest

from runwatch.records.agent import ReviewAgent
from runwatch.records.verifier import Verifier
from runwatch.view.actions import reviews, verifiers
from runwatch.view.actions.verifiers import TEST
from runwatch.view.spec.action_parts import PageResult


@pytest.mark.parametrize(
    ("connection", "key"),
    [
        ({"status": "active"}, "with the key that is in use"),
        ({"status": "unbound"}, "without a key"),
        ({"status": "revoked"}, "without a key: it was revoked"),
        ({"status": "expired"}, "without a key: its stop date has passed"),
        ({"status": "unknown"}, "with its key if one is in use"),
        (None, "with its key if one is in use"),
    ],
)
def test_a_test_says_with_which_key_it_calls(connection: dict[str, str] | None, key: str) -> None:
    verifier = Verifier({"verifier_id": "vrf_1", "connection": connection})
    assert TEST.mutation is not None
    assert (
        TEST.mutation.sentence(verifier) == f"Calls the endpoint once with a reserved probe, {key}. No run is touched."
    )


@pytest.mark.parametrize(
    ("connection", "is_offered"),
    [
        ({"status": "active"}, True),
        ({"status": "unknown"}, True),
        (None, True),
        ({"status": "unbound"}, False),
        ({"status": "revoked"}, False),
        ({"status": "expired"}, False),
    ],
)
def test_stopping_a_key_is_offered_unless_the_record_says_that_none_is_in_use(
    connection: dict[str, str] | None, is_offered: bool
) -> None:
    verifier = Verifier({"verifier_id": "vrf_1", "status": "ready", "connection": connection})
    assert verifiers.REVOKE.enabled_when(verifier) is is_offered
    assert reviews.REVOKE.enabled_when(ReviewAgent({"arm_id": "arm_1", "status": "ready"}))


def test_no_key_of_an_agent_or_check_that_is_off_is_entered_tested_or_stopped() -> None:
    agent = ReviewAgent({"arm_id": "arm_1", "status": "disabled"})
    verifier = Verifier({"verifier_id": "vrf_1", "status": "retired", "connection": {"status": "active"}})
    for of_agent, of_check in (
        (reviews.CONNECT, verifiers.CONNECT),
        (reviews.PROMOTE, verifiers.PROMOTE),
        (reviews.REVOKE, verifiers.REVOKE),
    ):
        assert not of_agent.enabled_when(agent)
        assert not of_check.enabled_when(verifier)


_PENDING: dict[str, object] = {"pending_key": {"handle": "cred_v_1", "captured_generation": 0}}


@pytest.mark.parametrize(
    ("state", "lacks", "sentence"),
    [
        ({"status": "active"}, "", "Stops using the key of arm_1 at once: "),
        ({"status": "unbound"}, "No key is in use.", ""),
        ({"status": "revoked"}, "No key is in use.", ""),
        ({"status": "unbound", **_PENDING}, "", "No key of arm_1 is in use. "),
        ({"status": "unknown"}, "", "The service does not say whether a key of arm_1 is in use. "),
        ({}, "", "The service does not say whether a key of arm_1 is in use. "),
    ],
)
def test_what_the_connection_says_decides_whether_a_key_can_be_stopped(
    state: dict[str, object], lacks: str, sentence: str
) -> None:
    mutation = reviews.REVOKE.mutation
    assert mutation is not None
    assert mutation.prerequisite is not None
    assert mutation.prerequisite.lacks(state) == lacks
    if not lacks:
        assert mutation.sentence(PageResult("arm_1", None, {}, state)).startswith(sentence)
