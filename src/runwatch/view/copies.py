"""What of a record can be copied, and the exact text that each choice gives."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from runwatch.base.errors import RunwatchError
from runwatch.base.json import dumps
from runwatch.base.shell import quote_exactly
from runwatch.view.curl import curl
from runwatch.view.drawn import Drawn, line
from runwatch.view.entries import ProblemEntry, RequestEntry
from runwatch.view.explain import support_block
from runwatch.view.resource import ResourceSpec


@dataclass(frozen=True, slots=True)
class Copy:
    """One thing to copy.

    Attributes:
        what: What it is, in a few words.
        text: The exact text.
    """

    what: Drawn
    text: str


def copies(
    spec: ResourceSpec[Any], subject: Any, *, is_foreign: bool = False, socket: Path | None = None
) -> Iterator[Copy]:
    """What of a record can be copied, what is asked for most first.

    Args:
        spec: Its resource.
        subject: The record with everything that goes with it, as its row has it.
        is_foreign: Whether the record comes from an opened file or bundle.
        socket: The Unix socket of the local service, where that is the service.
    """
    if isinstance(subject, ProblemEntry):
        if subject.problem.instance:
            yield Copy(line("instance"), id_to_copy(subject.problem.instance))
        yield Copy(line("support block"), support_block(subject))
    elif isinstance(subject, RequestEntry):
        # A request that no command can repeat has none to copy; the key for it says why.
        with contextlib.suppress(RunwatchError):
            yield Copy(line("curl command"), curl(subject, is_foreign=is_foreign, socket=socket))
    else:
        yield Copy(line(f"{spec.singular} id"), id_to_copy(subject.id))
    yield Copy(line(f"{spec.singular} as JSON"), json_to_copy(dict(subject.raw)))


_ESCAPES: Final = str.maketrans({"$": "\\u0024", "`": "\\u0060", "!": "\\u0021"})
"""What a shell acts on inside double quotes; in JSON these characters are in texts alone, where they may be escaped."""


def id_to_copy(text: str) -> str:
    """An id as it is, or in quotes where a shell would act on a character of it (manual, Security: Copied commands)."""
    return quote_exactly(text) if text else ""


def json_to_copy(value: Any) -> str:
    """A value as ASCII JSON in which a shell finds nothing to execute (manual, Security: Copied commands).

    Each line is a bracket or begins with a bracket or a member's name with its colon, so no text of the value is the
    first word of a line.
    """
    return "".join(_lines(value, "")).translate(_ESCAPES)


def _lines(value: Any, margin: str) -> Iterator[str]:
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        yield "{\n"
        for position, (name, item) in enumerate(value.items()):
            comma = ",\n" if position else ""
            yield f"{comma}{inner}{dumps(str(name))}: "
            yield from _lines(item, inner)
        yield f"\n{margin}}}"
    elif isinstance(value, list) and value and all(isinstance(item, dict) and item for item in value):
        yield "[\n"
        for position, item in enumerate(value):
            comma = ",\n" if position else ""
            yield f"{comma}{inner}"
            yield from _lines(item, inner)
        yield f"\n{margin}]"
    else:
        yield dumps(value)
