"""Parse an error response into a Problem, or make a synthetic one (manual: interface, "Problems and error codes")."""

from __future__ import annotations

from typing import Final

from runwatch.api.http.exchange import HttpResponse
from runwatch.base.json import loads
from runwatch.base.log import redact
from runwatch.records.problem import NOT_A_PROBLEM, PROBLEM_TYPE, Problem, synthetic_problem

REDIRECT_REFUSED: Final = "redirect_refused"
"""Code of the synthetic Problem for a redirect."""

_BODY_KINDS: Final = {"text/html": "HTML", "application/xhtml+xml": "HTML", "text/plain": "plain text"}
"""Media types as users know them."""

EXCERPT_CHARACTERS: Final = 200
"""How much of a foreign body is quoted."""


def parse_problem(response: HttpResponse) -> tuple[Problem, bool]:
    """Return the Problem of a response outside the 2XX class, and whether it is synthetic.

    A body counts as a Problem if its media type says so and it is an object (unknown and missing members are
    tolerated), or if it is plain JSON with all four required members, or with a type or a title and the status of the
    response. The key is redacted first, because some services and proxies repeat the request they refuse.
    """
    if 300 <= response.status < 400:
        where = redact(response.headers.get("location", "nowhere"))[:EXCERPT_CHARACTERS]
        return (
            synthetic_problem(
                REDIRECT_REFUSED,
                "The service answered with a redirect, which is not followed",
                response.status,
                f"It points to {where}. The key is sent only to the profile's address.",
            ),
            True,
        )
    problem = _parsed(response)
    if problem is not None:
        return problem, False
    kind = _BODY_KINDS.get(response.media_type)
    title = f"The answer did not come from the API{f' ({kind})' if kind else ''}"
    return synthetic_problem(NOT_A_PROBLEM, title, response.status, describe_body(response)), True


def describe_body(response: HttpResponse) -> str:
    """Describe an unexpected body in one line: its flaw, its content type and how it begins. Not safe text."""
    media_type = response.headers.get("content-type") or "no content type"
    text = redact(response.body[: EXCERPT_CHARACTERS * 8].decode("utf-8", "replace"))
    begin = " ".join(text.split())[:EXCERPT_CHARACTERS]
    parts = [media_type[:EXCERPT_CHARACTERS], response.flaw, f"it begins: {begin}" if begin else "the body is empty"]
    return "; ".join(part for part in parts if part)


def _parsed(response: HttpResponse) -> Problem | None:
    if response.flaw is not None or response.media_type not in {PROBLEM_TYPE, "application/json"}:
        return None
    try:
        raw = loads(redact(response.body.decode("utf-8-sig")))
    except ValueError:
        return None
    if not isinstance(raw, dict):
        return None
    problem = Problem(raw)
    if response.media_type != PROBLEM_TYPE and not (problem.is_complete or problem.conforms(response.status)):
        return None
    return problem
