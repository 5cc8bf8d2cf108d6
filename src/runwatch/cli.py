"""The command ``runwatch``: parses the command line, runs the command, and returns its exit code.

Modules are imported only when the command line needs them, to start fast.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from runwatch import __version__
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.secrets.core_dumps import forbid_core_dumps
from runwatch.commands import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from runwatch.base.secrets.secret import Secret
    from runwatch.commands.cli.invocation import Invocation
    from runwatch.commands.cli.parser import CommandOptions
    from runwatch.service.options import ServeOptions
    from runwatch.settings.declarations import OwnCommand


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    # Modules are not garbage; a command and the console turn the collector on again once theirs are loaded.
    gc.disable()
    _open_closed_streams()
    sys.excepthook = _write_trace
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except OSError as error:
        # Text left in the buffer would raise again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A reader that closes its pipe early is not a failure.
        code = 0 if isinstance(error, BrokenPipeError) else 1
        if code:
            sys.stderr.write(f"runwatch: The output cannot be written: {error.strerror}\n")
    except KeyboardInterrupt:
        code = 130
    # The interpreter looks for garbage as it ends, which would be a fifth of the time of a short command.
    gc.freeze()
    sys.exit(code)


def _write_trace(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Write the traceback of a bug, cleaned, because the text of an exception may come from a file or a service."""
    import traceback

    from runwatch.base.text import clean_block

    sys.stderr.write(clean_block("".join(traceback.format_exception(kind, error, trace))))


def _open_closed_streams() -> None:
    """Open the null device for every closed standard stream, and let no stream fail on a character."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def run(words: list[str]) -> int:
    """Run one command line and return its exit code; errors have then been reported on stderr.

    Raises:
        OSError: Standard output is closed or its disk is full.
    """
    if words == ["--version"]:
        sys.stdout.write(f"runwatch {__version__}\n")
        return 0
    if words[:1] == [COMPLETE]:
        from runwatch.commands.completion_names import print_names

        return print_names(words[1:])
    try:
        if not words:
            forbid_core_dumps()
            return console()
        from runwatch.commands.cli.parser import parse_command_line

        parsed = parse_command_line(words)
        if parsed.help is not None:
            sys.stdout.write(parsed.help)
            return 0
        forbid_core_dumps()
        if parsed.verb is None:
            return console(parsed.options)
    except RunwatchError as error:
        from runwatch.commands.cli.dispatch import report_usage_error

        return report_usage_error(error, words)
    from runwatch.commands.cli.dispatch import run_command

    return run_command(parsed.verb, parsed.options)


def console(options: CommandOptions | None = None) -> int:
    """Open the console, and return its exit code.

    Args:
        options: The command line's options; ``None`` without any, which skips the parser.

    Raises:
        UsageError: There is no terminal to draw on.
        SettingsError: A flag or a variable has an invalid value.
    """
    if not _has_terminal():
        raise UsageError(
            "There is no terminal to draw the console on",
            hint="Use a command, such as 'runwatch runs list' or 'runwatch runs watch --all'; 'runwatch --help' lists"
            " them.",
        )
    from runwatch.base.paths import find_paths
    from runwatch.settings import resolver
    from runwatch.tui.app.launch import run_console

    if options is None:
        return run_console(find_paths(), os.environ, resolver.SettingOptions())
    return run_console(find_paths(), os.environ, resolver.SettingOptions.by(options), open_at=options.open or "")


def demo(call: Invocation) -> int:
    """Run ``demo``: the console on a temporary service; without a terminal, one test run as text."""
    if _has_terminal():
        gc.disable()
        from runwatch.tui.app.demo import run_demo

        return run_demo(call.environment)
    from runwatch.commands import demo as lines

    return lines.demo(call)


def open_file(call: Invocation) -> int:
    """Run ``open FILE``: the records of a file in the console; as text without a terminal or with output options."""
    options = call.options
    if options.file == "-" or options.format or options.fields or not _has_terminal():
        from runwatch.commands import open_file

        return open_file.open_file(call)
    gc.disable()
    from pathlib import Path

    from runwatch.tui.app.launch import run_console_on_file as open_console_on

    return open_console_on(call.paths, call.environment, Path(options.file).expanduser().absolute())


def doctor(call: Invocation) -> int:
    """Run ``doctor``; only the console knows its way to the desktop."""
    from runwatch.commands import doctor
    from runwatch.tui.terminal.desktop_notice import describe_auto

    return doctor.doctor(call, describe_auto)


def config_set(call: Invocation) -> int:
    """Run ``config set``; only the console knows its actions and their keys."""
    from runwatch.commands import config

    return config.set_value(call, _find_key_problems)


def config_validate(call: Invocation) -> int:
    from runwatch.commands import config

    return config.validate(call, _find_key_problems)


def _find_key_problems(keys: Mapping[str, object], commands: Mapping[str, OwnCommand]) -> Mapping[str, str]:
    from runwatch.tui.core.command_keys import CommandKeys
    from runwatch.tui.core.key_bindings import KeyMap

    known = KeyMap(keys)
    refused = {f"keys.{action}": text for action, text in known.refused.items()}
    return refused | {f"commands.{name}.key": text for name, text in CommandKeys(known, commands).refused.items()}


def _has_terminal() -> bool:
    """Return whether there is a terminal to draw on, or a browser in its place."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return True
    from runwatch.base.console_packets import CONSOLE_DRIVER

    return os.environ.get("TEXTUAL_DRIVER") == CONSOLE_DRIVER


