"""Run the performance suite: ``python -m tests.performance [--manual] [NAME ...]``.

Prints each figure with its ratio and target. ``--manual`` also writes the table between the two marks of the manual's
page *measurements*; nothing else writes figures there. Not part of the gate: a busy machine must not fail a change.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import io
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.performance.measure import Figure, print_table
from tests.performance.suites import BESIDE, BY_NAME, SUITES, figures_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "src" / "runwatch" / "manual" / "measurements.md"


def compile_modules() -> None:
    """Compile all modules where they are, as those of an installed program are.

    An environment may forbid programs to write what they compile; each start would then compile again whatever changed
    last.
    """
    for directory in (ROOT / "src", ROOT / "tests"):
        compileall.compile_dir(directory, quiet=2)


def measure(names: Sequence[str]) -> list[Figure]:
    """Return the figures of some suites, each measured in its own process, several at once where that is allowed."""
    wanted = [name for name in (*SUITES, *BY_NAME) if name in names]
    beside = {name: [other for other in BESIDE.get(name, ()) if other in wanted] for name in wanted}
    found: dict[str, list[Figure]] = {}

    def take(*names: str) -> None:
        for name in names:
            began = time.monotonic()
            # Memory that one suite leaves behind must not count in the next.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                try:
                    found[name] = process.submit(figures_of, name).result()
                except Exception:
                    # The others take minutes, and their figures stand for themselves.
                    traceback.print_exc()
                    found[name] = [Figure(f"the suite {name} failed", "", holds=False)]
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)

    for name in wanted:
        if not any(name in others for others in beside.values()):
            with ThreadPoolExecutor(2) as threads:
                for taking in [threads.submit(take, name), threads.submit(take, *beside[name])]:
                    taking.result()
    return [figure for name in wanted for figure in found[name]]


def main() -> None:
    """Measure the named suites, or all that need no name."""
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join((*SUITES, *BY_NAME))}")
    parser.add_argument("--manual", action="store_true", help="put the table into the manual")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {*SUITES, *BY_NAME}
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    compile_modules()
    table = measure(arguments.names or list(SUITES))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        machine = f"{platform.system()} {platform.machine()}"
        print(f"CPython {platform.python_version()}, {machine}; ratios within one run.\n")
        print_table(table)
    print(text.getvalue())
    if arguments.manual:
        mark = next((name for name in arguments.names if name in BY_NAME), "figures")
        before, begin, rest = PAGE.read_text("utf-8").partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- /{mark} -->\n")
        PAGE.write_text(f"{before}{begin}{text.getvalue()}{end}{after}", "utf-8")


if __name__ == "__main__":
    main()
