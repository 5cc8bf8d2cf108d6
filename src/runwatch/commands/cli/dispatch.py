"""Run one command, and turn any exception into a message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Final

from runwatch.base.clock import SystemClock
from runwatch.base.errors import RunwatchError
from runwatch.base.memory import resume_collection
from runwatch.base.paths import Paths, find_paths
from runwatch.commands.cli.command_spec import CommandSpec
from runwatch.commands.cli.exit_codes import INTERNAL_ERROR, INTERRUPTED, exit_code
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.cli.output import CommandOutput, OutputClosedError
from runwatch.commands.cli.parser import CommandOptions
from runwatch.commands.cli.short_ids import name_seen_id, refuse_shortened_ids

_JSON_WORDS: Final = ("--json", "--format=json", "--format=ndjson")
_JSON_PAIRS: Final = (("--format", "json"), ("--format", "ndjson"))


def run_command(verb: CommandSpec, options: CommandOptions) -> int:
    """Run a command and return its exit code. Errors are reported on stderr.

    Raises:
        OSError: Stdout is closed or its disk is full.
    """
    output = CommandOutput(options.format or "table", complete=partial(_complete, options))
    call = Invocation(options, os.environ, find_paths(), output, SystemClock(), sys.stdin, verb.path)
    try:
        return _code_of(verb, call)
    except OutputClosedError as error:
        raise error.reason from None


def _complete(options: CommandOptions, text: str) -> str:
    if "runwatch" not in text:
        return text
    # Imported here because most commands suggest none.
    from runwatch.commands.cli.suggested_commands import find_service
    from runwatch.view.text.shell_commands import add_service

    return add_service(text, find_service(options))


def _code_of(verb: CommandSpec, call: Invocation) -> int:
    try:
        function = _function(verb)
        resume_collection()
        if verb.arguments:
            refuse_shortened_ids(call)
        return function(call)
    except OutputClosedError:
        raise
    except RunwatchError as error:
        name_seen_id(error, call)
        return _report(error, call.output, exit_code(error), call=call)
    except KeyboardInterrupt:
        if sys.stderr.isatty() and not call.output.is_json:
            call.output.error("\n")  # after the terminal's ^C
        return _report(_interruption(call), call.output, INTERRUPTED, call.pending_key, call)
    except Exception as error:
        return _report(_defect(error, call.paths), call.output, INTERNAL_ERROR, call.pending_key, call)


def _function(verb: CommandSpec) -> Callable[[Invocation], int]:
    module, _, name = verb.run.partition(":")
    function: Callable[[Invocation], int] = getattr(import_module(f"runwatch.{module}"), name)
    return function


def report_usage_error(error: RunwatchError, words: Sequence[str]) -> int:
    """Report a command line error in the format that the words seem to request, and return the exit code."""
    wants_json = any(word in _JSON_WORDS for word in words) or any(pair in _JSON_PAIRS for pair in pairwise(words))
    return _report(error, CommandOutput("json" if wants_json else "table"), exit_code(error))


def _report(
    error: RunwatchError, output: CommandOutput, code: int, pending: str | None = None, call: Invocation | None = None
) -> int:
    from runwatch.commands.cli.error_report import NO_CIRCUMSTANCES, find_circumstances, write_error

    write_error(error, code, output, NO_CIRCUMSTANCES if call is None else find_circumstances(call, pending))
    return code


def _interruption(call: Invocation) -> RunwatchError:
    if call.pending_key is None:
        return RunwatchError("Interrupted", hint=call.on_interrupt)
    command = call.command("runs submit", resend=call.pending_key)
    return RunwatchError(
        "Interrupted",
        detail="a submit was in progress; it is unknown whether a run was accepted",
        hint=f"The same key never starts a second run. Retry: {command}",
    )


def _defect(error: Exception, paths: Paths) -> RunwatchError:
    """Return the message for an unexpected exception. The traceback goes to the log, with secrets redacted."""
    import logging

    from runwatch.base.log import redact, start_log

    logger = logging.getLogger("runwatch")
    is_logged = any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers)
    if not is_logged:
        is_logged = start_log(paths.log_file) is not None
    logger.error("a command failed with an unexpected error", exc_info=error)
    return RunwatchError(
        "Unexpected error",
        detail=redact(f"{type(error).__name__}: {error}"),
        hint=f"This is a bug. Please report it and attach {paths.log_file}." if is_logged else "This is a bug.",
    )
