"""Run the tests behind each promise of the manual: ``python -m tests.promises [--manual] [--jobs N] [NUMBER ...]``.

Prints the table of promises with the results of this run, in which all cases of a test are run. ``--manual`` also puts
them into the page *measurements* between its two marks, where promises that are not run keep their result; results get
there in no other way. Exits 1 when a test fails.
"""

from __future__ import annotations

import argparse
import platform
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "src" / "runwatch" / "manual" / "measurements.md"
BEGIN, END = "<!-- promises -->", "<!-- /promises -->"
JOBS: Final = 2
"""How many promises are tested at once: most tests wait more than they work."""


@dataclass(frozen=True, slots=True)
class Promise:
    """Something that a user may rely on.

    Attributes:
        promise: What holds, in one sentence.
        how: How that is tested, in one sentence.
        tests: Files of tests, or single tests as ``file::name``; all cases of each are run.
    """

    promise: str
    how: str
    tests: tuple[str, ...]

    @property
    def command(self) -> str:
        """What runs them."""
        return f"pytest {' '.join(self.tests)}"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of the tests of a promise.

    Attributes:
        passed: How many cases passed.
        cases: How many there were.
        seconds: How long they took.
    """

    passed: int
    cases: int
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether there were tests, and all of them passed."""
        return self.passed == self.cases > 0

    def __str__(self) -> str:
        """For the table."""
        told = f"{self.passed:,} of {self.cases:,} passed in {self.seconds:,.0f} s"
        return told if self.holds else f"**{told}**"


