"""Run the performance suite: ``python -m tests.performance [--readme] [NAME ...]``.

Prints each figure with its ratio and target; ``--readme`` also puts the table into README between its two marks, which
is the only way a figure gets there. Not part of the gate: a busy machine must not fail a change.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import platform
from collections.abc import Callable
from pathlib import Path

from tests.performance import console, first_paint, many_runs, read_side, soak
from tests.performance.measure import Figure, print_table

SUITES: dict[str, Callable[[], list[Figure]]] = {
    "read-side": read_side.figures,
    "first-paint": first_paint.figures,
    "console": console.figures,
    "many-runs": many_runs.figures,
    "soak": soak.figures,
}
README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- figures -->", "<!-- /figures -->"


def main() -> None:
    """Measure the named suites, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SUITES)}")
    parser.add_argument("--readme", action="store_true", help="put the table into README")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(SUITES)
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    table = [figure for name in arguments.names or SUITES for figure in SUITES[name]()]
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
