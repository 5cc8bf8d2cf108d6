"""Parse words to a command with options: walk the grammar, then use argparse for the one command.

Options may be before, between and after the command's words and arguments, and for an unknown word the nearest known
one is suggested. argparse parses the options; arguments are assigned here, because argparse does not accept them
between options.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any, NamedTuple, NoReturn

from runwatch.base.closest_word import closest_word, did_you_mean
from runwatch.base.errors import UsageError
from runwatch.commands.cli.command_spec import CONSOLE, TARGET, ArgumentSpec, CommandSpec, OptionSpec
from runwatch.commands.cli.grammar import all_options, command_at, find_option, group_summary, list_paths
from runwatch.commands.cli.resource_commands import option_attribute

PROGRAM = "runwatch"

_HELP = ("-h", "--help")

# Flags of other tools that would expose a secret to every process of the machine.
_SECRET_NAMES = ("--api-key", "--key", "--token", "--secret", "--password", "--bearer", "--credential")


class CommandOptions(argparse.Namespace):
    """The options of one invocation. Missing or undeclared ones are ``None``."""

    def __getattr__(self, name: str) -> Any:
        """Return ``None`` for missing options; argparse then sets no default."""
        if name.startswith("_"):
            raise AttributeError(name)
        return None

    def __getitem__(self, name: str) -> Any:
        """Return an option by name, for names that are Python keywords."""
        return getattr(self, name)


class ParsedCommand(NamedTuple):
    verb: CommandSpec | None
    options: CommandOptions
    help: str | None = None


def parse_command_line(words: Sequence[str]) -> ParsedCommand:
    """Parse the command line without the program's name.

    Raises:
        UsageError: A command, option or value is unknown or missing; the nearest known one is suggested.
    """
    path, rest = _split(words)
    verb = command_at(path)
    if verb is None and path:
        if _asks_for_help(rest):
            return ParsedCommand(None, CommandOptions(), group_help(path))
        raise UsageError(
            f"'{' '.join(path)}' needs a subcommand",
            detail=f"one of {', '.join(_next_words(path))}",
            hint=f"{PROGRAM} {' '.join(path)} --help",
        )
    if _asks_for_help(rest):
        return ParsedCommand(verb, CommandOptions(), top_help() if verb is None else format_command_help(verb))
    return ParsedCommand(verb, _options(verb, rest))


def _split(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Split into the command's words and the rest."""
    path: tuple[str, ...] = ()
    rest: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        following = _next_words(path)
        if not following or word == "--":
            return path, [*rest, word, *words[position:]]
        if word.startswith("-") and word != "-":
            rest.append(word)
            name = word.partition("=")[0]
            option = None if name in _HELP else find_option(name)
            if option is None and name not in _HELP:
                _unknown_flag(" ".join((PROGRAM, *path)), all_options().values(), name)
            if option is not None and option.metavar and "=" not in word:
                rest += words[position : position + 1]
                position += 1
        elif word in following:
            path = (*path, word)
        else:
            _unknown_word(path, word, following, next(iter(words[position:]), ""))
    return path, rest


def _next_words(path: tuple[str, ...]) -> list[str]:
    depth = len(path)
    return list(dict.fromkeys(words[depth] for words in list_paths() if len(words) > depth and words[:depth] == path))


def _unknown_word(path: tuple[str, ...], word: str, following: Iterable[str], after: str) -> NoReturn:
    guess = closest_word(word, following)
    if (after, word) in list_paths() and not path:
        guess = f"{after} {word}"
    elif guess is not None and (*path, guess, after) in list_paths():
        guess = f"{guess} {after}"
    shown = " ".join((PROGRAM, *path))
    if not path and word == "version":
        raise UsageError("There is no command 'version'", hint=f"Use {PROGRAM} --version.")
    raise UsageError(
        f"There is no command {_quoted(' '.join((*path, word)))}",
        detail=f"did you mean '{' '.join((*path, guess))}'?" if guess else None,
        hint=f"{shown} --help lists the commands",
    )


def _asks_for_help(rest: Sequence[str]) -> bool:
    before_dashes = rest[: rest.index("--")] if "--" in rest else rest
    return any(word in _HELP for word in before_dashes)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message.removeprefix("argument "), hint=f"{self.prog} --help")


