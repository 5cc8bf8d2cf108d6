"""Report errors: as plain lines for users, as one JSON line for scripts (manual: decisions, "Command line")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from runwatch.api.errors import ApiError, ApiProblem, InvalidRequestError, RateLimitedError
from runwatch.api.operations import OPERATIONS, SUBMIT
from runwatch.base.errors import RunwatchError, WriteInProgressError
from runwatch.base.json import dumps
from runwatch.base.secrets.secret_patterns import remove_known_keys
from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.cli.exit_codes import exit_code
from runwatch.commands.cli.output import CommandOutput
from runwatch.commands.cli.typed_names import TypedNames
from runwatch.records.error_codes import CODES

if TYPE_CHECKING:
    from runwatch.commands.cli.invocation import Invocation

_CORRECT: Final = "Correct what is named here and run the command again."
UNCHANGED: Final = "Nothing was changed."
MAY_HAVE_CHANGED: Final = "Unknown: it may have taken effect; a retry is safe."


def report_error(error: RunwatchError, output: CommandOutput, profile: str | None = None) -> int:
    """Report an error in the format of the invocation, and return its exit code."""
    code = exit_code(error)
    write_error(error, code, output, Circumstances(complete=output.complete, profile=profile))
    return code


def write_error(error: RunwatchError, code: int, output: CommandOutput, circumstances: Circumstances) -> None:
    """Write an error to stderr in the format of the invocation."""
    output.error(error_json_line(error, code, circumstances) if output.is_json else error_text(error, circumstances))


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What an invocation knows about its failure besides the error.

    Attributes:
        is_key_given: Whether the user chose the idempotency key of the write.
        accepted_run: The run that the service accepted from this invocation before the failure.
        follow: The command that follows that run.
        complete: Completes suggested commands, so that they call the same service.
        names: The options and arguments of the command, by the members that they set.
        profile: The profile that failed, of several.
        pending_key: The idempotency key of a write that was in progress, whose outcome is therefore unknown.
    """

    is_key_given: bool = False
    accepted_run: str | None = None
    follow: str = ""
    complete: Callable[[str], str] = str
    names: TypedNames | None = None
    profile: str | None = None
    pending_key: str | None = None

    @property
    def goes_on(self) -> str | None:
        """What to say about the accepted run, in place of any advice to retry."""
        if self.accepted_run is None:
            return None
        return f"The run {self.accepted_run} was accepted and continues. Follow it: {self.follow}"


NO_CIRCUMSTANCES: Final = Circumstances()


def find_circumstances(call: Invocation, pending_key: str | None) -> Circumstances:
    """Return what an invocation knows about the failure that ends it."""
    from runwatch.view.text.shell_commands import name_own_key

    def complete(text: str) -> str:
        return name_own_key(call.output.complete(text), call.profile)

    options, run_id = call.options, call.accepted_run
    is_key_given = bool(options.idempotency_key or options.resend)
    follow = call.command("runs watch", run_id) if run_id else ""
    return Circumstances(is_key_given, run_id, follow, complete, TypedNames(call), pending_key=pending_key)


def error_json_line(error: RunwatchError, code: int, circumstances: Circumstances = NO_CIRCUMSTANCES) -> str:
    """Format an error as one line of ASCII JSON; an accepted run is included as ``execution_id``."""
    api = error if isinstance(error, ApiError) else None
    is_sent = isinstance(error, WriteInProgressError)
    is_known = circumstances.pending_key is None and not is_sent and (api is None or api.outcome_known)
    steps = [next_step_text(error, circumstances) or ""]
    if retry := _retry_command(error, circumstances):
        steps.append(f"Retry: {retry}")
    content: dict[str, Any] = {} if circumstances.profile is None else {"profile": circumstances.profile}
    content |= {
        "problem": dict(error.problem.raw) if isinstance(error, ApiProblem) else None,
        "error": remove_known_keys(error.title),
        "detail": remove_known_keys(error.detail) if error.detail else error.detail,
        "hint": "\n".join(filter(None, steps)) or None,
        "exit_code": code,
        "attempts": 0 if api is None else api.attempts,
        "outcome": "known" if is_known else "unknown",
        "idempotency_key": circumstances.pending_key if api is None else api.key,
    }
    if circumstances.accepted_run is not None:
        content["execution_id"] = circumstances.accepted_run
    seconds = _seconds(error)
    if seconds is not None:
        content["retry_after_s"] = seconds
    return dumps(content) + "\n"


def error_text(error: RunwatchError, circumstances: Circumstances = NO_CIRCUMSTANCES) -> str:
    """Format an error as clean lines: what happened, why, what to do next, and the instance id for support."""
    of = "" if circumstances.profile is None else f"{clean_line(circumstances.profile)}: "
    title = remove_known_keys(clean_line(error.title))
    return "\n".join([f"runwatch: {of}{title}", *_lines(error, circumstances)]) + "\n"


