"""Build the body of a submit from options or a file, and validate it before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from runwatch.base.errors import UsageError
from runwatch.base.json import encode_body
from runwatch.base.shell_words import runwatch_command
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.cli.resource_commands import option_attribute
from runwatch.commands.cli.typed_names import SUBMIT_OPTIONS
from runwatch.commands.shared.writes import parse_object

BODY_OPTIONS: Final = (*SUBMIT_OPTIONS.values(), "--objective-file")
"""Options for parts of the body; they exclude ``--from``, which gives the whole body."""

_EXAMPLES: Final = {
    "--mode": "echo", "--objective": "'Say hello'", "--data-class": "public", "--max-cost-usd": "1",
    "--max-runtime-s": "60",
}  # fmt: skip
"""An example of each option that a run needs if the body is built from options."""


def build_run_body(call: Invocation) -> bytes:
    """Return the exact bytes of the request body.

    Raises:
        UsageError: Options are missing or conflict, a file cannot be read, or the body is invalid; nothing was sent.
    """
    options = call.options
    if options["from"] is not None:
        return _given(call)
    return encode_body(validate_run_body(_from_flags(call), named_by_flags=True))


def _given(call: Invocation) -> bytes:
    """Return a whole body from a file, byte for byte, so every number keeps its digits."""
    others = list_given(call, BODY_OPTIONS)
    if others:
        raise UsageError(
            f"--from gives the whole request, and {', '.join(others)} a part of it", hint="Use one of them."
        )
    content = call.read_input(call.options["from"]).removeprefix(b"\xef\xbb\xbf").strip()
    value = parse_object(
        content, "The request is", "--from takes one JSON object; 'runwatch schema run-request' describes it."
    )
    if "mode" not in value:
        raise UsageError(
            "The request has no mode",
            detail="the service would run it live, which costs money",
            hint='Add "mode": "echo" for a test run, or "mode": "live".',
        )
    validate_run_body(value, named_by_flags=False)
    return content


def _from_flags(call: Invocation) -> dict[str, Any]:
    options = call.options
    given = set(list_given(call, BODY_OPTIONS))
    if options.objective_file is not None:
        given.add("--objective")
    missing = [flag for flag in _EXAMPLES if flag not in given]
    if missing:
        example = " ".join(f"{flag} {_EXAMPLES[flag]}" for flag in missing)
        raise UsageError(
            f"A run needs {', '.join(missing)}",
            detail="--mode echo is a free test run; --mode live calls a model and costs money"
            if options.mode is None
            else None,
            # What is given stays: a whole example could name another mode than the run that is meant.
            hint=f"Add, for example: {example}" if given else f"{runwatch_command('runs submit')} {example}",
        )
    if options.objective is not None and options.objective_file is not None:
        raise UsageError("--objective and --objective-file cannot be used together", hint="Use one of them.")
    task: dict[str, Any] = {"objective": _objective(call)}
    if options.inputs is not None:
        task["inputs_ref"] = {"kind": "inline_json", "json": _inputs(call)}
    policy: dict[str, Any] = {
        "data_classes": options.data_class,
        "budget": {"max_cost_usd": options.max_cost_usd, "max_runtime_s": options.max_runtime_s},
    }
    if options.cost_coefficient is not None:
        policy["cost_coefficient"] = options.cost_coefficient
    if options.on_eval is not None:
        policy["on_eval"] = options.on_eval
    body: dict[str, Any] = {"mode": options.mode, "task": task, "policy": policy}
    if options.verifier_id is not None:
        body["verifier_id"] = options.verifier_id
    if options.arm_id is not None:
        body["routing"] = {"required_arm_id": options.arm_id}
    return body


def _objective(call: Invocation) -> str:
    if call.options.objective is not None:
        return str(call.options.objective)
    name = call.options.objective_file
    try:
        return call.read_input(name).decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError:
        raise UsageError("The objective is not UTF-8 text", detail=str(name)) from None


def _inputs(call: Invocation) -> dict[str, Any]:
    name = call.options.inputs
    if name == "-" and call.options.objective_file == "-":
        raise UsageError(
            "--inputs and --objective-file cannot both read standard input", hint="Read one of them from a file."
        )
    return parse_object(call.read_input(name), "The inputs are", 'Wrap them, e.g. {"items": [1, 2]}.')


def validate_run_body(body: dict[str, Any], *, named_by_flags: bool) -> dict[str, Any]:
    """Return the body if it follows the interface's rules (manual: interface, "Runs").

    Raises:
        UsageError: It is invalid; every field is named, by its option if it came from one.
    """
    from pydantic import ValidationError

    from runwatch.records.requests.body import field_errors
    from runwatch.records.requests.run import RunRequest

    try:
        request = RunRequest.model_validate(body)
    except ValidationError as error:
        failures = [(entry["field"], entry["message"]) for entry in field_errors(error)]
    else:
        failures = [("verifier_id", "A test run cannot use an output check.")] if request.breaks_echo_rule else []
    if failures:
        lines = [f"{_shown(field) if named_by_flags else field}: {message}" for field, message in failures]
        raise UsageError(
            "The request is not valid",
            detail="\n".join(lines),
            hint="Nothing was sent. Correct the request and try again.",
        )
    return body


def _shown(field: str) -> str:
    known = next((flag for path, flag in SUBMIT_OPTIONS.items() if field == path or field.startswith(f"{path}[")), None)
    return known or field


def list_given(call: Invocation, names: Iterable[str]) -> list[str]:
    """Return those of these options that the user gave."""
    return [name for name in names if call.options[option_attribute(name)] is not None]
