"""How the benchmarks measure: alternating runs in one process, ratios of medians, one table.

Absolute times belong to a machine and a moment; a ratio of two things measured in turns does not.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        what: What was measured.
        value: The figure, with its unit.
        ratio: The figure against what it is compared with, or an empty text.
        target: What DESIGN 7 asks for, or an empty text where the figure only informs.
        holds: Whether the target is met; ``None`` without a target.
    """

    what: str
    value: str
    ratio: str = ""
    target: str = ""
    holds: bool | None = None


def in_turns(*functions: Callable[[], object], rounds: int = 15) -> list[float]:
    """The median seconds of each function, called in turns so that a drifting machine hits all alike."""
    times: list[list[float]] = [[] for _ in functions]
    for function in functions:
        function()
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for taken, function in zip(times, functions, strict=True):
                start = time.perf_counter()
                function()
                taken.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return [statistics.median(taken) for taken in times]


def print_table(figures: list[Figure]) -> None:
    """The figures as a Markdown table, the form in which README carries them."""
    print("| What | Figure | Ratio | Target | Holds |")
    print("|---|---|---|---|---|")
    for figure in figures:
        holds = {True: "yes", False: "**no**", None: ""}[figure.holds]
        print(f"| {figure.what} | {figure.value} | {figure.ratio} | {figure.target} | {holds} |")
