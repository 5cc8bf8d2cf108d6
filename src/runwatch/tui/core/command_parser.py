"""Palette commands: suggesting them from a few letters and parsing a typed line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from textual.fuzzy import Matcher

from runwatch.base.closest_word import closest_name, closest_word
from runwatch.view.text.safe_text import SafeText, line

MAX_GUESS_CHARACTERS: Final = 32
"""Longest text matched letter by letter; the matcher's cost grows fast with length."""

CLOSE: Final = 0.7
"""Minimum similarity of a suggested command: words with half of their letters in common mean something else."""

_WORD_RANK: Final = 1
"""The rank of a command of which a name has a word that begins with the text; names that begin with it come before."""

_NOTHING: Final = line("")


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """One palette command.

    Attributes:
        name: The word to type.
        help: What it does, in a sentence.
        do: Runs it with the text typed after the name; returns False if that is not to be offered again as it did
            nothing, or not yet.
        key: The key that does the same, as shown in hints.
        argument_name: Name of the argument, such as ``FILTER``; empty if it takes none.
        needs_argument: Whether the argument is required.
        known: The values of the argument, which are suggested; empty if it takes others.
        is_found_by_value: Whether a part of a known value suggests it, without the command's name.
        is_found_by_letters: Whether a few letters of a known value do too, where nothing else is found; long values
            have nearly any letters.
        acts_on: What its screen shows, such as ``run``: a second word that may be typed with the name.
        complete: Suggests values for the argument typed so far; it takes others too.
        describe: Says what a suggested value is, empty for nothing known.
    """

    name: str
    help: str
    do: Callable[[str], Awaitable[bool | None]]
    key: SafeText = _NOTHING
    argument_name: str = ""
    needs_argument: bool = False
    known: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    complete: Callable[[str], Iterable[str]] | None = None
    describe: Callable[[str], SafeText] | None = None
    is_found_by_value: bool = False
    is_found_by_letters: bool = False
    acts_on: str = ""


