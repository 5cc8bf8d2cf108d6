"""Run the performance suite: ``python -m tests.performance [--readme] [NAME ...]``.

Prints each figure with its ratio and target; ``--readme`` also puts the table into README between its two marks, which
is the only way a figure gets there. Not part of the gate: a busy machine must not fail a change.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.performance import (
    big_lists,
    console,
    event_log,
    first_paint,
    following,
    idle,
    limited,
    local_service,
    long_lists,
    read_side,
    soak,
    tables,
    wire,
)
from tests.performance.measure import Figure, print_table, side_by_side

SUITES: dict[str, Callable[[], list[Figure]]] = {
    "read-side": read_side.figures,
    "event-log": event_log.figures,
    "tables": tables.figures,
    "first-paint": first_paint.figures,
    "console": console.figures,
    "big-lists": big_lists.figures,
    "following": following.figures,
    "idle": lambda: side_by_side(idle.figures, limited.figures),
    "wire": wire.figures,
    "local-service": local_service.figures,
    "long-lists": long_lists.figures,
    "soak": soak.figures,
}
BESIDE = ("idle", "soak")
"""Measured while ``following`` takes its five minutes: CPU seconds and memory are the same beside a neighbour."""

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"


def measure(names: Sequence[str]) -> list[Figure]:
    """The figures of some suites in the order of :data:`SUITES`; what may run at once does."""
    wanted = [name for name in SUITES if name in names]
    beside = [name for name in wanted if name in BESIDE and "following" in wanted]
    found: dict[str, list[Figure]] = {}

    def take(name: str) -> list[Figure]:
        began = time.monotonic()
        found[name] = SUITES[name]()
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        return found[name]

    for name in wanted:
        if name == "following" and beside:
            side_by_side(lambda: take("following"), lambda: [figure for other in beside for figure in take(other)])
        elif name not in beside:
            take(name)
    return [figure for name in wanted for figure in found[name]]


def main() -> None:
    """Measure the named suites, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SUITES)}")
    parser.add_argument("--readme", action="store_true", help="put the table into README")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(SUITES)
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    table = measure(arguments.names or list(SUITES))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        machine = f"{platform.system()} {platform.machine()}"
        print(f"CPython {platform.python_version()}, {machine}; ratios within one run.\n")
        print_table(table)
    print(text.getvalue())
    if arguments.readme:
        before, _, rest = README.read_text("utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        README.write_text(f"{before}{BEGIN}\n{text.getvalue()}{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
