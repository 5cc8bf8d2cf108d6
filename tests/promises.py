"""Run the tests behind each promise of README: ``python -m tests.promises [--readme] [--jobs N] [NUMBER ...]``.

Prints the table *Promises and how they are tested* with the result of this very run; ``--readme`` also puts it into
README between its two marks, which is the only way a result gets there. Exits 1 when a test fails.
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
README: Final = ROOT / "README.md"
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
        "Every method, key, outcome and attempt has its cell in one table, and each cell is checked.",
        ("tests/api/test_retry_policy.py", "tests/faults/test_retry_table.py"),
    ),
    Promise(
        "Whatever the network does, what is known is told.",
        "Between client and service stand latency, jitter, narrow bands, resets, timeouts, cut and doubled bodies, "
        "refusals, wrong types, HTML, 5xx, clocks that are wrong, endless and 50 MB bodies and deep JSON; the proof "
        "after each is the service's own list.",
        (
            "tests/support_tests/test_faults.py",
            "tests/end_to_end/test_client_faults.py",
            "tests/end_to_end/test_console_troubles.py",
            "tests/api/http/test_transport.py",
        ),
    ),
    Promise(
        "One submit is one run.",
        "Submits through cut, lost and doubled answers, and after kills, reach the service as one run.",
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
        "State machines read through random faults and restarts; processes write the same events at once.",
        (
            "tests/store/test_event_machine.py",
            "tests/store/test_processes.py",
            "tests/store/live/test_run_follower.py",
            "tests/faults/test_disconnects.py",
        ),
    ),
    Promise(
        "No row of a long list is lost or doubled.",
        "Lists too long to be made at once are cut off, left, filtered, exported and read again while they are made.",
        ("tests/faults/test_big_lists.py",),
    ),
    Promise(
        "An acknowledged run survives.",
        "The service is killed at random moments under load and at every recorded state of a live run, and what it "
        "has said once is held against all that it says later.",
        (
            "tests/end_to_end/test_service_dies.py",
            "tests/service/test_live_restart.py",
            "tests/faults/test_service_machine.py",
        ),
    ),
    Promise(
        "After a 429 nothing is asked before its time.",
        "Holds are counted to the moment on a clock of the tests, by storms of them too; the console counts them down "
        "in silence.",
        (
            "tests/api/test_rate_limit_gate.py",
            "tests/faults/test_storms.py",
            "tests/faults/test_scheduler_machine.py",
            "tests/store/live/test_scheduler.py",
            "tests/end_to_end/test_console_troubles.py::test_a_429_is_counted_down_in_silence_and_then_read_once",
        ),
    ),
    Promise(
        "Data cannot drive your terminal.",
        "The hostile corpus stands in every string of every record, in every list and in every verb that reads; the "
        "bytes that a terminal gets are looked at.",
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
        "A key and a private address are seen nowhere.",
        "Canaries are looked for in streams, settings, log, both parts of the database, bundles, traces, pictures of "
        "every screen, arguments of processes, and what every kind of death leaves.",
        (
            "tests/end_to_end/test_canaries.py",
            "tests/end_to_end/test_canaries_console.py",
            "tests/api/test_secrets.py",
            "tests/store/test_secrets.py",
            "tests/view/problems/test_support_bundle.py",
            "tests/base/test_secret.py",
            "tests/base/test_log.py",
        ),
    ),
    Promise(
        "A key goes to its own service and nowhere else.",
        "The service redirects to other hosts, ports and to plain http, proxies stand in the environment, and pages "
        "that were led to the local service by a foreign name are refused.",
        (
            "tests/api/test_one_origin.py",
            "tests/api/http/test_transport.py::test_the_key_is_given_to_the_exact_origin_only",
            "tests/service/http/test_problem_responder.py::test_a_host_of_elsewhere_is_refused",
            "tests/service/http/test_problem_responder.py::test_a_page_of_another_origin_is_refused",
        ),
    ),
    Promise(
        "A file is whole, whatever fails while it is written.",
        "Every step of a write fails or is cut; what is read afterwards is the old content or the new.",
        ("tests/base/test_files.py", "tests/base/test_cuts.py", "tests/settings/test_change.py"),
    ),
    Promise(
        "After kill -9 both databases have everything that was acknowledged.",
        "Processes that write are killed again and again; each database is sound then and lacks at most what was not "
        "acknowledged. What a power cut leaves is what SQLite promises of WAL with full synchronisation.",
        (
            "tests/faults/test_kills.py",
            "tests/store/test_processes.py",
            "tests/service/test_database.py",
            "tests/store/db/test_database.py",
        ),
    ),
    Promise(
        "A place that cannot be used is named, and nothing acknowledged is lost.",
        "Verbs, console and service on a full disk, one that fills up under them, a home that is not to be written, "
        "data of a newer version, and damaged data.",
        ("tests/faults/test_bad_places.py", "tests/faults/test_full_disk.py"),
    ),
    Promise(
        "Consoles and verbs share one data directory.",
        "Two consoles write notes while verbs submit and change settings; everything of everybody is kept, and what "
        "one of them has not seen it writes over only when a person says so.",
        (
            "tests/faults/test_two_consoles.py",
            "tests/settings/test_local_service.py",
            "tests/store/repositories/test_notes.py",
            "tests/tui/flows/test_run_notes.py",
        ),
    ),
    Promise(
        "A console may stay open.",
        "One fault a second between it and the service: memory and descriptors stay flat, keys are answered, events "
        "are complete. The short form; the long one is `python -m tests.performance soak`.",
        ("tests/faults/test_soak.py",),
    ),
    Promise(
        "The terminal comes back whole.",
        "The console is quit, interrupted, killed by signals, fails, is stopped and goes on, is moved to and from the "
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
        "A problem is found again by its instance, its time and its words, in a bundle too.",
        ("tests/commands/test_problems.py", "tests/view/export/test_recognise.py"),
    ),
    Promise(
        "Nothing changes without a yes, and nothing at all in read-only mode.",
        "Every action that sends something goes through its sheet and is refused by a read-only profile.",
        ("tests/tui/test_every_mutation.py", "tests/commands/test_writes.py"),
    ),
    Promise(
        "Prompts are forgotten when a run ends, and outputs after seven days.",
        "A prompt and an output are looked for in every row and every answer while runs end in every way.",
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
        "Bundles are opened and names completed without a service, and the demo leaves nothing behind.",
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
        "The local service is killed, another user listens on its port, and the console and the commands go on; "
        "sockets and directories of others are refused. `-m exhaustive` does so a hundred times.",
        ("tests/end_to_end/test_port_taken.py", "tests/api/test_socket.py", "tests/base/test_service_socket.py"),
    ),
    Promise(
        "Private pages work in a browser, and end with their key.",
        "Chromium goes through each page to its end and to each error, with the accessibility rules of axe; keys are "
        "revoked and expire while their pages are open.",
        (
            "tests/end_to_end/test_pages_in_browser.py",
            "tests/service/http/test_html_pages.py",
            "tests/service/test_revoked_keys.py",
            "tests/tui/flows/test_redirect_page.py",
        ),
    ),
    Promise(
        "Nothing that is copied or suggested executes what data says.",
        "Copied texts and suggested commands with hostile names are run in bash, zsh and fish, where every program is "
        "a stand-in; exports meet links, pipes and files that exist.",
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
        "Callers without a key cost no more than a bound.",
        "Half-sent and large bodies, idle and slow connections, and bad keys meet their bounds on a clock of the "
        "tests. `python -m tests.performance.floods` measures what callers with a key notice of it.",
        (
            "tests/service/test_connections.py",
            "tests/service/test_protocol.py",
            "tests/service/http/test_rate_limits.py",
        ),
    ),
    Promise(
        "The service calls no address that only its machine reaches.",
        "Every spelling of metadata, private and wrapped addresses, for every caller and every organization.",
        ("tests/base/test_addresses.py", "tests/service/test_address_policy.py", "tests/service/test_outbound.py"),
    ),
    Promise(
        "A copy of the data directory gives no secret away.",
        "A directory of version 0.1.0 is taken over and searched for its secrets; a secret that is typed as a "
        "reference is looked for in every file.",
        (
            "tests/service/test_data_of_0_1_0.py",
            "tests/service/test_vault.py",
            "tests/service/test_secret_references.py",
        ),
    ),
    Promise(
        "What others may change runs no program and redirects no key.",
        "Settings, data directories, logs and key files that belong to another user, or that others may write.",
        ("tests/settings/test_owners.py", "tests/base/test_file_owners.py"),
    ),
    Promise(
        "Every sum of spend equals its receipts, and what is not known is named.",
        "Usage, lists, the export, CSV and the overview are computed again from raw receipts with exact decimals; "
        "providers and checks fail in every way. `-m exhaustive` takes 10,000 runs and the whole table.",
        ("tests/service/test_sums.py", "tests/service/test_fault_table.py", "tests/view/test_unknown_spend.py"),
    ),
    Promise(
        "The local service speaks the interface.",
        "Every operation is called rightly and wrongly, and the official Python client works with it.",
        ("tests/contract", "tests/end_to_end/test_official_client.py"),
    ),
)
"""Every promise, in README's order."""