def _quoted(word: str) -> str:
    """Quote a word of the user, unless it may be a key: errors are kept in the logs of other programs."""
    from runwatch.base.secrets.secret_patterns import REMOVED, find_secret

    return f"'{word}'" if find_secret(word) is None else f"'{REMOVED}'"


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def _options(verb: CommandSpec | None, rest: list[str]) -> CommandOptions:
    flags = CONSOLE if verb is None else verb.flags
    parser = _build(verb)
    dashes = rest.index("--") if "--" in rest else len(rest)
    options, words = parser.parse_known_args(rest[:dashes], CommandOptions())
    for word in words:
        if word.startswith("-") and word != "-" and not word[1:2].isdigit():
            _unknown_flag(parser.prog, flags, word.partition("=")[0])
    for flag in flags:
        _check_choice(parser.prog, flag, options)
    if verb is not None:
        _take_arguments(parser.prog, verb.arguments, [*words, *rest[dashes + 1 :]], options)
    if options.json and "--format" in {flag.name for flag in flags}:
        if options.format not in (None, "json", "ndjson"):
            raise UsageError(
                f"--json and --format {options.format} cannot be used together", hint="Leave one of them out."
            )
        options.format = options.format or "json"
    return options


def _check_choice(program: str, flag: OptionSpec, options: CommandOptions) -> None:
    """Refuse a value that is not among the option's choices; argparse would suggest none."""
    given = options[option_attribute(flag.name)] if flag.choices else None
    for value in given if isinstance(given, list) else [given]:
        if value is not None and value not in flag.choices:
            raise UsageError(
                f"{flag.name} takes {', '.join(flag.choices)}, not {_quoted(value)}",
                detail=did_you_mean(value, flag.choices),
                hint=f"{program} --help",
            )


def _take_arguments(
    program: str, arguments: tuple[ArgumentSpec, ...], words: list[str], options: CommandOptions
) -> None:
    hint = f"{program} --help"
    for argument in arguments:
        values = words if argument.takes in "+*" else words[:1]
        words = words[len(values) :]
        if not values and argument.takes in "1+":
            raise UsageError(f"{argument.name} is missing", detail=argument.help, hint=hint)
        for value in values:
            if argument.choices and value not in argument.choices:
                raise UsageError(
                    f"{_quoted(value)} is not one of {', '.join(argument.choices)}",
                    detail=did_you_mean(value, argument.choices),
                    hint=hint,
                )
        refuse_keys(argument.name, values)
        setattr(options, argument.name.lower(), values if argument.takes in "+*" else values[0] if values else None)
    if words:
        raise UsageError(f"{_quoted(words[0])} is an extra argument", hint=hint)


def refuse_keys(name: str, values: Iterable[str]) -> None:
    """Refuse words of the user that hold a well-known key, before anything is done.

    Raises:
        UsageError: One does.
    """
    from runwatch.base.secrets.secret_patterns import find_known_key

    for value in values:
        words = find_known_key(value)
        if words is not None:
            raise UsageError(
                f"{name} looks like {words}",
                detail="Nothing was done. What is typed here is stored and shown, and other programs can read it.",
                hint="Keys are typed hidden or read from standard input: 'runwatch help security' says where.",
            )


def _unknown_flag(program: str, flags: Iterable[OptionSpec], name: str) -> NoReturn:
    if name in _SECRET_NAMES:
        raise UsageError(
            f"{name} is not an option: every process of this machine could read its value",
            hint=f"Put the key into RUNWATCH_API_KEY, or store it with '{PROGRAM} config key set PROFILE'.",
        )
    if name in {flag.name for flag in TARGET}:
        raise UsageError(
            f"Unknown option {name}",
            detail=f"{program} works on this machine and chooses no service",
            hint=f"Leave {name} out.",
        )
    offered, word = [flag for flag in flags if not flag.hidden], name.removeprefix("--")
    guess = next(
        (f"{flag.name} {word}" for flag in offered if word in flag.choices),
        closest_word(name, [flag.name for flag in offered]),
    )
    raise UsageError(
        f"Unknown option {name}", detail=f"did you mean {guess}?" if guess else None, hint=f"{program} --help"
    )


