"""Long work in steps: a generator that pauses after each, so that its driver can do something else in between."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def run_to_end(steps: Generator[None, None, T]) -> T:
    """What is there when all steps are done, one right after the other."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            made: T = done.value
            return made