def run(promise: Promise) -> Result:
    """Run the tests of a promise in a process of their own, and say all that they said once they have ended."""
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        words = ["-q", "-p", "no:cacheprovider", f"--basetemp={place}/tests", f"--junitxml={report}", *promise.tests]
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


def table(results: Iterable[tuple[Promise, Result]]) -> str:
    """The table for README."""
    machine = f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}"
    rows = [f"| {each.promise} | {each.how} | `{each.command}` | {result} |" for each, result in results]
    head = "| Promise | How it is tested | Command | Result |\n|---|---|---|---|\n"
    return f"{machine}.\n\n{head}" + "".join(f"{row}\n" for row in rows)


def put_between_marks(readme: str, text: str) -> str:
    """README with the table in it.

    Raises:
        ValueError: it does not have both marks in their order.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README has no {BEGIN} followed by {END}")
    return f"{before}{BEGIN}\n{text}{END}{after}"


def main(words: Sequence[str] | None = None) -> int:
    """Run the named promises, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help=f"of 1 to {len(PROMISES)}")
    parser.add_argument("--readme", action="store_true", help="put the table of all promises into README")
    parser.add_argument("--jobs", type=int, default=JOBS, metavar="N", help=f"promises at once, {JOBS} unless given")
    given = parser.parse_args(words)
    if not set(given.numbers) <= set(range(1, len(PROMISES) + 1)):
        parser.error(f"numbers are 1 to {len(PROMISES)}")
    if given.readme and given.numbers:
        parser.error("README gets all promises or none")
    if given.readme:
        put_between_marks(README.read_text("utf-8"), "")
    # A shell that starts this in the background has it ignore interruptions, and the programs of the tests with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen = [PROMISES[number - 1] for number in given.numbers] or PROMISES
    with ThreadPoolExecutor(max(1, given.jobs)) as jobs:
        results = list(zip(chosen, jobs.map(run, chosen), strict=True))
    text = table(results)
    print(text)
    if given.readme:
        README.write_text(put_between_marks(README.read_text("utf-8"), text), "utf-8")
    return 0 if all(result.holds for _, result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