def _build(verb: CommandSpec | None) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM if verb is None else f"{PROGRAM} {verb.name}",
        description=None if verb is None else _sentence(verb.summary) + ".",
        epilog=None if verb is None else verb.notes or None,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=30, width=_width()),
        allow_abbrev=False,
        add_help=False,
    )
    for flag in CONSOLE if verb is None else verb.flags:
        _add_flag(parser, flag)
    parser.add_argument("-h", "--help", action="store_true", help="show this help", dest="_help")
    return parser


def _add_flag(parser: argparse.ArgumentParser, flag: OptionSpec) -> None:
    text = argparse.SUPPRESS if flag.hidden else flag.help
    if not flag.metavar:
        parser.add_argument(flag.name, action="store_true", help=text)
        return
    parser.add_argument(
        flag.name,
        action="append" if flag.kind == "texts" else "store",
        metavar=flag.metavar,
        type=_count if flag.kind == "count" else _number if flag.kind == "number" else str,
        help=text if flag.hidden else with_choices(text, flag.choices),
    )


def with_choices(text: str, choices: Sequence[str]) -> str:
    """Return the text of an option, with its choices unless the text has them."""
    return text if all(choice in text for choice in choices) else f"{text}: {', '.join(choices)}"


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of 0 or more")
    return int(text)


def _number(text: str) -> int | float:
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number")
    return number


def _width() -> int:
    try:
        return max(60, min(120, os.get_terminal_size(1).columns)) - 2
    except OSError:
        return 98


def format_command_help(verb: CommandSpec) -> str:
    parser = _build(verb)
    for argument in verb.arguments:
        parser.add_argument(
            argument.name.lower(),
            metavar=argument.name,
            help=with_choices(argument.help, argument.choices),
            nargs=None if argument.takes == "1" else argument.takes,
        )
    return parser.format_help()


def group_help(path: tuple[str, ...]) -> str:
    shown = " ".join((PROGRAM, *path))
    lines = [f"usage: {shown} COMMAND [OPTIONS]", "", f"{_sentence(group_summary(path))}.", "", "commands:"]
    verbs = [verb for words in list_paths() if words[: len(path)] == path and (verb := command_at(words)) is not None]
    lines += _columns([(" ".join(verb.path[len(path) :]), verb.summary) for verb in verbs])
    return "\n".join([*lines, "", f"{shown} COMMAND --help explains a command.", ""])


def top_help() -> str:
    lines = [
        f"usage: {PROGRAM} [OPTIONS] [COMMAND ...]",
        "",
        "A terminal console for a model-run governance service.",
        "",
        "commands:",
    ]
    entries: list[tuple[str, str]] = []
    for word in _next_words(()):
        if following := _next_words((word,)):
            entries.append((f"{word} {'|'.join(following)}", group_summary((word,))))
        elif (verb := command_at((word,))) is not None:
            entries.append((word, verb.summary))
    lines += _columns(entries)
    lines += ["", "options:"]
    lines += _columns([(f"{flag.name} {flag.metavar}".strip(), flag.help) for flag in CONSOLE])
    lines += _columns([("--version", "print the version"), ("-h, --help", "show this help; every command has its own")])
    for paragraph in _FOOT:
        lines += ["", *wrap(paragraph, _width(), break_on_hyphens=False)]
    return "\n".join([*lines, ""])


_FOOT = (
    "Exit codes: 0 done, 1 refused by the service, 2 usage or settings, 3 network or service failure, 4 not"
    " authenticated or not permitted, 5 rate or quota limited, 130 interrupted; with --exit-status 10 failed, 11"
    " cancelled, 12 expired.",
    "Environment: RUNWATCH_BASE_URL, RUNWATCH_API_KEY, RUNWATCH_PROFILE, RUNWATCH_CONFIG, RUNWATCH_DATA_DIR, NO_COLOR,"
    " HTTPS_PROXY, NO_PROXY. 'runwatch help settings' explains them.",
)


def _columns(entries: Sequence[tuple[str, str]]) -> list[str]:
    lines = []
    for left, right in entries:
        first, *rest = wrap(right, _width() - 30, break_on_hyphens=False)
        if len(left) > 26:
            # Break only between alternatives.
            lines += [f"  {part.replace('| ', '|')}" for part in wrap(left.replace("|", "| "), _width() - 2)]
            lines.append(f"{'':30}{first}")
        else:
            lines.append(f"  {left:26}  {first}")
        lines += [f"{'':30}{part}" for part in rest]
    return lines
