"""``doctor``: check everything between this terminal and the service, with the next step for each problem.

Changes nothing and shows no secret. A failed check does not stop the following ones.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from runwatch import __version__
from runwatch.api.calls import CallResult
from runwatch.api.errors import ApiError, ApiProblem, NoResponseError
from runwatch.base.errors import DataError, RunwatchError
from runwatch.base.files import UnsafePlaceError, check_data_dir, check_place
from runwatch.base.memory import available_bytes, list_users_of, resident_bytes
from runwatch.base.network.retry_after import parse_http_date
from runwatch.base.network.service_target import Target
from runwatch.base.shell_words import quote_word, runwatch_command
from runwatch.commands.cli.error_report import next_step_text
from runwatch.commands.cli.exit_codes import SUCCESS, USAGE, exit_code
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.row_printer import print_rows
from runwatch.commands.shared.session import CommandSession, make_resolver, open_session
from runwatch.records.account import Account, Quota
from runwatch.records.problem import NOT_OFFERED_STATUS
from runwatch.settings.resolver import SettingsResolver, find_ascii_variable
from runwatch.settings.settings_file import LoadedSettings, load_settings_file
from runwatch.store.db.database import Database
from runwatch.view.text.format import MIN_COLUMNS, MIN_ROWS, byte_size, clock_difference, duration
from runwatch.view.text.glyphs import UNICODE
from runwatch.view.text.safe_text import line

_LONG_LISTS_BYTES: Final = 150_000_000
"""What a console with 100,000 receipts may need (manual: measurements, "Targets")."""


class DoctorResult(NamedTuple):
    """Result of one check.

    Attributes:
        state: ``ok``, ``warn`` or ``fail``.
        next: What to do about it; empty for nothing.
        code: Exit code for a failure.
    """

    check: str
    found: str
    state: str = "ok"
    next: str = ""
    code: int = SUCCESS


DescribeNotices = Callable[[Mapping[str, str]], Awaitable[str]]
"""Says which way a notice takes to the desktop, by the environment; empty for none."""


def doctor(call: Invocation, describe_notices: DescribeNotices) -> int:
    """``doctor``: print one result per check, and return the highest exit code."""
    results = asyncio.run(_all(call, describe_notices))
    if call.output.form == "table":
        for result in results:
            for printed in _lines(result._replace(next=call.output.complete(result.next))):
                call.output.text(printed + "\n")
    else:
        print_rows(call.output, [result._asdict() for result in results])
    return max(result.code for result in results)


def _lines(result: DoctorResult) -> Iterator[str]:
    """Format a result as text: state, check and findings, one line each."""
    found = result.found.splitlines() or [""]
    step = [f"next: {result.next}"] if result.next else []
    heads = [f"{result.state:<5} {result.check:<10}"]
    for head, text in zip_longest(heads, [*found, *step], fillvalue=f"{'':<16}"):
        yield f"{head} {line(text, None)}"


async def _all(call: Invocation, describe_notices: DescribeNotices) -> list[DoctorResult]:
    loaded = load_settings_file(call.paths.settings_file, clock=call.clock)
    results = [
        DoctorResult("version", f"runwatch {__version__}, Python {platform.python_version()}, {platform.system()}"),
        *_settings(loaded),
        _data(call.paths.data_dir),
        await _database(call.paths.database),
        DoctorResult("log", str(call.paths.log_file)),
        *_terminal(call.environment),
        *await _notices(call.environment, describe_notices),
        _memory(),
        *await asyncio.to_thread(lambda: list(_consoles(call.paths.database))),
    ]
    results += [result async for result in _service(call, loaded)]
    return results


def _settings(loaded: LoadedSettings) -> Iterator[DoctorResult]:
    if not loaded.problems:
        exists = loaded.path.exists()
        yield DoctorResult("settings", str(loaded.path) if exists else f"{loaded.path} does not exist; defaults apply")
    for problem in loaded.problems:
        if problem.is_warning:
            yield DoctorResult("settings", str(problem), "warn")
        else:
            yield DoctorResult("settings", str(problem), "fail", _settings_hint(loaded.path), USAGE)


def _settings_hint(path: Path) -> str:
    try:
        check_place(path)
    except UnsafePlaceError as error:
        return error.mend or "Use a settings file of your own; RUNWATCH_CONFIG names it."
    except OSError:
        return "Make the file readable."
    if not path.is_file():
        return "Move what is in the way of the file, or name another one in RUNWATCH_CONFIG."
    return "Correct this line."


def _data(directory: Path) -> DoctorResult:
    """Check that the data directory exists, is private and is writable."""
    try:
        mode = stat.S_IMODE(directory.stat().st_mode)
        check_data_dir(directory)
    except FileNotFoundError:
        return DoctorResult("data", f"{directory} does not exist yet; it is created when needed")
    except DataError as error:
        return DoctorResult("data", str(error), "fail", error.hint or "", USAGE)
    except OSError as error:
        return _unusable(directory, error.strerror or "not usable")
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        return _unusable(directory, "not writable")
    if mode & 0o077:
        found = f"{directory} is open to other users (mode {mode:04o})"
        return DoctorResult("data", found, "warn", f"chmod 700 {quote_word(str(directory))}")
    return DoctorResult("data", str(directory))


def _memory() -> DoctorResult:
    own, left = byte_size(resident_bytes()), available_bytes()
    if left is None:
        return DoctorResult("memory", f"this command uses {own}")
    found = f"this command uses {own}, and {byte_size(left)} of this machine are free"
    if left < _LONG_LISTS_BYTES:
        return DoctorResult("memory", found, "warn", "A console with long lists needs 150 MB: end other programs.")
    return DoctorResult("memory", found)


def _consoles(database: Path) -> Iterator[DoctorResult]:
    """Name the other processes that have the database open, where the system tells."""
    found = ", ".join(f"process {number} uses {byte_size(size)}" for number, size in list_users_of(database).items())
    if found:
        yield DoctorResult("consoles", f"consoles and commands on this data directory: {found}")


def _unusable(directory: Path, reason: str) -> DoctorResult:
    return DoctorResult("data", f"{directory}: {reason}", "fail", "Make it writable, or set RUNWATCH_DATA_DIR.", USAGE)


async def _database(path: Path) -> DoctorResult:
    if not await asyncio.to_thread(path.exists):
        return DoctorResult("database", "none yet")
    try:
        database = Database.open(path)
        try:
            faults = await database.faults()
        finally:
            database.close()
    except DataError as error:
        return DoctorResult("database", str(error), "fail", error.hint or "", USAGE)
    if faults:
        return DoctorResult(
            "database", f"{path}: {faults[0]}", "fail", "Move the file away; a new one is created.", USAGE
        )
    return DoctorResult("database", f"{path} is intact")


def _terminal(environment: Mapping[str, str]) -> Iterator[DoctorResult]:
    """Describe what the terminal supports, as far as the environment shows."""
    if not sys.stdout.isatty():
        yield DoctorResult("terminal", "standard output is not a terminal")
        return
    size = shutil.get_terminal_size()
    name = environment.get("TERM", "")
    small = size.columns < MIN_COLUMNS or size.lines < MIN_ROWS
    facts = [f"TERM={name or 'not set'}", f"{size.columns}x{size.lines}", _colours(environment)]
    if environment.get("TMUX"):
        facts.append("inside tmux")
    if environment.get("SSH_CONNECTION"):
        facts.append("over SSH")
    if name in {"", "dumb"}:
        yield DoctorResult(
            "terminal", ", ".join(facts), "warn", "Set TERM to your terminal's type, e.g. xterm-256color."
        )
    else:
        next_step = f"The console needs at least {MIN_COLUMNS}x{MIN_ROWS}." if small else ""
        yield DoctorResult("terminal", ", ".join(facts), "warn" if small else "ok", next_step)
    variable = find_ascii_variable(environment)
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        step = "Use a UTF-8 locale, or 'runwatch config set glyphs ascii'."
        yield DoctorResult("glyphs", f"the encoding is {encoding or 'unknown'}", "warn", step)
    elif variable:
        step = "If your terminal shows more: 'runwatch config set glyphs unicode'."
        yield DoctorResult("glyphs", f"ASCII, because of {variable}={environment[variable]}", "ok", step)
    else:
        marks = (UNICODE.live, UNICODE.good, UNICODE.bad, UNICODE.off, UNICODE.warn, UNICODE.ellipsis)
        step = "If you do not see six different symbols: 'runwatch config set glyphs ascii'."
        yield DoctorResult("glyphs", " ".join(marks), "ok", step)


async def _notices(environment: Mapping[str, str], describe_notices: DescribeNotices) -> list[DoctorResult]:
    """Say which way a notice takes from this terminal with the setting ``auto``."""
    if not sys.stdout.isatty():
        return []
    way = await describe_notices(environment)
    if way:
        return [DoctorResult("notices", f"desktop_notice = auto takes {way}", "ok")]
    if environment.get("TMUX"):
        return [DoctorResult("notices", "desktop_notice = auto shows none while no client of tmux is attached", "ok")]
    found = "desktop_notice = auto shows none, because this terminal is not known"
    step = "'runwatch help decisions' lists the terminals; desktop_notice may name a sequence itself."
    return [DoctorResult("notices", found, "ok", step)]


def _colours(environment: Mapping[str, str]) -> str:
    if environment.get("NO_COLOR"):
        return "no colour (NO_COLOR)"
    if environment.get("COLORTERM") in {"truecolor", "24bit"}:
        return "16 million colours"
    return "256 colours" if "256color" in environment.get("TERM", "") else "few colours"


async def _service(call: Invocation, loaded: LoadedSettings) -> AsyncIterator[DoctorResult]:
    chosen = make_resolver(call, loaded)
    try:
        settings = chosen.settings()
        target = await asyncio.to_thread(chosen.target)
    except RunwatchError as error:
        yield DoctorResult("service", str(error), "fail", error.hint or "", exit_code(error))
        return
    through = f" through {target.socket}" if target.socket is not None else ""
    yield DoctorResult("service", f"{target.origin}{through}, profile {target.profile}{_where(chosen)}")
    if target.key is None:
        step = f"Set RUNWATCH_API_KEY, or: {runwatch_command('config key set', target.profile)}"
        yield DoctorResult("key", "no key found", "warn", step)
    else:
        yield DoctorResult("key", f"from {target.key_source}")
    try:
        async with open_session(call, target, settings) as session:
            async for result in _answers(session, target):
                yield result
    except DataError as error:
        yield DoctorResult("journal", str(error), "fail", error.hint or "", USAGE)


def _where(chosen: SettingsResolver) -> str:
    address = chosen.base_url()
    return f", from {address.where}" if address is not None and address.where else ""


async def _answers(session: CommandSession, target: Target) -> AsyncIterator[DoctorResult]:
    """Make one authenticated request, and report on its response."""
    try:
        call_result = await _read(session)
    except NoResponseError as error:
        yield DoctorResult("connection", str(error), "fail", error.hint or "", exit_code(error))
        return
    except ApiError as error:
        yield _reached(target)
        yield DoctorResult("read", _refusal(error), "fail", next_step_text(error) or "", exit_code(error))
        return
    yield _reached(target)
    yield _skew(session, call_result)
    account = Account(call_result.value) if isinstance(call_result.value, dict) else Account({})
    yield DoctorResult("read", f"accepted in {duration(call_result.elapsed_s)}{_principal(account)}")
    # Imported here, because most findings need no service.
    from runwatch.view.resources.account import UNLIMITED

    quota = account.quota or Quota({})
    limit = UNLIMITED if "rate_limit_rpm" in quota.raw else "not published"
    if quota.rate_limit_rpm is not None:
        limit = f"{quota.rate_limit_rpm} requests a minute"
    yield DoctorResult("rate limit", limit)
    for result in _secrets(account):
        yield result
    waiting = await session.outbox.unconfirmed(await session.scope())
    if waiting:
        found = f"{len(waiting)} of unknown outcome: {', '.join(item.request.key for item in waiting)}"
        yield DoctorResult("writes", found, "warn", "'runwatch runs submit --resend KEY' retries a submit.")


def _refusal(error: ApiError) -> str:
    if not isinstance(error, ApiProblem):
        return str(error)
    instance = f" (instance {error.support_id})" if error.support_id else ""
    return f"{error.code or 'no code'}, HTTP {error.status}: {error.title}{instance}"


async def _read(session: CommandSession) -> CallResult:
    """Read the account; if the service does not offer it, the list of runs."""
    try:
        return await session.client.request("getAccount")
    except ApiProblem as problem:
        if problem.status not in NOT_OFFERED_STATUS:
            raise
        return await session.client.request("getExecutions", query={"limit": 1})


def _reached(target: Target) -> DoctorResult:
    return DoctorResult(
        "connection", f"{target.host} responds{' over TLS' if target.origin.startswith('https:') else ''}"
    )


def _skew(session: CommandSession, call_result: CallResult) -> DoctorResult:
    """Compare the two clocks by the response's ``Date``."""
    at = parse_http_date(call_result.response.headers.get("date"))
    if at is None:
        return DoctorResult("clock", "the service does not report its time")
    found = clock_difference(session.call.clock.now(), at)
    if found is None:
        return DoctorResult("clock", "agrees with the service")
    return DoctorResult(
        "clock", f"this machine is {found}", "warn", "Set the clock; times and waits are wrong until then."
    )


def _secrets(account: Account) -> Iterator[DoctorResult]:
    """Report secrets that the local service cannot open because their master key is missing."""
    closed = account.closed_secrets or ()
    if closed:
        found = [f"{len(closed)} cannot be opened because their master key is missing:"]
        found += [secret.advice for secret in closed]
        step = "Restore the master key and start the service again, or follow the lines above."
        yield DoctorResult("secrets", "\n".join(found), "warn", step)


def _principal(account: Account) -> str:
    facts: list[Any] = [account.display_name or account.tenant_id, account.authenticated_principal_id]
    named = ", ".join(str(line(fact)) for fact in facts if fact)
    return f" as {named}" if named else ""