def web(call: Invocation) -> int:
    """Run ``web``: consoles in a browser, each in a process of its own.

    Raises:
        UsageError: The extra is not installed, or an option cannot be used.
        SettingsError: No console could find its service.
    """
    from importlib.util import find_spec
    from pathlib import Path

    if find_spec("textual_serve") is None or find_spec("aiohttp") is None:
        from runwatch.base.shell_words import install_command

        raise UsageError("The console in a browser is not installed", hint=f"Install it with: {install_command('web')}")
    from runwatch.base.log import start_log
    from runwatch.commands.shared.session import find_console_service
    from runwatch.web.process import WebOptions, serve_consoles
    from runwatch.web.server import ConsoleCommand

    options = call.options
    profile = find_console_service(call)
    start_log(call.paths.log_file)
    # -P keeps the working directory out of the module path.
    words = [sys.executable, "-P", "-m", "runwatch"]
    words += [] if options.allow_writes else ["--read-only"]
    words += ["--local"] if options.local else []
    for name in ("profile", "base_url", "theme", "open"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name.replace('_', '-')}={value}"]
    served = WebOptions(
        options.host or "127.0.0.1",
        options.port or 0,
        4 if options.max_consoles is None else options.max_consoles,
        *(Path(file).expanduser() if file else None for file in (options.tls_cert, options.tls_key)),
    )
    access = "with writes" if options.allow_writes else "read-only"
    notes = [
        f"consoles show {profile} {access}; a link opens one browser, and a used one is replaced. Stop with ctrl+c"
    ]

    def show_link(link: str) -> None:
        # With the first link, because only then it listens.
        while notes:
            call.output.note(notes.pop())
        call.output.line(link)

    def report_failure(text: str) -> None:
        call.output.error(f"A console in a browser ended on an error:\n{text}\n")

    return serve_consoles(served, ConsoleCommand(words, call.environment), show_link, report_failure)


def serve(call: Invocation) -> int:
    """Run ``serve``: the local service in this process, or stop the one of a data directory.

    Only this function imports the service; all other code reaches it over HTTP.
    """
    from decimal import Decimal
    from functools import partial
    from pathlib import Path

    options = call.options
    database = _find_database(call, call.options.database)
    if (options.api_only or options.worker_only) and database is None:
        raise UsageError(
            f"{'--api-only' if options.api_only else '--worker-only'} needs a service on PostgreSQL",
            hint="Name its database with --database, or leave the option out.",
        )
    for flag, is_given, hint in (
        ("--api-only", options.api_only, "Without both, a process does both."),
        ("--sample", options.sample, "A sample organization belongs to a process with the interface."),
        ("--public-url", options.public_url, "Give the address to the processes with the interface."),
    ):
        if is_given and options.worker_only:
            raise UsageError(f"{flag} and --worker-only cannot be used together", hint=hint)
    if options.concurrency == 0:
        raise UsageError("--concurrency takes 1 or more", hint="Leave the option out for no limit.")
    if database is None:
        usual = call.paths.local_service_dir
    else:
        usual = call.paths.team_worker_dir if options.worker_only else call.paths.team_service_dir
    data_dir = Path(options.data_dir).expanduser() if options.data_dir else usual
    if options.status:
        return _show_status(call, database)
    if options.stop:
        return _stop(call, data_dir)
    from runwatch.base.network.service_target import normalise_base_url
    from runwatch.service import process as service
    from runwatch.service.options import DEFAULT_MAX_RUNS, SAMPLE_RUNS, ServeOptions
    from runwatch.settings.master_key import find_master_keys

    master_keys = partial(find_master_keys, call.paths.settings_file)
    if options.rotate_master_key:
        rotated = ServeOptions(data_dir=data_dir, master_keys=master_keys, json=False, database=database)
        return _rotate_master_key(call, rotated)
    given_runs = SAMPLE_RUNS if options.sample_runs is None else options.sample_runs
    given = {
        "host": options.host,
        "port": options.port,
        "idle_exit_s": options.idle_exit_s,
        "rate_limit_rpm": options.rate_limit_rpm,
        "pace": options.pace,
        "provider_config": Path(options.provider_config).expanduser() if options.provider_config else None,
        "balance_usd": None if options.balance_usd is None else Decimal(str(options.balance_usd)),
        "quota_executions": options.quota_executions,
        "concurrency": None if options.worker_only else options.concurrency,
    }
    return service.serve(
        ServeOptions(
            data_dir=data_dir,
            master_keys=master_keys,
            key_command="runwatch config header --local" if data_dir == call.paths.local_service_dir else "",
            json=bool(options.json),
            database=database,
            max_runs=_find_max_runs(options, database, DEFAULT_MAX_RUNS),
            has_interface=not options.worker_only,
            allow_remote=bool(options.allow_remote),
            public_url=normalise_base_url(options.public_url, "--public-url") if options.public_url else "",
            allow_loopback_checks=bool(options.allow_loopback_checks),
            allow_signup=bool(options.allow_signup),
            sample=bool(options.sample),
            sample_runs=given_runs if options.sample else None,
            sample_trickle=bool(options.sample),
            **{name: value for name, value in given.items() if value is not None},
        )
    )


