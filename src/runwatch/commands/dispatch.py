"""Runs one verb, and turns whatever it raises into a message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Final

from runwatch.base.clock import SystemClock
from runwatch.base.errors import RunwatchError
from runwatch.base.paths import Paths, find_paths
from runwatch.commands.call import Call
from runwatch.commands.exits import DEFECT, INTERRUPTED, exit_code
from runwatch.commands.grammar import Verb
from runwatch.commands.output import Output, Unwritable
from runwatch.commands.parser import Options

_JSON_WORDS: Final = ("--json", "--format=json", "--format=ndjson")
_JSON_PAIRS: Final = (("--format", "json"), ("--format", "ndjson"))


def run_verb(verb: Verb, options: Options) -> int:
    """Do what a call asks for and answer its exit code; what stopped it has been told on stderr then.

    Raises:
        OSError: stdout is closed or its disk is full.
    """
    output = Output(options.format or "table")
    call = Call(options, os.environ, find_paths(), output, SystemClock(), sys.stdin, verb.path)
    try:
        return _code_of(verb, call)
    except Unwritable as error:
        raise error.reason from None


def _code_of(verb: Verb, call: Call) -> int:
    try:
        return _function(verb)(call)
    except Unwritable:
        raise
    except RunwatchError as error:
        return _tell(error, call.output, exit_code(error), call=call)
    except KeyboardInterrupt:
        if sys.stderr.isatty() and not call.output.is_json:
            call.output.error("\n")  # behind the terminal's ^C
        return _tell(_interruption(call), call.output, INTERRUPTED, call.pending_key, call)
    except Exception as error:
        return _tell(_defect(error, call.paths), call.output, DEFECT, call.pending_key, call)


def _function(verb: Verb) -> Callable[[Call], int]:
    module, _, name = verb.run.partition(":")
    function: Callable[[Call], int] = getattr(import_module(f"runwatch.{module}"), name)
    return function


def tell_usage(error: RunwatchError, words: Sequence[str]) -> int:
    """Tell about words that could not be read, in the form that they seem to ask for, and answer the exit code."""
    wants_json = any(word in _JSON_WORDS for word in words) or any(pair in _JSON_PAIRS for pair in pairwise(words))
    return _tell(error, Output("json" if wants_json else "table"), exit_code(error))


def _tell(error: RunwatchError, output: Output, code: int, pending: str | None = None, call: Call | None = None) -> int:
    from runwatch.commands.tell import NONE, circumstances_of, failure_line, failure_text

    known = NONE if call is None else circumstances_of(call)
    if output.is_json:
        output.error(failure_line(error, code, pending, circumstances=known))
    else:
        output.error(failure_text(error, circumstances=known))
    return code


def _interruption(call: Call) -> RunwatchError:
    if call.pending_key is None:
        return RunwatchError("Interrupted", hint=call.on_interrupt)
    command = call.command("runs submit", resend=call.pending_key)
    return RunwatchError(
        "Interrupted",
        detail="a submit was under way; whether a run was accepted is unknown",
        hint=f"The same key never starts a second run. Ask again: {command}",
    )


def _defect(error: Exception, paths: Paths) -> RunwatchError:
    """What a person is told about an exception that nobody foresaw; its trace goes to the log, without any secret."""
    import logging

    from runwatch.base.log import redact, start_log

    logger = logging.getLogger("runwatch")
    is_logged = any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers)
    if not is_logged:
        is_logged = start_log(paths.log_file) is not None
    logger.error("a verb ended with a defect", exc_info=error)
    return RunwatchError(
        "Something went wrong that runwatch did not foresee",
        detail=redact(f"{type(error).__name__}: {error}"),
        hint=f"This is a defect. Please report it with {paths.log_file}." if is_logged else "This is a defect.",
    )