def _lines(error: RunwatchError, circumstances: Circumstances) -> Iterator[str]:
    fields = _fields(error, circumstances.names)
    for line in (error.detail or "").splitlines() if not isinstance(error, InvalidRequestError) else fields:
        # The service's texts name commands without the options that choose a service.
        yield _labelled("why", circumstances.complete(line) if isinstance(error, ApiProblem) else line)
    if isinstance(error, ApiProblem):
        yield _labelled("code", f"{error.code or 'none'} (HTTP {error.status})")
        for line in fields:
            yield _labelled("field", circumstances.complete(line))
    seconds = _seconds(error)
    if seconds is not None:
        yield _labelled("wait", f"{seconds} s")
    tried = f"{error.attempts} attempts" if isinstance(error, ApiError) and error.attempts > 1 else ""
    if tried not in (error.detail or ""):
        yield _labelled("tried", tried)
    if isinstance(error, ApiError) and error.key is not None and not _says(error, _effect(error)):
        yield _labelled("effect", _effect(error))
    for line in (next_step_text(error, circumstances) or "").splitlines():
        yield _labelled("next", line)
    if error.support_id:
        yield _labelled("instance", error.support_id)
    if isinstance(error, ApiError) and error.key is not None:
        yield _labelled("key", error.key)
    if retry := _retry_command(error, circumstances):
        yield _labelled("retry", retry)


def _retry_command(error: RunwatchError, circumstances: Circumstances) -> str:
    """Return the command that resends a submit with unknown outcome, or an empty text."""
    if not isinstance(error, ApiError) or error.outcome_known or error.operation != SUBMIT or error.key is None:
        return ""
    return circumstances.complete(runwatch_command("runs submit", resend=error.key))


def _fields(error: RunwatchError, names: TypedNames | None) -> list[str]:
    """Return what is wrong with each field, which is named as the user typed it."""
    if isinstance(error, InvalidRequestError):
        errors = [(each["field"], each["message"]) for each in error.errors]
    elif isinstance(error, ApiProblem):
        errors = [(each.field or "?", each.message or "") for each in error.problem.errors or ()]
    else:
        return []
    if names is None:
        return [f"{field}: {message}" for field, message in errors]
    guesses = (names.guess(field, message) for field, message in errors)
    return [
        f"{names.name(field)}: {message}{f' {guess[:1].upper()}{guess[1:]}' if guess else ''}"
        for (field, message), guess in zip(errors, guesses, strict=True)
    ]


def _says(error: ApiError, effect: str) -> bool:
    """Whether the service's own words already end with the effect."""
    fields = (entry.message for entry in error.problem.errors or ()) if isinstance(error, ApiProblem) else ()
    return any(effect in (text or "") for text in (error.detail, *fields))


def _labelled(label: str, text: str) -> str:
    return f"  {label:<9} {remove_known_keys(clean_line(text))}"


def next_step_text(error: RunwatchError, circumstances: Circumstances = NO_CIRCUMSTANCES) -> str | None:
    """Return what to do next: the advice for the error's code, unless an unknown outcome has to be resolved first.

    After a run was accepted, the advice for a failed call would start a second run or deny the first. How to follow the
    run replaces it, and precedes the advice of any other error.
    """
    step = _next_step(error, circumstances)
    return None if step is None else circumstances.complete(step)


def _next_step(error: RunwatchError, circumstances: Circumstances) -> str | None:
    if circumstances.goes_on is not None:
        own = None if isinstance(error, ApiError) else error.hint
        return "\n".join(filter(None, [circumstances.goes_on, own]))
    if isinstance(error, ApiProblem) and error.outcome_known and error.code in CODES:
        from runwatch.view.problems.explanations import explain_code, next_step

        advice = next_step(error.code, is_key_given=circumstances.is_key_given)
        if error.code == "validation_failed" and circumstances.names is not None:
            advice = advice.replace(explain_code(error.code).next_step, _CORRECT)
        noun = _listed_noun(error.operation) if error.code == "not_found" else None
        return advice if noun is None else f"`{runwatch_command(f'{noun} list')}` shows what there is. {advice}"
    return error.hint


def _listed_noun(operation: str) -> str | None:
    """Return the word of the command that lists the records of an operation; ``None`` if no command does."""
    from runwatch.view.resources.resource_index import RESOURCE_INDEX

    path = OPERATIONS[operation].path if operation in OPERATIONS else ""
    for entry in RESOURCE_INDEX:
        wire = entry.load().record.WIRE if entry.summary and "list" in entry.subcommands.split() else None
        if wire is not None and path.startswith(f"{wire.path}/"):
            return entry.name
    return None


def _seconds(error: RunwatchError) -> int | None:
    """Return the seconds to wait, rounded up; ``None`` if the error requires no wait."""
    if isinstance(error, ApiProblem):
        wait = error.wait_s
    elif isinstance(error, RateLimitedError):
        wait = error.seconds
    else:
        return None
    return None if wait is None else -int(-wait // 1)


def _effect(error: ApiError) -> str:
    from runwatch.view.problems.explanations import KEY_WAS_USED, NOTHING_ACCEPTED, OUTCOME_UNKNOWN

    if error.operation != SUBMIT:
        return UNCHANGED if error.outcome_known else MAY_HAVE_CHANGED
    if not error.outcome_known:
        return OUTCOME_UNKNOWN
    conflict = isinstance(error, ApiProblem) and error.code == "idempotency_conflict"
    return KEY_WAS_USED if conflict else NOTHING_ACCEPTED