def _stop(call: Invocation, data_dir: Path) -> int:
    """Run ``serve --stop``; where nothing runs, name the services that run in the other usual directories.

    Raises:
        RunwatchError: See :func:`runwatch.settings.local_service.stop_running`.
    """
    from runwatch.base.network.service_file import is_running
    from runwatch.base.shell_words import runwatch_command
    from runwatch.settings import local_service

    paths = call.paths
    name = "local service" if data_dir == paths.local_service_dir else f"service of {data_dir}"
    if local_service.stop_running(data_dir.absolute()):
        call.output.note(f"the {name} has stopped")
        return 0
    call.output.note(f"no {name} was running")
    for other in (paths.local_service_dir, paths.team_service_dir, paths.team_worker_dir):
        if not call.options.data_dir and is_running(other):
            command = runwatch_command("serve --stop", data_dir=str(other))
            call.output.note(f"a service runs in {other}; end it with: {command}")
    return 0


def copy_data(call: Invocation) -> int:
    """Run ``admin copy``: copy an embedded service's data into a PostgreSQL database.

    Raises:
        RunwatchError: Nothing was copied; see :func:`runwatch.service.data_copy.copy_data`.
    """
    from functools import partial
    from pathlib import Path

    from runwatch.base.shell_words import quote_word
    from runwatch.service import process as service
    from runwatch.service.options import ServeOptions
    from runwatch.settings.master_key import find_master_keys

    options = call.options
    source_dir = Path(options.source_dir or call.paths.local_service_dir).expanduser()
    target = ServeOptions(
        data_dir=Path(options.data_dir or call.paths.team_service_dir).expanduser(),
        master_keys=partial(find_master_keys, call.paths.settings_file),
        json=False,
        database=_find_database(call, options.database),
    )
    copied = service.copy_data(source_dir, target)
    if options.json:
        tables = [{"table": table.name, "rows": table.rows, "digest": table.digest} for table in copied.tables]
        counts = {"secrets": copied.secrets, "unfinished_runs": copied.unfinished}
        counts["waiting_deliveries"] = copied.deliveries
        call.output.json({"tables": tables, **counts}, indent=None)
        return 0
    for table in copied.tables:
        if table.rows:
            call.output.line(f"{table.rows:>10,}  {table.digest[:16]}  {table.name}")
    rows = sum(table.rows for table in copied.tables)
    call.output.note(f"{rows:,} rows and {copied.secrets:,} secrets were copied; both databases have the same rows")
    if copied.unfinished or copied.deliveries:
        call.output.warn(
            f"runs that are not final: {copied.unfinished:,}, webhook deliveries that wait: {copied.deliveries:,}."
            f" Start only the service on PostgreSQL, with 'runwatch serve --data-dir"
            f" {quote_word(str(target.data_dir))}' and the same database: one on {source_dir} would run and send them"
            " a second time"
        )
        if source_dir == call.paths.local_service_dir:
            call.output.warn(
                "Console and commands start the local service by themselves: move its directory away, or name the new"
                " service in their profile"
            )
    return 0


