"""The command as a process: what it imports, closed pipes, signals, terminals, the real local service."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwatch import __version__
from runwatch.base.text import is_clean
from tests.commands.shared.test_secret_entry import offer_source
from tests.support.builders import echo_events, event, run
from tests.support.cli import Cli
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.service import ServiceProcess
from tests.support.terminal import Terminal

HEAVY = ("textual", "pydantic", "httpx", "sqlalchemy", "starlette", "uvicorn", "cryptography", "runwatch.view.manual")
ECHO = (
    *("runs", "submit", "--mode", "echo", "--objective", "Say hello", "--data-class", "public"),
    *("--max-cost-usd", "0.5", "--max-runtime-s", "60"),
)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command with nothing configured."""
    return Cli(tmp_path)


BUFFERED = {"PYTHONUNBUFFERED": ""}
"""Without it a pipe would be flushed by Python itself, and a missing flush of ours be hidden."""


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    """The first line that a running command prints; a command that prints none fails the test instead of hanging it."""
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], 60.0)
    assert readable, "nothing was printed"
    return process.stdout.readline()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[Cli, ScriptedService]]:
    """The command and a service with a run that stays live."""
    script = ScriptedService(runs=[run("ex_1", "running")], events={"ex_1": [event(1, "running", execution_id="ex_1")]})
    with running_service(script) as service:
        yield Cli(tmp_path, base_url=service.base_url, api_key="k"), service


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """The command and the real local service."""
    home = tmp_path_factory.mktemp("real")
    with ServiceProcess(home / "service") as service:
        yield Cli(home, base_url=service.base_url, api_key=service.api_key)


