"""Why a test of a connection failed, and what to do: test again, or connect again if it was removed."""

from __future__ import annotations

import pytest

from runwatch.records.source import NO_KEY, SOURCE_FAILURE_TEXTS, SourceConnection
from runwatch.view.problems.source_failures import explain_failure


@pytest.mark.parametrize("kind", [*(kind for kind in SOURCE_FAILURE_TEXTS if kind != NO_KEY), None, "another"])
def test_a_removed_connection_is_not_to_be_tested_again(kind: str | None) -> None:
    failed = SourceConnection({"connection_id": "conn_1", "test_failure": kind, "test_was_sent": True})
    kept, removed = explain_failure(failed), explain_failure(failed, is_kept=False)
    assert kept.why == removed.why
    assert "test" not in removed.advice.lower().split()
    rotates = kind in {"authentication", "permission", "credential_unavailable"}
    command = "runwatch sources rotate --key-stdin conn_1" if rotates else "runwatch sources test conn_1"
    assert kept.advice.endswith(f": {command}")
    assert "conn_1" not in removed.advice


def test_a_response_that_was_cut_is_distinguished_from_a_server_that_does_not_answer() -> None:
    said = {
        explain_failure(SourceConnection({"test_failure": kind, "test_was_sent": was_sent})).why
        for kind, was_sent in (("network", False), ("network", True), ("response_incomplete", True))
    }
    assert said == {
        "nothing answered at the address",
        "the source took the call and closed the connection without an answer",
        "the connection ended in the middle of the answer",
    }


def test_of_several_named_models_those_that_failed_are_named() -> None:
    failed = {"test_failure": "request_refused", "test_models": ["nope"], "test_http_status": 400}
    several, single = (
        explain_failure(SourceConnection({**failed, "endpoint": {"models": models}})).why
        for models in (["tiny", "nope"], ["nope"])
    )
    assert several == "the source refused the request, when nope was called (HTTP 400)"
    assert single == "the source refused the request (HTTP 400)"


def test_a_server_that_asks_for_a_key_is_told_how_to_get_one() -> None:
    failed = SourceConnection({"connection_id": "conn_1", "auth_scheme": "none", "test_error": "authentication"})
    assert explain_failure(failed) == (
        "the server asks for a key",
        "Give it one: runwatch sources rotate --key-stdin conn_1",
    )
    assert "--key-stdin" in explain_failure(failed, is_kept=False).advice


def test_the_wait_and_the_form_of_an_answer_decide_the_advice() -> None:
    busy = SourceConnection({"test_failure": "rate_limited", "test_retry_after_s": 90})
    assert explain_failure(busy).advice == "Test again in 1 min 30 s, as the source asks."
    page = {"test_failure": "invalid_response", "test_body_kind": "html", "test_content_type": "text/html"}
    why, advice = explain_failure(SourceConnection({**page, "endpoint": {"protocol_profile": "openai_chat"}}))
    assert why.endswith("of the protocol openai_chat: it was an HTML page (text/html)")
    assert "usually ends in /v1" in advice


def test_a_quoted_sentence_brings_no_second_full_stop() -> None:
    failed = SourceConnection({"test_failure": "authentication", "test_message": "Incorrect API key provided."})
    assert explain_failure(failed).why.endswith(': "Incorrect API key provided"')
