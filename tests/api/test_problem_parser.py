"""Error responses as Problems (manual: interface, "Problems and error codes")."""

from __future__ import annotations

import pytest

from runwatch.api.http.exchange import HttpResponse
from runwatch.api.problem_parser import REDIRECT_REFUSED, parse_problem
from runwatch.base.json import dumps
from runwatch.base.log import keep_secret
from runwatch.base.secrets.secret import Secret
from runwatch.records.problem import NOT_A_PROBLEM, PROBLEM_TYPE
from tests.support.builders import problem, validation_problem

BODY = dumps(dict(problem("not_found").raw)).encode()


def reply(
    body: bytes, content_type: str | None = PROBLEM_TYPE, status: int = 404, flaw: str | None = None, **headers: str
) -> HttpResponse:
    kind = {} if content_type is None else {"content-type": content_type}
    return HttpResponse(status, {**kind, **headers}, body, len(body), flaw)


@pytest.mark.parametrize(
    "content_type",
    [PROBLEM_TYPE, f"{PROBLEM_TYPE}; charset=utf-8", "Application/Problem+JSON ;charset=latin-1", "application/json"],
)
def test_a_problem_is_read_whatever_the_case_and_charset_of_its_type(content_type: str) -> None:
    found, is_synthetic = parse_problem(reply(BODY, content_type))
    assert not is_synthetic
    assert found.code == "not_found"
    assert found.instance


def test_field_errors_come_through() -> None:
    said = validation_problem(task__objective="Required.")
    found, _ = parse_problem(reply(dumps(dict(said.raw)).encode(), status=400))
    assert [(error.field, error.message) for error in found.errors or ()] == [("task.objective", "Required.")]


@pytest.mark.parametrize("raw", [b"{}", b'{"type": 5, "title": null, "extra": [1]}', b'{"detail": "only that"}'])
def test_a_problem_by_its_type_may_lack_members_and_have_unknown_ones(raw: bytes) -> None:
    found, is_synthetic = parse_problem(reply(raw))
    assert not is_synthetic
    assert dumps(dict(found.raw)).encode() == raw.replace(b" ", b"").replace(b"onlythat", b"only that")


@pytest.mark.parametrize(
    ("missing", "is_problem"),
    [
        ({"instance"}, True),
        ({"type", "instance"}, True),
        ({"title", "instance"}, True),
        ({"type", "title"}, False),
        ({"status"}, False),
    ],
)
def test_plain_json_is_a_problem_with_a_type_or_title_and_the_status_of_the_answer(
    missing: set[str], is_problem: bool
) -> None:
    raw = {name: value for name, value in problem("not_found").raw.items() if name not in missing}
    found, is_synthetic = parse_problem(reply(dumps(raw).encode(), "application/json"))
    assert is_synthetic is not is_problem
    assert (found.code == NOT_A_PROBLEM) is not is_problem
    assert parse_problem(reply(dumps(raw).encode(), "application/json", status=422))[1]


FOREIGN = {
    "html": reply(b"<html><h1>502 Bad Gateway</h1>", "text/html; charset=utf-8", 502),
    "nothing": reply(b"", None, 502),
    "a problem under another type": reply(BODY, "text/plain"),
    "cut json": reply(BODY[:40]),
    "a body that broke off": reply(BODY, flaw="it broke off"),
    "a list": reply(b"[]"),
    "a text": reply(b'"no"'),
    "nan": reply(b'{"status": NaN}'),
    "deep": reply(b'{"a":' * 100_000),
    "no utf-8": reply(b'{"title": "\xff"}'),
}


@pytest.mark.parametrize("answer", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_problem_is_said_to_be_none(answer: HttpResponse) -> None:
    found, is_synthetic = parse_problem(answer)
    assert is_synthetic
    assert (found.code, found.status) == (NOT_A_PROBLEM, answer.status)
    kind = {"text/html": " (HTML)", "text/plain": " (plain text)"}.get(answer.media_type, "")
    assert found.title == f"The answer did not come from the API{kind}"
    assert found.instance is None
    assert "instance" not in found.raw


def test_the_detail_of_a_foreign_answer_names_type_flaw_and_beginning_in_one_line() -> None:
    page = b"<html>\r\n  \x1b[2J<h1>" + b"x" * 500
    found, _ = parse_problem(reply(page, "text/html", 502, flaw="it broke off"))
    assert found.detail == f"text/html; it broke off; it begins: <html> \x1b[2J<h1>{'x' * 185}"
    assert parse_problem(reply(b" \n", None, 502))[0].detail == "no content type; the body is empty"


def test_a_redirect_says_where_it_leads_and_that_it_is_not_followed() -> None:
    found, is_synthetic = parse_problem(reply(b"", None, 307, location="https://elsewhere.test/v1"))
    assert is_synthetic
    assert (found.code, found.instance) == (REDIRECT_REFUSED, None)
    assert "not followed" in (found.title or "")
    assert "https://elsewhere.test/v1" in (found.detail or "")
    assert parse_problem(reply(b"", None, 304))[0].detail


def test_the_key_is_redacted_from_every_error_answer() -> None:
    keep_secret(Secret("the-key-of-this-test"))
    for answer in (
        reply(b'{"title": "bad key the-key-of-this-test"}'),
        reply(b"<p>Authorization: Bearer the-key-of-this-test</p>", "text/html"),
        reply(b"", None, 302, location="https://x.test/?key=the-key-of-this-test"),
    ):
        found, _ = parse_problem(answer)
        assert "the-key-of-this-test" not in found.json()
        assert "[redacted]" in found.json()