def _show_status(call: Invocation, database: Secret | None) -> int:
    """Run ``serve --status``: say which processes use a database, and which runs wait.

    Raises:
        UsageError: No database is named.
        RunwatchError: It cannot be read.
    """
    from runwatch.base.clock import format_iso
    from runwatch.base.text import clean_line
    from runwatch.service import process as service

    if database is None:
        raise UsageError(
            "serve --status needs a service on PostgreSQL",
            hint="Name its database with --database; runwatch doctor describes the local service.",
        )
    status = service.read_team_status(database)
    processes = [
        {"role": process.role, "name": clean_line(process.name), "since": format_iso(process.since)}
        for process in status.processes
    ]
    counts = {name: getattr(status, name) for name in ("driven", "waiting", "limited", "stalled")}
    age = None if status.oldest_waiting_s is None else round(status.oldest_waiting_s)
    if call.options.json:
        oldest = {"oldest_waiting": status.oldest_waiting, "oldest_waiting_s": age}
        call.output.json({"processes": processes, **counts, **oldest}, indent=None)
        return 0
    for process in processes:
        call.output.line(f"{process['role']:<20}  {process['name']}, since {process['since']}")
    if not processes:
        call.output.line("No process uses the database")
    call.output.line(f"Driven runs           {status.driven:,}, of these {status.stalled:,} whose worker is gone")
    call.output.line(f"Waiting for a worker  {status.waiting:,}")
    call.output.line(f"Waiting for a limit   {status.limited:,}")
    oldest_run = "none" if age is None else f"{status.oldest_waiting}, for {age:,} s"
    call.output.line(f"Oldest waiting run    {oldest_run}")
    return 0


def _find_max_runs(options: CommandOptions, database: Secret | None, usual: int) -> int | None:
    """Return how many runs this process drives at once; ``None`` for a service that is one process."""
    if database is None:
        return None
    if options.api_only:
        return 0
    return options.concurrency if options.worker_only and options.concurrency is not None else usual


def _find_database(call: Invocation, given: str | None) -> Secret | None:
    """Return the address of the PostgreSQL database for the service, or ``None`` for its own file.

    Args:
        given: The address from the command line, if there is one.

    Raises:
        UsageError: The option has a password; every user of the machine can read arguments.
    """
    from urllib.parse import parse_qs, urlsplit

    from runwatch.base.secrets.secret import Secret

    if not given:
        address = call.environment.get("RUNWATCH_DATABASE", "").strip()
        return Secret(address) if address else None
    try:
        parts = urlsplit(given)
        # A password that is not escaped ends early for one reader or another.
        user, _, _ = given.partition("://")[2].partition("/")[0].rpartition("@")
        is_cut_short = bool(user.partition(":")[2]) or "@" in parts.path
        has_password = bool(parts.password) or is_cut_short
        has_password = has_password or bool({"password", "sslpassword"} & parse_qs(parts.query).keys())
    except ValueError:
        # What cannot be read may be a password.
        has_password = True
    if has_password:
        raise UsageError(
            "A password does not belong in an argument, which every user of this machine can read",
            hint="Set RUNWATCH_DATABASE to the whole address, or PGPASSWORD, or use PostgreSQL's password file.",
        )
    return Secret(given)


def _rotate_master_key(call: Invocation, options: ServeOptions) -> int:
    """Run ``serve --rotate-master-key``: make a new master key, and seal every secret of the service with it.

    A command that prints the master key has to print the new one itself, which seals the secrets of a database then.

    Raises:
        LocalServiceError: A service runs on the data directory, or processes use the database.
        SettingsError: The master key of the local service comes from a command, or its place is not usable.
        DataError: The data directory is not usable; the next start seals what is left.
    """
    from runwatch.base.errors import LocalServiceError
    from runwatch.base.network.service_file import is_running
    from runwatch.service import process as service
    from runwatch.settings.master_key import add_master_key, is_from_command

    if is_running(options.data_dir):
        raise LocalServiceError(
            "A service runs on this data directory, with the master key as it is",
            detail=str(options.data_dir),
            hint="End it with 'runwatch serve --stop' and the same data directory, then rotate.",
        )
    if options.database is not None and (running := service.find_processes(options.database)):
        raise LocalServiceError(
            "Processes use this database, with the master key as it is",
            detail="\n".join(running),
            hint="End every one of them, then rotate.",
        )
    if options.database is None or not is_from_command(call.paths.settings_file):
        add_master_key(call.paths.settings_file)
    closed = service.reseal_secrets(options)
    call.output.note("every secret that could be opened is sealed with the new master key")
    if options.database is not None:
        call.output.note("bring it to every machine whose processes use the database")
    if closed:
        call.output.warn(f"{closed} secrets cannot be opened with any master key at hand; the next start names them")
    return 0
