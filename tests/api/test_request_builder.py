"""Operations and parameters as requests (manual: interface, "Headers", "Idempotency")."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.api.errors import InvalidRequestError
from runwatch.api.http.exchange import HttpRequest
from runwatch.api.operations import OPERATIONS
from runwatch.api.request_builder import build_request

READ = OPERATIONS["getExecutionsByExecutionId"]
LIST = OPERATIONS["getExecutions"]


def build(operation: Any = READ, **given: Any) -> HttpRequest:
    """A request with nothing that the test does not name."""
    options: dict[str, Any] = {"path": {}, "query": {}, "body": None, "key": None}
    return build_request(operation, **{**options, **given})


@pytest.mark.parametrize(
    ("execution_id", "path"),
    [
        ("ex_1", "/v1/executions/ex_1"),
        ("a/b", "/v1/executions/a%2Fb"),
        ("../../account", "/v1/executions/..%2F..%2Faccount"),
        ("%2F", "/v1/executions/%252F"),
        ("a b?c#d&e=f", "/v1/executions/a%20b%3Fc%23d%26e%3Df"),
        ("ä€😀", "/v1/executions/%C3%A4%E2%82%AC%F0%9F%98%80"),
        ("\r\nHost: evil", "/v1/executions/%0D%0AHost%3A%20evil"),
        ("...", "/v1/executions/..."),
        ("~_-.", "/v1/executions/~_-."),
    ],
)
def test_an_id_is_one_path_segment_whatever_it_holds(execution_id: str, path: str) -> None:
    assert build(path={"execution_id": execution_id}).path == path


@given(st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text not in {".", ".."}))
def test_any_id_goes_back_exactly_as_it_came(execution_id: str) -> None:
    path = build(path={"execution_id": execution_id}).path
    assert path.isascii()
    assert path.count("/") == 3
    assert unquote(path.rpartition("/")[2]) == execution_id


@pytest.mark.parametrize("execution_id", ["", ".", "..", "\ud800"])
def test_what_cannot_be_an_id_on_the_wire_is_refused(execution_id: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        build(path={"execution_id": execution_id})
    assert [error["field"] for error in refused.value.errors] == ["execution_id"]
    assert refused.value.attempts == 0
    assert refused.value.outcome_known


def test_parameters_that_are_missing_or_not_known_are_named() -> None:
    with pytest.raises(InvalidRequestError) as refused:
        build(path={"id": "x"})
    assert {error["field"] for error in refused.value.errors} == {"execution_id", "id"}


def test_query_values_are_written_as_the_wire_reference_says() -> None:
    query = {"status": "running", "limit": 50, "deep": True, "flat": False, "cursor": None, "since": "a b+c&d=e/ä"}
    assert build(LIST, query=query).query == (
        "status=running&limit=50&deep=true&flat=false&since=a%20b%2Bc%26d%3De%2F%C3%A4"
    )


def test_an_empty_text_is_sent_and_not_left_out() -> None:
    assert build(LIST, query={"status": ""}).query == "status="


def test_a_key_among_the_filters_is_refused_and_a_cursor_is_not_looked_at() -> None:
    query = {"status": "sk-ant-api03-AbCdEf123456", "cursor": "sk-ant-api03-AbCdEf123456"}
    with pytest.raises(InvalidRequestError) as refused:
        build(LIST, query=query)
    assert [error["field"] for error in refused.value.errors] == ["status"]


def test_half_of_a_character_pair_in_the_query_is_refused() -> None:
    with pytest.raises(InvalidRequestError):
        build(LIST, query={"cursor": "\udfff"})


@pytest.mark.parametrize("key", [None, "", " ", "\t\n"])
def test_a_blank_key_counts_as_none(key: str | None) -> None:
    assert build(LIST, key=key).key is None


@pytest.mark.parametrize("key", ["a\r\nX: y", "ä", " a", "a ", "a\x7f", "a\x00"])
def test_a_key_that_a_header_cannot_carry_exactly_is_refused(key: str) -> None:
    with pytest.raises(InvalidRequestError):
        build(LIST, key=key)


@pytest.mark.parametrize("key", ["a", "run:0123:4567", "a b", "~!@"])
def test_an_ordinary_key_is_kept_exactly(key: str) -> None:
    assert build(LIST, key=key).key == key


def test_the_body_is_no_part_of_the_text_of_a_request() -> None:
    assert "objective" not in repr(build(LIST, body=b'{"objective": "private"}'))