@dataclass(frozen=True, slots=True)
class CommandSuggestion:
    text: str
    command: PaletteCommand
    argument: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the line can be run as it is."""
        return bool(self.argument) or not self.command.needs_argument

    @property
    def about(self) -> SafeText:
        """What its value is, or what its command does."""
        describe = self.command.describe
        known = describe(self.argument) if describe is not None and self.argument else _NOTHING
        return known or line(self.command.help)


class CommandError(Exception):
    """The line is not a command. The message gives the reason and the closest command."""


def parse_command(commands: Sequence[PaletteCommand], text: str) -> CommandSuggestion:
    """Parse a typed line.

    Raises:
        CommandError: No such command, its argument is missing, or it does not accept the argument.
    """
    text = text.strip().lstrip(":").strip()
    found = _named(commands, text)
    if found is None:
        raise CommandError(_unknown(commands, text))
    command, argument = found
    if argument and not command.argument_name:
        raise CommandError(f"{command.name} takes no argument")
    if command.needs_argument and not argument:
        raise CommandError(f"{command.name} needs {command.argument_name}")
    if argument and command.known and argument not in command.known:
        near = closest_name(argument, command.known)
        meant = f"did you mean {near}?" if near else f"known: {', '.join(command.known)}"
        raise CommandError(f"no {command.name} {argument}; {meant}")
    return CommandSuggestion(text, command, argument)


def suggest_commands(
    commands: Sequence[PaletteCommand], text: str, recent: Sequence[str] = ()
) -> list[CommandSuggestion]:
    """Return suggestions for the text typed so far, the likeliest first.

    Lines run before, the last one first, come first before anything is typed; later, their commands come before others
    that match as well.
    """
    begun = text.lstrip().lstrip(":").lstrip()
    found = _named(commands, begun)
    if found is not None and found[0].argument_name and (found[1] or begun.endswith(" ")):
        return _arguments(*found)
    if not begun:
        again = [CommandSuggestion(said, *named) for said in recent if (named := _named(commands, said)) is not None]
        lines = {suggestion.text for suggestion in again}
        return [*again, *(CommandSuggestion(each.name, each) for each in commands if each.name not in lines)]
    # A name typed in full comes before longer ones, whatever was used before.
    typed = found[0].name if found is not None else None
    used = [named[0].name for said in recent if (named := _named(commands, said)) is not None]
    ranks = ((_rank(command, begun), number) for number, command in enumerate(commands))
    ranked = sorted(
        (
            commands[number].name != typed,
            rank[0],
            used.index(name) if (name := commands[number].name) in used else len(used),
            rank[1],
            number,
        )
        for rank, number in ranks
        if rank is not None
    )
    by_value = [command for command in commands if command.is_found_by_value]
    values = [each for command in by_value for each in _known_values(command, begun)]
    if not values and not any(rank <= _WORD_RANK for _, rank, *_ in ranked):
        by_letters = [command for command in by_value if command.is_found_by_letters]
        values = [each for command in by_letters for each in _values_with_letters(command, begun)]
    return [*(CommandSuggestion(commands[number].name, commands[number]) for *_, number in ranked), *values]


def _named(commands: Iterable[PaletteCommand], text: str) -> tuple[PaletteCommand, str] | None:
    """Return the command with the longest name that the text begins with, and the text after the name."""
    folded = text.casefold()
    best: tuple[int, PaletteCommand] | None = None
    for command in commands:
        for number, name in enumerate((command.name, *command.aliases)):
            plain = name.casefold()
            is_it = folded == plain or folded.startswith(f"{plain} ")
            # A name takes precedence over another command's alias of the same length.
            weight = 2 * len(name) + (not number)
            if is_it and (best is None or weight > best[0]):
                best = weight, command
    if best is None:
        return None
    return best[1], text[best[0] // 2 :].strip()


def _arguments(command: PaletteCommand, argument: str) -> list[CommandSuggestion]:
    completed = list(command.complete(argument)) if command.complete is not None else []
    # What was typed comes first if it is known, and last if it may be something else.
    completed.sort(key=lambda value: value != argument)
    if argument and not command.known and argument not in completed:
        completed.append(argument)
    known = _known_values(command, argument) or _values_with_letters(command, argument)
    offered = [*known, *(_with_argument(command, value) for value in completed)]
    return offered if argument or offered else [CommandSuggestion(command.name, command)]


def _known_values(command: PaletteCommand, part: str) -> list[CommandSuggestion]:
    """Return the known values that contain a text: one that equals it, those that begin with it, then others."""
    folded = part.casefold()
    known = [value for value in command.known if folded in value.casefold()]
    known.sort(key=lambda value: (value != part, not value.casefold().startswith(folded)))
    return [_with_argument(command, value) for value in known]


def _values_with_letters(command: PaletteCommand, letters: str) -> list[CommandSuggestion]:
    """Return the known values that have letters in their order."""
    folded = letters.casefold()
    if len(folded) > MAX_GUESS_CHARACTERS:
        return []
    return [_with_argument(command, value) for value in command.known if _has_letters(value.casefold(), folded)]


def _with_argument(command: PaletteCommand, value: str) -> CommandSuggestion:
    return CommandSuggestion(f"{command.name} {value}", command, value)


def _rank(command: PaletteCommand, begun: str) -> tuple[int, float] | None:
    """Return how well a command matches: by its name, a word of it, its letters in order, its help, or each word."""
    folded = begun.casefold()
    names = [name.casefold() for name in (command.name, *command.aliases)]
    if any(name.startswith(folded) for name in names):
        return 0, 0.0
    if any(word.startswith(folded) for name in names for word in name.split()):
        return _WORD_RANK, 0.0
    if len(folded) <= MAX_GUESS_CHARACTERS and any(_has_letters(name, folded) for name in names):
        matcher = Matcher(folded)
        return 2, -max(matcher.match(name) for name in names if _has_letters(name, folded))
    if folded in command.help.casefold():
        return 3, 0.0
    typed = folded.split()
    words = {word for name in names for word in name.split()}
    others = words.union(command.acts_on.split(), command.help.casefold().split())
    if len(typed) > 1 and all(any(word.startswith(each) for word in others) for each in typed):
        # Those whose names have most of the words come first.
        return 4, -sum(any(word.startswith(each) for word in words) for each in typed)
    return None


def _has_letters(name: str, letters: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)


def _unknown(commands: Iterable[PaletteCommand], text: str) -> str:
    word = text.partition(" ")[0]
    names = [name for command in commands for name in (command.name, *command.aliases)]
    near = closest_word(word, names, CLOSE) or closest_word(text, names, CLOSE)
    # The suggestion has to fit beside the word, so it comes first.
    return f"did you mean {near}? unknown command" if near else f"unknown command {word}"