PROMISES: Final = (
    Promise(
        "Nothing is retried that could happen twice.",
        "One table with a cell for every method, key, outcome and attempt; each cell is checked.",
        ("tests/api/test_retry_policy.py", "tests/faults/test_retry_table.py"),
    ),
    Promise(
        "Network faults never hide what is known.",
        "A proxy adds latency, jitter, low bandwidth, resets, timeouts, cut and doubled bodies, refusals, wrong types, "
        "HTML, 5XX, wrong clocks, endless and 50 MB bodies and deep JSON; each result is compared with the service's "
        "own list.",
        (
            "tests/support_tests/test_faults.py",
            "tests/end_to_end/test_client_faults.py",
            "tests/end_to_end/test_console_troubles.py",
            "tests/api/http/test_transport.py",
        ),
    ),
    Promise(
        "One submit is one run.",
        "Submits with cut, lost and doubled responses, and after kills, lead to one run on the service.",
        (
            "tests/end_to_end/test_submit_faults.py",
            "tests/store/repositories/test_outbox.py",
            "tests/service/test_idempotency.py",
            "tests/faults/test_cut_writes.py",
            "tests/faults/test_outbox_machine.py",
        ),
    ),
    Promise(
        "No event is lost or doubled.",
        "State machines read with random faults and restarts; several processes write the same events at once.",
        (
            "tests/store/test_event_machine.py",
            "tests/store/test_processes.py",
            "tests/store/live/test_stored_run_tail.py",
            "tests/faults/test_disconnects.py",
        ),
    ),
    Promise(
        "No row of a long list is lost or doubled.",
        "Long lists are interrupted, left, filtered, exported and read again while they are being built.",
        ("tests/faults/test_big_lists.py",),
    ),
    Promise(
        "An acknowledged run survives.",
        "The service is killed at random moments under load and at every recorded state of a live run; what it "
        "acknowledged before is compared with what it says afterwards.",
        (
            "tests/end_to_end/test_service_dies.py",
            "tests/service/test_live_restart.py",
            "tests/faults/test_service_machine.py",
        ),
    ),
    Promise(
        "After a 429 no request is sent before its time, unless the user asks for one.",
        "Waits are measured exactly on an injected clock, in storms too; the console counts down and sends nothing.",
        (
            "tests/api/test_rate_limit_gate.py",
            "tests/faults/test_storms.py",
            "tests/faults/test_scheduler_machine.py",
            "tests/store/live/test_scheduler.py",
            "tests/end_to_end/test_console_troubles.py::test_a_429_is_counted_down_and_r_asks_anyway",
        ),
    ),
    Promise(
        "Data cannot drive your terminal.",
        "A hostile corpus is put into every string of every record, list and reading command; the bytes that reach the "
        "terminal are examined.",
        (
            "tests/view/test_hostile_records.py",
            "tests/commands/test_hostile_reads.py",
            "tests/end_to_end/test_console_hostile.py",
            "tests/end_to_end/test_console_hostile_screens.py",
            "tests/end_to_end/test_hostile_verbs.py",
            "tests/end_to_end/test_hostile_problems.py",
            "tests/tui/test_hostile_widgets.py",
        ),
    ),
    Promise(
        "Exported files are safe to open.",
        "No cell of a CSV is a formula and nothing in Markdown is markup, for any text in any member.",
        (
            "tests/view/export/test_file_formats.py",
            "tests/view/test_hostile_records.py::"
            "test_every_file_for_people_is_safe_to_open_and_every_file_for_programs_exact",
            "tests/commands/test_hostile_reads.py::test_a_file_for_people_is_safe_to_open",
        ),
    ),
    Promise(
        "Keys and private addresses appear nowhere.",
        "Canary secrets are searched for in streams, settings, log, both databases, bundles, tracebacks, pictures of "
        "every screen, process arguments, and the remains of every kind of crash.",
        (
            "tests/end_to_end/test_canaries.py",
            "tests/end_to_end/test_canaries_console.py",
            "tests/api/test_secrets.py",
            "tests/store/test_secrets.py",
            "tests/view/problems/test_support_bundle.py",
            "tests/base/secrets/test_secret.py",
            "tests/base/test_log.py",
        ),
    ),
    Promise(
        "A key goes to its own service and nowhere else.",
        "The service redirects to other hosts, ports and plain http; proxies are set; pages that reach the local "
        "service by a foreign name are refused.",
        (
            "tests/api/test_one_origin.py",
            "tests/api/http/test_transport.py::test_the_key_is_given_to_the_exact_origin_only",
            "tests/service/http/test_problem_responder.py::test_a_host_of_elsewhere_is_refused",
            "tests/service/http/test_problem_responder.py::test_a_page_of_another_origin_is_refused",
        ),
    ),
    Promise(
        "A file is whole even if writing it fails.",
        "Every step of a write fails or is interrupted; afterwards the file has its old or its new content.",
        ("tests/base/test_files.py", "tests/base/test_cuts.py", "tests/settings/test_change.py"),
    ),
    Promise(
        "After kill -9 both databases have everything that was acknowledged.",
        "Writing processes are killed repeatedly; each database is sound and lacks at most what was not acknowledged. "
        "A power cut relies on what SQLite guarantees for WAL with full synchronization.",
        (
            "tests/faults/test_kills.py",
            "tests/store/test_processes.py",
            "tests/service/test_database.py",
            "tests/store/db/test_database.py",
        ),
    ),
    Promise(
        "A directory that cannot be used is named, and nothing acknowledged is lost.",
        "Commands, console and service run on a full disk, a disk that fills up, a read-only home, data of a newer "
        "version, and damaged data.",
        ("tests/faults/test_bad_places.py", "tests/faults/test_full_disk.py"),
    ),
    Promise(
        "Consoles and commands can share one data directory.",
        "Two consoles write notes while commands submit runs and change settings; nothing is lost, and a text that one "
        "has not seen is overwritten only after a question.",
        (
            "tests/faults/test_two_consoles.py",
            "tests/settings/test_local_service.py",
            "tests/store/repositories/test_notes.py",
            "tests/tui/flows/test_local_notes.py",
        ),
    ),
    Promise(
        "A console can stay open for weeks.",
        "One fault a second: memory and descriptors stay flat, keys respond, events are complete. This is the short "
        "form; the long one is `python -m tests.performance soak`.",
        ("tests/faults/test_soak.py",),
    ),
    Promise(
        "The terminal comes back whole.",
        "The console is quit, interrupted, killed by signals, crashed, stopped and continued, moved to and from the "
        "background, resized, and loses its terminal.",
        (
            "tests/tui/terminal/test_terminal_app.py",
            "tests/tui/test_console_terminal.py",
            "tests/tui/test_console_endings.py",
            "tests/tui/test_job_control.py",
        ),
    ),
    Promise(
        "Errors can be quoted.",
        "A problem is found by its instance, its time and its words, in a bundle too.",
        ("tests/commands/test_problems.py", "tests/view/export/test_recognise.py"),
    ),
    Promise(
        "Nothing changes without a confirmation, and nothing at all in read-only mode.",
        "Every action that sends something goes through its dialog and is refused by a read-only profile.",
        ("tests/tui/test_every_mutation.py", "tests/commands/test_writes.py"),
    ),
    Promise(
        "Prompts are forgotten when a run ends, and outputs after seven days.",
        "A prompt and an output are searched for in every database row and response while runs end in every way.",
        (
            "tests/service/test_live.py::test_prompt_and_output_are_nowhere_but_in_task_and_result",
            "tests/service/test_live.py::test_a_result_is_kept_for_seven_days",
            "tests/service/test_live_wire.py::test_key_prompt_and_output_stay_where_they_belong",
            "tests/service/test_receipts.py::test_a_receipt_holds_nothing_of_the_prompt",
            "tests/tui/test_session_restore.py::test_what_was_typed_into_the_form_is_not_kept",
        ),
    ),
    Promise(
        "What works offline sends nothing.",
        "Bundles are opened and names completed without a service; the demo leaves nothing behind.",
        (
            "tests/end_to_end/test_open_file.py",
            "tests/tui/app/test_file_opening.py::test_nothing_of_a_file_can_be_sent_or_kept",
            "tests/commands/test_completion_names.py::test_asking_imports_nothing_heavy_and_calls_nobody",
            "tests/commands/test_process.py::test_the_demo_shows_a_run_and_its_receipt_and_leaves_nothing_behind",
            "tests/end_to_end/test_console_start.py::test_the_demo_moves_runs_by_itself_and_leaves_nothing_behind",
        ),
    ),
    Promise(
        "A process that takes the dead service's port gets nothing.",
        "The local service is killed and another user listens on its port while console and commands go on; sockets "
        "and directories of other users are refused. `-m exhaustive` repeats it a hundred times.",
        (
            "tests/end_to_end/test_port_taken.py",
            "tests/api/test_socket.py",
            "tests/base/network/test_service_socket.py",
        ),
    ),
    Promise(
        "Private pages work in a browser, and end with their key.",
        "Chromium goes through each page to its end and to each error, with the accessibility rules of axe; keys are "
        "revoked or expire while their pages are open.",
        (
            "tests/end_to_end/test_pages_in_browser.py",
            "tests/service/http/test_html_pages.py",
            "tests/service/test_revoked_keys.py",
            "tests/tui/terminal/test_redirect_page.py",
        ),
    ),
    Promise(
        "Copied and suggested commands never run text from data.",
        "Copied and suggested commands with hostile names are run in bash, zsh and fish with every program replaced; "
        "exports meet links, pipes and existing files.",
        (
            "tests/base/test_shell_words.py",
            "tests/base/test_shell_typed.py",
            "tests/view/problems/test_curl.py",
            "tests/view/problems/test_copy_options.py",
            "tests/commands/test_suggested_commands.py",
            "tests/commands/shared/test_export_file.py",
        ),
    ),
    Promise(
        "Callers without a key cost a bounded amount.",
        "Half-sent and large bodies, idle and slow connections and bad keys meet their bounds on an injected clock. "
        "`python -m tests.performance.floods` measures what callers with a key notice.",
        (
            "tests/service/test_connections.py",
            "tests/service/test_protocol.py",
            "tests/service/http/test_rate_limits.py",
        ),
    ),
    Promise(
        "The service calls no address that only its machine reaches.",
        "Every spelling of metadata, private and wrapped addresses, for every caller and organization.",
        (
            "tests/base/network/test_addresses.py",
            "tests/service/test_address_policy.py",
            "tests/service/test_outbound.py",
        ),
    ),
    Promise(
        "A copy of the data directory gives no secret away.",
        "A directory of version 0.1.0 is migrated and searched for its secrets; a secret typed as a reference is "
        "searched for in every file.",
        (
            "tests/service/test_data_of_0_1_0.py",
            "tests/service/test_vault.py",
            "tests/service/test_secret_references.py",
        ),
    ),
    Promise(
        "Files that other users can change run no program and redirect no key.",
        "Settings, data directories, logs and key files that belong to another user or are writable for others.",
        ("tests/settings/test_owners.py", "tests/base/test_file_owners.py"),
    ),
    Promise(
        "Every sum of spend equals its receipts, and unknown spend is named.",
        "Usage, lists, export, CSV and overview are recomputed from raw receipts with exact decimals while providers "
        "and checks fail in every way. `-m exhaustive` takes 10,000 runs and the whole table.",
        ("tests/service/test_sums.py", "tests/service/test_fault_table.py", "tests/view/test_unknown_spend.py"),
    ),
    Promise(
        "The local service speaks the interface.",
        "Every operation is called correctly and incorrectly, and the official Python client works with it.",
        ("tests/contract", "tests/end_to_end/test_official_client.py"),
    ),
    Promise(
        "Processes of a team service that are killed or stopped lose no run, and no call is unknown.",
        "Interfaces and workers on one PostgreSQL database are killed, stopped and cut off while callers submit live "
        "runs; every run ends with its events in order, and no more calls are made than its receipt names. The long "
        "form is `python -m tests.performance team-trial`.",
        (
            "tests/faults/test_team_kills.py",
            "tests/service/test_processes.py",
            "tests/service/test_job_engine.py",
            "tests/service/test_fencing.py",
        ),
    ),
)
"""Every promise, in the order of the manual."""


