"""Own commands: the words, variables and standard input for one record, and their result in words.

Nothing of a record ever reaches a shell: a value is one argument, one environment variable or JSON (manual: security,
"Own commands").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from runwatch.base.environment import without_own_variables
from runwatch.base.errors import RunwatchError
from runwatch.base.json import dumps
from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.base.shell_words import quote_exactly
from runwatch.settings.command_words import RECORD, fill_words
from runwatch.settings.declarations import OwnCommand
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.format import grouped_number, short_id
from runwatch.view.text.glyphs import Glyphs
from runwatch.view.text.json_paths import MISSING, get_at, parse_path
from runwatch.view.text.safe_text import SafeText, block, json_text, line

KEPT_VARIABLES: Final = ("RUNWATCH_CONFIG", "RUNWATCH_DATA_DIR")
"""Variables of runwatch that a command keeps, so that a ``runwatch`` in it has the same settings. None is a secret."""

TAB_CELLS: Final = 8

MAX_CALL_CELLS: Final = 1_000
"""What is shown at most of the words of a call."""

_COLOURS: Final = lazy_pattern(r"\x1b\[[0-9;]*m")
"""Colours and styles of text, which most programs write without a terminal only when an option asks for them."""


class CommandPlace(NamedTuple):
    """Where a record is: the profile, and the service's address, empty for an opened file."""

    profile: str
    service: str


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """One call of a program for a record, with all its variables and what it reads; ``None`` for nothing."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    input: bytes | None
    record_id: str


def build_program_call(
    command: OwnCommand,
    spec: ResourceSpec[Any],
    record_id: str,
    raw: Mapping[str, Any],
    place: CommandPlace,
    environment: Mapping[str, str],
) -> ProgramCall:
    """Return the call of a command for one record.

    Args:
        raw: The record's decoded JSON.
        environment: The console's variables; its own ones, service keys among them, are left out.

    Raises:
        RunwatchError: The record lacks a member, has a value that no argument can hold, or one that would be an option.
    """
    values = {"id": record_id, "kind": spec.kind, "profile": place.profile, "service": place.service}

    def find(name: str) -> str:
        return values[name] if name in values else _member(raw, name.removeprefix(RECORD))

    words = fill_words(command.run, find)
    kept = {name: environment[name] for name in KEPT_VARIABLES if name in environment}
    # A value that no variable can hold is left out: the command may read the record from standard input.
    own = {f"RUNWATCH_{name.upper()}": value for name, value in values.items() if _can_be_argument(value)}
    variables = {**without_own_variables(environment), **kept, **own}
    if not all(map(_can_be_argument, words)):
        raise RunwatchError(
            "The record has characters that no argument can hold",
            hint="Let the command read the record from standard input.",
        )
    try:
        given = dumps(dict(raw)).encode() + b"\n" if command.input == "json" else None
    except ValueError:
        raise RunwatchError("The record nests too deeply to be passed on") from None
    return ProgramCall(tuple(words), variables, given, record_id)


def call_text(words: Sequence[str]) -> SafeText:
    """Return words as a shell would take them, cleaned for the screen."""
    return line(" ".join(map(quote_exactly, words)), MAX_CALL_CELLS)


def output_text(output: bytes) -> SafeText:
    """Return a program's output cleaned for the screen, on as many lines as it has, without its colours.

    Other sequences for terminals stay visible.
    """
    text = _COLOURS.sub("", output.decode("utf-8", "replace")).replace("\r\n", "\n").rstrip("\n")
    return block(text.expandtabs(TAB_CELLS))


def last_output_line(output: bytes) -> SafeText:
    """Return the last line of a program's output that is not empty."""
    lines = (text for text in reversed(output_text(output).splitlines()) if text.strip())
    return line(next(lines, ""))


def records_text(spec: ResourceSpec[Any], ids: list[str], glyphs: Glyphs) -> SafeText:
    """Name one record, or count several."""
    if len(ids) == 1:
        return line(f"{spec.singular} {short_id(ids[0], glyphs)}")
    return line(f"{grouped_number(len(ids))} {spec.plural}")


def _member(raw: Mapping[str, Any], path: str) -> str:
    value = get_at(raw, parse_path(path))
    if value is MISSING or value is None or isinstance(value, (dict, list)):
        raise RunwatchError(f"The record has no single value {path}", hint="v shows its members.")
    return json_text(value)


def _can_be_argument(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
