"""Problem, the form of every error (manual: interface, "Problems and error codes")."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.records.record import Record, Wire, integer, many, text

PROBLEM_TYPE: Final = "application/problem+json"
"""Media type of every error response."""

PROBLEM_MEMBERS: Final = ("type", "title", "status", "instance", "detail", "errors", "retry_after_s")
"""All members of a Problem; the body is closed."""

PROBLEM_BASE: Final = "https://runwatch.invalid/problems/"
"""Prefix of a code in the local service; a fixed form, not a real host. Clients read the last segment."""

MAX_TYPE_CHARACTERS: Final = 200
"""How much is shown of a type without a code."""

NOT_OFFERED_STATUS: Final = frozenset({404, 405, 501})
"""Status codes of a collection or an operation that a service does not offer (manual: decisions, "Lists")."""

NOT_A_PROBLEM: Final = "not_a_problem"
"""Code of a synthetic Problem; no service uses it, so it cannot be mistaken for the service's own."""

_NO_TYPE: Final = "about:blank"

_CODE: Final = lazy_pattern(r"[a-z][a-z_]*\Z")


class FieldError(Record):
    """One field's failure in a ``validation_failed`` Problem."""

    field = text()
    message = text()


class Problem(Record):
    """An error as the service describes it, or a synthetic one made by this client."""

    KIND = "problem"
    WIRE = Wire(path="", items="problems", id="instance")

    type = text()
    title = text()
    status = integer()
    instance = text()
    detail = text()
    errors = many(FieldError)
    retry_after_s = integer()

    @property
    def code(self) -> str:
        """The error code: the last path segment of ``type``, or the whole type, such as a URN, if that is not a code.

        Empty without a printable type, and for ``about:blank``, which means no type.
        """
        kind = self.type or ""
        segment = kind.rstrip("/").rpartition("/")[2]
        if _CODE.match(segment):
            return segment
        return "" if kind == _NO_TYPE or not kind.isprintable() else kind[:MAX_TYPE_CHARACTERS]

    @property
    def is_complete(self) -> bool:
        """Whether the body has every required member with a value of its type."""
        return all(value is not None for value in (self.type, self.title, self.status, self.instance))

    def conforms(self, status: int | None) -> bool:
        """Return whether the service itself refused the request with this Problem (RFC 9457).

        RFC 9457 makes every member optional, so a type or a title is enough. The status must be that of the response,
        because other JSON has members with these names too.
        """
        is_named = bool(self.type or self.title) and self.code != NOT_A_PROBLEM
        return is_named and status is not None and self.status == status


def synthetic_problem(code: str, title: str, status: int, detail: str | None = None) -> Problem:
    """Make a synthetic Problem for a response without one. It has no ``instance``."""
    raw: dict[str, Any] = {"type": f"{PROBLEM_BASE}{code}", "title": title, "status": status}
    if detail:
        raw["detail"] = detail
    return Problem(raw)