@pytest.mark.parametrize(
    "words",
    [("--help",), ("--version",), ("runs", "--help"), ("runs", "submit", "--help"), ("config", "path"),
     ("completion", "bash")],
)  # fmt: skip
def test_a_cheap_call_imports_nothing_heavy(cli: Cli, words: tuple[str, ...]) -> None:
    code = (
        "import sys\n"
        "from runwatch.cli import run\n"
        "assert run(sys.argv[1:]) == 0\n"
        f"found = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "sys.exit(f'imported: {found}' if found else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=cli.environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", [("--help",), ("runs", "show", "--help"), ("webhooks", "remove", "--help")])
def test_help_loads_no_specification_that_it_does_not_need(cli: Cli, words: tuple[str, ...]) -> None:
    code = (
        "import sys\n"
        "from runwatch.cli import run\n"
        "assert run(sys.argv[1:]) == 0\n"
        "loaded = [name for name in sys.modules if name.startswith('runwatch.view.resources.')]\n"
        "print(sorted({*loaded} - {'runwatch.view.resources.resource_index'}), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=cli.environment, capture_output=True, text=True, check=True
    )
    loaded = done.stderr
    assert "runwatch.view.resources.templates" not in loaded
    assert words[0] == "webhooks" or loaded == "[]\n"


def test_the_version_is_one_line(cli: Cli) -> None:
    outcome = cli("--version")
    assert (outcome.text, outcome.errors, outcome.code) == (f"runwatch {__version__}\n", "", 0)


def test_without_a_terminal_it_says_which_verb_to_use(cli: Cli) -> None:
    outcome = cli()
    assert (outcome.code, outcome.stdout) == (2, b"")
    assert "runs list" in outcome.errors


def test_with_nothing_configured_a_verb_says_what_to_set(cli: Cli) -> None:
    outcome = cli("runs", "list")
    assert (outcome.code, outcome.stdout) == (2, b"")
    for words in ("RUNWATCH_BASE_URL", "RUNWATCH_API_KEY", "--local"):
        assert words in outcome.errors
    failure = json.loads(cli("runs", "list", "--json").errors)
    assert (failure["exit_code"], failure["problem"]) == (2, None)


def test_a_usage_error_in_json_is_one_json_line(cli: Cli) -> None:
    for words in (("runs", "lst", "--json"), ("runs", "list", "--lmit", "--format", "ndjson")):
        outcome = cli(*words, code=2)
        assert json.loads(outcome.errors)["exit_code"] == 2


@pytest.mark.exhaustive
def test_a_reader_that_closes_its_pipe_ends_the_command_quietly(cli: Cli, tmp_path: Path) -> None:
    service = ScriptedService(runs=[run(f"ex_{number}", "completed") for number in range(3000)])
    with running_service(service) as running:
        asking = Cli(tmp_path, base_url=running.base_url, api_key="k")
        with asking.running("runs", "list", "--format", "ndjson", "--limit", "0", env=BUFFERED) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            first = first_line(process)
            process.stdout.close()
            errors = process.stderr.read()
            code = process.wait()
    assert json.loads(first)["execution_id"] == "ex_0"
    assert (code, errors) == (0, b"")


def test_a_closed_pipe_is_quiet_at_the_end_of_the_process_too(cli: Cli) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            cli.command("--help"), env=cli.environment, stdout=closed, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_is_no_success(cli: Cli) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            cli.command("config", "show"), env=cli.environment, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert b"cannot be written" in done.stderr


@pytest.mark.exhaustive
def test_a_watch_in_a_pipe_gives_every_event_when_it_happens(live: tuple[Cli, ScriptedService]) -> None:
    cli, service = live
    with cli.running("runs", "watch", "ex_1", "--json", env=BUFFERED) as process:
        assert process.stdout is not None
        assert json.loads(first_line(process))["state"] == "running"
        assert process.poll() is None
        events = [dict(item.raw) for item in echo_events("ex_1")]
        service.say("GET", "/v1/executions/ex_1/events", Said(200, {"events": events}))
        rest = process.stdout.read().splitlines()
        assert process.wait() == 0
    assert json.loads(rest[-1])["state"] == "completed"


@pytest.mark.parametrize("form", ["table", "json"])
def test_an_interrupted_watch_exits_130_and_says_that_the_runs_go_on(
    live: tuple[Cli, ScriptedService], form: str
) -> None:
    cli, _ = live
    with cli.running("runs", "watch", "ex_1", "--format", form, env=BUFFERED) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert first_line(process)
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read().decode()
        assert process.wait() == 130
    assert "Traceback" not in errors
    assert "continue" in errors
    if form == "json":
        assert json.loads(errors)["exit_code"] == 130


def test_a_defect_is_reported_shortly_and_its_trace_goes_to_the_log_without_the_key(cli: Cli, tmp_path: Path) -> None:
    # A journal without its table is an unforeseen error.
    key = "solverapi_test_canary_0123456789"
    code = (
        "import sys\n"
        "from runwatch.commands import runs\n"
        "from runwatch.cli import run\n"
        "def broken(call):\n"
        "    from runwatch.base.log import keep_secret\n"
        "    from runwatch.base.secrets.secret import Secret\n"
        f"    keep_secret(Secret({key!r}))\n"
        f"    raise ZeroDivisionError({key!r})\n"
        "runs.list_runs = broken\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "runs", "list"], env=cli.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "bug" in done.stderr
    log = (tmp_path / "runwatch-data" / "log" / "runwatch.log").read_text()
    assert "ZeroDivisionError" in log
    assert key not in log + done.stderr


def test_a_cancel_asks_on_a_terminal(live: tuple[Cli, ScriptedService]) -> None:
    cli, service = live
    with Terminal(cli.command("runs", "cancel", "ex_1"), env=cli.environment) as terminal:
        terminal.wait_for("Cancel run ex_1 on environment")
        terminal.type("n\n")
        assert terminal.wait_exit() == 1
    assert service.requests("POST") == []
    with Terminal(cli.command("runs", "cancel", "ex_1"), env=cli.environment) as terminal:
        terminal.wait_for("[y/N]")
        terminal.type("y\n", until="ex_1  cancelled")
        assert terminal.wait_exit() == 0


@pytest.mark.exhaustive
def test_a_question_can_be_interrupted(live: tuple[Cli, ScriptedService]) -> None:
    cli, service = live
    with Terminal(cli.command("runs", "cancel", "ex_1"), env=cli.environment) as terminal:
        terminal.wait_for("[y/N]")
        assert terminal.ends("ctrl+c") == 130
    assert service.requests("POST") == []


def test_a_key_is_typed_hidden(cli: Cli) -> None:
    assert cli("config", "set", "profiles.work.base_url", "https://work.example").code == 0
    with Terminal(cli.command("config", "key", "set", "work"), env=cli.environment) as terminal:
        terminal.wait_for("API key of the profile 'work'")
        terminal.type("solverapi_test_canary\n", until="kept in the key file")
        assert terminal.wait_exit() == 0
        assert b"canary" not in terminal.raw


def test_the_key_of_a_source_is_typed_hidden_or_left_to_a_browser(live: tuple[Cli, ScriptedService]) -> None:
    cli, service = live
    offer_source(service)
    words = ("sources", "connect", "--openai-compatible", "https://models.test/v1")
    with Terminal(cli.command(*words), env=cli.environment) as terminal:
        terminal.wait_for("leave it empty to enter it in a browser")
        terminal.type("sk-typed-canary\n", until="Data classes that runs may give the model")
        terminal.type("\n")
        assert terminal.wait_exit() == 0
        assert b"canary" not in terminal.raw
    assert [heard.body for heard in service.requests("POST", "/connect/source")] == [b'{"secret":"sk-typed-canary"}']
    offer_source(service, after="pending")
    with Terminal(cli.command(*words), env=cli.environment) as terminal:
        terminal.wait_for("in a browser")
        terminal.type("\n", until="Data classes that runs may give the model")
        terminal.type("\n", until="waiting for the page to be completed")
        assert terminal.ends("ctrl+c") == 130
        assert b"The private address still works" in terminal.raw


@pytest.mark.exhaustive
def test_a_table_on_a_terminal_fits_its_width_and_keeps_the_ids_whole(live: tuple[Cli, ScriptedService]) -> None:
    cli, service = live
    long_id = "ex_01HXE0000000000000000000000000000001"
    service.runs.append(dict(run(long_id, "completed", reason="r" * 60).raw))
    with Terminal(cli.command("runs", "list"), env=cli.environment, columns=80) as terminal:
        assert terminal.wait_exit() == 0
        lines = terminal.raw.decode().split("\r\n")
    assert any(long_id in line for line in lines)
    assert max(len(line) for line in lines) <= 80


def test_in_a_terminal_without_a_verb_the_console_opens_on_runs(cli: Cli) -> None:
    environment = {**cli.environment, "RUNWATCH_BASE_URL": "http://127.0.0.1:9", "RUNWATCH_API_KEY": "key-for-nobody"}
    with Terminal(cli.command(), env=environment) as terminal:
        terminal.wait_for("━ Runs ")
        terminal.type("qq")
        assert terminal.wait_exit() == 0


@pytest.mark.exhaustive
def test_a_run_on_the_real_service_from_submit_to_receipt(real: Cli) -> None:
    submitted = real(*ECHO, "--watch", "--json", "--exit-status", code=0)
    events = submitted.json_lines
    assert (events[0]["state"], events[-1]["state"]) == ("accepted", "completed")
    run_id = events[0]["execution_id"]
    assert real("runs", "watch", run_id, "--json").json_lines == events
    assert real("runs", "events", run_id, "--json").json_lines == events
    assert real("runs", "show", run_id, "--json").json["status"] == "completed"
    assert real("receipts", "show", run_id, "--json").json["totals"]["usd"] == 0
    assert run_id in {item["execution_id"] for item in real("runs", "list", "--json").json}
    assert run_id in {item["execution_id"] for item in real("receipts", "list", "--json").json}
    assert real("runs", "result", run_id).code == 1
    assert real("runs", "cancel", run_id, "--yes").code == 1
    assert real("account", "--json").json["authenticated_principal_id"].startswith("key_")
    assert real("doctor").code == 0


def test_a_live_run_without_models_is_refused_with_its_reason(real: Cli) -> None:
    words = [word if word != "echo" else "live" for word in ECHO]
    outcome = real(*words, "--watch", "--exit-status", code=1)
    assert "data_class_not_available" in outcome.errors
    assert re.search(r"runwatch sources connect .*--openai-compatible http://\S+ --model \w", outcome.errors)


def test_the_demo_shows_a_run_and_its_receipt_and_leaves_nothing_behind(cli: Cli, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    outcome = cli("demo", env={"TMPDIR": str(temporary)}, code=0)
    for words in ("accepted", "completed", "platform.echo", "test run, no charge"):
        assert words in outcome.text
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "runwatch-data").exists()
    assert not (tmp_path / "settings.toml").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_demo_that_is_ended_takes_its_service_and_its_files_with_it(
    cli: Cli, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with cli.running("demo", env={"TMPDIR": str(temporary)}) as process:
        assert process.stderr is not None
        address = process.stderr.readline().decode().split()[-1].rstrip(".")
        process.send_signal(number)
        assert process.wait() == code
    assert list(temporary.iterdir()) == []
    outcome = cli("account", "--json", env={"RUNWATCH_BASE_URL": address, "RUNWATCH_API_KEY": "k"})
    assert (outcome.code, json.loads(outcome.errors)["problem"]) == (3, None)


@pytest.mark.exhaustive
def test_local_starts_the_service_once_and_serve_stop_ends_it(cli: Cli) -> None:
    try:
        assert cli(*ECHO, "--local", "--watch").code == 0
        first = cli("runs", "list", "--local", "--json").json
        assert len(first) == 1
        assert cli("runs", "list", "--local", "--base-url", "http://127.0.0.1:9").code == 2
    finally:
        stopped = cli("serve", "--stop")
    assert (stopped.code, stopped.stdout) == (0, b"")
    assert "has stopped" in stopped.errors
    assert "no local service was running" in cli("serve", "--stop").errors


def test_serve_in_json_prints_one_line_and_ends_on_a_signal(cli: Cli, tmp_path: Path) -> None:
    with cli.running("serve", "--json", "--data-dir", str(tmp_path / "service")) as process:
        assert process.stdout is not None
        line = json.loads(first_line(process))
        assert set(line) == {"base_url", "api_key", "data_dir", "pid", "socket"}
        assert line["pid"] == process.pid
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == b""
        assert process.wait() == 0


def test_serve_refuses_an_address_that_others_reach(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("serve", "--host", "0.0.0.0", "--data-dir", str(tmp_path / "service"), code=2)
    assert "--allow-remote" in outcome.errors


def test_the_trace_of_a_defect_is_cleaned(cli: Cli) -> None:
    code = (
        "from runwatch import cli\n"
        "def run(words): raise ValueError('\\x1b]52;c;cm0gLXJmIH4=\\x07')\n"
        "cli.run = run\n"
        "cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=cli.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ValueError: ␛]52;c;" in done.stderr
    assert is_clean(done.stderr)