def run(promise: Promise) -> Result:
    """Run the tests of a promise in their own process, and print their output when they have ended."""
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        words = [
            "-q", "-m", "", "-p", "no:cacheprovider", f"--basetemp={place}/tests", f"--junitxml={report}",
            *promise.tests,
        ]  # fmt: skip
        command = [sys.executable, "-m", "pytest", *words]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        sys.stderr.write(f"{promise.promise}\n{done.stdout.decode('utf-8', 'replace')}")
        return read_report(report.read_text("utf-8")) if report.exists() else Result(0, 0, 0)


def read_report(text: str) -> Result:
    """The result that a report in the form of JUnit tells; skipped cases count as not passed."""
    cases = failed = 0
    seconds = 0.0
    for suite in ElementTree.fromstring(text).iter("testsuite"):
        cases += int(suite.get("tests", 0))
        failed += sum(int(suite.get(name, 0)) for name in ("failures", "errors", "skipped"))
        seconds += float(suite.get("time", 0))
    return Result(cases - failed, cases, seconds)


def read_results(page: str) -> dict[int, str]:
    """Return the results that the table of a page has, by the number of the promise."""
    rows = (line.strip("| ").split(" | ") for line in page.partition(BEGIN)[2].partition(END)[0].splitlines())
    return {int(cells[0]): cells[-1] for cells in rows if cells[0].isdigit()}


