"""What of a record can be copied, and the exact text that each choice gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runwatch.base.json import dumps
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


def copies(spec: ResourceSpec[Any], subject: Any) -> Iterator[Copy]:
    """What of a record can be copied, what is asked for most first.

    Args:
        spec: Its resource.
        subject: The record with everything that goes with it, as its row has it.
    """
    if isinstance(subject, ProblemEntry):
        if subject.problem.instance:
            yield Copy(line("instance"), subject.problem.instance)
        yield Copy(line("support block"), support_block(subject))
    elif isinstance(subject, RequestEntry):
        yield Copy(line("curl command"), curl(subject))
    else:
        yield Copy(line(f"{spec.singular} id"), subject.id)
    # ASCII with escapes, so that no character in it does anything where it is pasted.
    yield Copy(line(f"{spec.singular} as JSON"), dumps(dict(subject.raw), indent=2))
