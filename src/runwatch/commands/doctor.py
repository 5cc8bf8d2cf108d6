"""``doctor``: everything between this terminal and the service, checked one after another, with the next step for each.

Nothing is changed and no secret is shown. A check that fails does not stop those after it.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import stat
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from email.utils import parsedate_to_datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from runwatch import __version__
from runwatch.api.client import Answer
from runwatch.api.errors import ApiError, ApiProblem, NoAnswer
from runwatch.base.errors import DataError, RunwatchError
from runwatch.base.files import check_data_dir
from runwatch.base.shell import quote_word, runwatch_command
from runwatch.base.target import Target
from runwatch.commands.call import Call
from runwatch.commands.exits import DONE, USAGE, exit_code
from runwatch.commands.listing import NOT_OFFERED
from runwatch.commands.rows import print_rows
from runwatch.commands.session import Session, open_session, resolver
from runwatch.commands.tell import hint_of
from runwatch.records.account import Account, Quota
from runwatch.settings.file import Loaded, load
from runwatch.settings.resolve import Resolver
from runwatch.store.database import Database
from runwatch.view.drawn import line
from runwatch.view.format import duration
from runwatch.view.glyphs import UNICODE

SKEW_S: Final = 30.0
"""A difference between two clocks that spoils ages and waits, in seconds."""


class Finding(NamedTuple):
    """What one check found.

    Attributes:
        check: What was looked at.
        found: What is there.
        state: ``ok``, ``warn`` or ``fail``.
        next: What to do about it; empty when nothing.
        code: The exit code that a failure asks for.
    """

    check: str
    found: str
    state: str = "ok"
    next: str = ""
    code: int = DONE


def doctor(call: Call) -> int:
    """``doctor``: print one finding a check, and answer the worst exit code."""
    findings = asyncio.run(_all(call))
    if call.output.form == "table":
        for finding in findings:
            for printed in _lines(finding):
                call.output.text(printed + "\n")
    else:
        print_rows(call.output, [finding._asdict() for finding in findings])
    return max(finding.code for finding in findings)


def _lines(finding: Finding) -> Iterator[str]:
    """A finding for people: the state, the check and what it found, a line each for what has several."""
    found = finding.found.splitlines() or [""]
    step = [f"next: {finding.next}"] if finding.next else []
    heads = [f"{finding.state:<5} {finding.check:<10}"]
    for head, text in zip_longest(heads, [*found, *step], fillvalue=f"{'':<16}"):
        yield f"{head} {line(text, None)}"


async def _all(call: Call) -> list[Finding]:
    loaded = load(call.paths.settings_file, clock=call.clock)
    findings = [
        Finding("version", f"runwatch {__version__}, Python {platform.python_version()}, {platform.system()}"),
        *_settings(loaded),
        _data(call.paths.data_dir),
        await _database(call.paths.database),
        Finding("log", str(call.paths.log_file)),
        *_terminal(call.environment),
    ]
    findings += [finding async for finding in _service(call, loaded)]
    return findings


def _settings(loaded: Loaded) -> Iterator[Finding]:
    if not loaded.problems:
        exists = loaded.path.exists()
        yield Finding("settings", str(loaded.path) if exists else f"{loaded.path} does not exist; the defaults hold")
    for problem in loaded.problems:
        if problem.is_warning:
            yield Finding("settings", str(problem), "warn")
        else:
            yield Finding("settings", str(problem), "fail", "Mend this line.", USAGE)


def _data(directory: Path) -> Finding:
    """The data directory: there, ours alone, and writable."""
    try:
        mode = stat.S_IMODE(directory.stat().st_mode)
    except FileNotFoundError:
        return Finding("data", f"{directory} does not exist yet; it is made when it is needed")
    except OSError as error:
        return _unusable(directory, error.strerror or "not usable")
    try:
        check_data_dir(directory)
    except DataError as error:
        return Finding("data", str(error), "fail", error.hint or "", USAGE)
    except OSError as error:
        return _unusable(directory, error.strerror or "not usable")
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        return _unusable(directory, "not writable")
    if mode & 0o077:
        found = f"{directory} can be entered by others (mode {mode:04o})"
        return Finding("data", found, "warn", f"chmod 700 {quote_word(str(directory))}")
    return Finding("data", str(directory))


def _unusable(directory: Path, reason: str) -> Finding:
    return Finding("data", f"{directory}: {reason}", "fail", "Make it writable, or set RUNWATCH_DATA_DIR.", USAGE)


async def _database(path: Path) -> Finding:
    if not await asyncio.to_thread(path.exists):
        return Finding("database", "none yet")
    try:
        database = Database.open(path)
        try:
            faults = await database.faults()
        finally:
            database.close()
    except DataError as error:
        return Finding("database", str(error), "fail", error.hint or "", USAGE)
    if faults:
        return Finding("database", f"{path}: {faults[0]}", "fail", "Move the file away; a new one is made.", USAGE)
    return Finding("database", f"{path} is sound")


def _terminal(environment: Mapping[str, str]) -> Iterator[Finding]:
    """What the terminal can show, as far as the environment tells."""
    if not sys.stdout.isatty():
        yield Finding("terminal", "standard output is no terminal")
        return
    size = shutil.get_terminal_size()
    name = environment.get("TERM", "")
    small = size.columns < 80 or size.lines < 24
    facts = [f"TERM={name or 'not set'}", f"{size.columns}x{size.lines}", _colours(environment)]
    if environment.get("TMUX"):
        facts.append("inside tmux")
    if environment.get("SSH_CONNECTION"):
        facts.append("over SSH")
    if name in {"", "dumb"}:
        yield Finding("terminal", ", ".join(facts), "warn", "Set TERM to what the terminal is, e.g. xterm-256color.")
    else:
        next_step = "The console needs 80x24 to show everything." if small else ""
        yield Finding("terminal", ", ".join(facts), "warn" if small else "ok", next_step)
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        step = "Use a UTF-8 locale, or 'runwatch config set glyphs ascii'."
        yield Finding("glyphs", f"the encoding is {encoding or 'unknown'}", "warn", step)
    else:
        marks = (UNICODE.live, UNICODE.good, UNICODE.bad, UNICODE.off, UNICODE.warn, UNICODE.ellipsis)
        step = "If these are not six different signs: 'runwatch config set glyphs ascii'."
        yield Finding("glyphs", " ".join(marks), "ok", step)


def _colours(environment: Mapping[str, str]) -> str:
    if environment.get("NO_COLOR"):
        return "no colour (NO_COLOR)"
    if environment.get("COLORTERM") in {"truecolor", "24bit"}:
        return "16 million colours"
    return "256 colours" if "256color" in environment.get("TERM", "") else "few colours"


async def _service(call: Call, loaded: Loaded) -> AsyncIterator[Finding]:
    chosen = resolver(call, loaded)
    try:
        settings = chosen.settings()
        target = await asyncio.to_thread(chosen.target)
    except RunwatchError as error:
        yield Finding("service", str(error), "fail", error.hint or "", exit_code(error))
        return
    through = f" through {target.socket}" if target.socket is not None else ""
    yield Finding("service", f"{target.origin}{through}, profile {target.profile}{_where(chosen)}")
    if target.key is None:
        step = f"Set RUNWATCH_API_KEY, or: {runwatch_command('config key set', target.profile)}"
        yield Finding("key", "no source gives one", "warn", step)
    else:
        yield Finding("key", f"from {target.key_source}")
    try:
        async with open_session(call, target, settings) as session:
            async for finding in _answers(session, target):
                yield finding
    except DataError as error:
        yield Finding("journal", str(error), "fail", error.hint or "", USAGE)


def _where(chosen: Resolver) -> str:
    address = chosen.base_url()
    return f", named by {address.where}" if address is not None and address.where else ""


async def _answers(session: Session, target: Target) -> AsyncIterator[Finding]:
    """One authenticated read, and what its answer tells."""
    try:
        answer = await _read(session)
    except NoAnswer as error:
        yield Finding("connection", str(error), "fail", error.hint or "", exit_code(error))
        return
    except ApiError as error:
        yield _reached(target)
        yield Finding("read", _refusal(error), "fail", hint_of(error) or "", exit_code(error))
        return
    yield _reached(target)
    yield _skew(session, answer)
    account = Account(answer.value) if isinstance(answer.value, dict) else Account({})
    yield Finding("read", f"accepted in {duration(answer.elapsed_s)}{_principal(account)}")
    limit = (account.quota or Quota({})).rate_limit_rpm
    yield Finding("rate limit", "none is published" if limit is None else f"{limit} requests a minute")
    for finding in _secrets(account):
        yield finding
    waiting = await session.outbox.waiting(await session.scope())
    if waiting:
        found = f"{len(waiting)} of unknown outcome: {', '.join(item.order.key for item in waiting)}"
        yield Finding("writes", found, "warn", "'runwatch runs submit --resend KEY' settles a submit.")


def _refusal(error: ApiError) -> str:
    if not isinstance(error, ApiProblem):
        return str(error)
    instance = f" (instance {error.support_id})" if error.support_id else ""
    return f"{error.code or 'no code'}, HTTP {error.status}: {error.title}{instance}"


async def _read(session: Session) -> Answer:
    """The account; where the service does not offer it, the list of runs."""
    try:
        return await session.client.request("getAccount")
    except ApiProblem as problem:
        if problem.status not in NOT_OFFERED:
            raise
        return await session.client.request("getExecutions", query={"limit": 1})


def _reached(target: Target) -> Finding:
    return Finding("connection", f"{target.host} answers{' over TLS' if target.origin.startswith('https:') else ''}")


def _skew(session: Session, answer: Answer) -> Finding:
    """How far the two clocks are apart, by the answer's ``Date``."""
    try:
        at = parsedate_to_datetime(answer.reply.headers.get("date", ""))
        seconds = (session.call.clock.now() - at).total_seconds()
    except (ValueError, TypeError):
        return Finding("clock", "the service does not tell its time")
    if abs(seconds) <= SKEW_S:
        return Finding("clock", "agrees with the service's")
    side = "ahead of" if seconds > 0 else "behind"
    found = f"this machine is {duration(abs(seconds))} {side} the service"
    return Finding("clock", found, "warn", "Set the clock; ages and waits are wrong until then.")


def _secrets(account: Account) -> Iterator[Finding]:
    """What cannot be used, because the local service has not the master key that sealed its secret."""
    closed = account.closed_secrets or ()
    if closed:
        found = [f"{len(closed)} cannot be opened, because their master key is missing:"]
        found += [secret.advice for secret in closed]
        step = "Bring the master key back and start the service again, or follow the lines above."
        yield Finding("secrets", "\n".join(found), "warn", step)


def _principal(account: Account) -> str:
    facts: list[Any] = [account.display_name or account.tenant_id, account.authenticated_principal_id]
    named = ", ".join(str(line(fact)) for fact in facts if fact)
    return f" as {named}" if named else ""