def table(results: Iterable[tuple[Promise, Result | str]]) -> str:
    """Return the table for the manual."""
    machine = f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}"
    numbers = {promise: number for number, promise in enumerate(PROMISES, 1)}
    rows = [f"| {numbers.get(each, '')} | {each.promise} | {each.how} | {result} |" for each, result in results]
    head = "| No. | Promise | How it is tested | Result |\n|---|---|---|---|\n"
    return f"{machine}.\n\n{head}" + "".join(f"{row}\n" for row in rows)


def put_between_marks(page: str, text: str) -> str:
    """Return a page with the table in it.

    Raises:
        ValueError: the page lacks the marks, or they are in the wrong order.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} followed by {END}")
    return f"{before}{BEGIN}\n{text}{END}{after}"


def main(words: Sequence[str] | None = None) -> int:
    """Run the named promises, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help=f"of 1 to {len(PROMISES)}")
    parser.add_argument("--manual", action="store_true", help="put the results into the manual")
    parser.add_argument("--jobs", type=int, default=JOBS, metavar="N", help=f"promises at once, {JOBS} unless given")
    given = parser.parse_args(words)
    if not set(given.numbers) <= set(range(1, len(PROMISES) + 1)):
        parser.error(f"numbers are 1 to {len(PROMISES)}")
    if given.manual:
        put_between_marks(PAGE.read_text("utf-8"), "")
    # A shell that starts this in the background has it ignore interruptions, and the programs of the tests with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen = [PROMISES[number - 1] for number in given.numbers] or PROMISES
    with ThreadPoolExecutor(max(1, given.jobs)) as jobs:
        results = list(zip(chosen, jobs.map(run, chosen), strict=True))
    text = table(results)
    print(text)
    if given.manual:
        page = PAGE.read_text("utf-8")
        run_now = dict(results)
        earlier = read_results(page)
        rows = [(each, run_now.get(each) or earlier.get(number, "–")) for number, each in enumerate(PROMISES, 1)]
        PAGE.write_text(put_between_marks(page, table(rows)), "utf-8")
    return 0 if all(result.holds for _, result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
