r"""Regular expressions with bounded running time.

Python's engine backtracks, and ``(a+)+b`` can take exponential time. So a pattern is checked before it is compiled, and
only known syntax is allowed: literals, ``.``, classes, ``\d \w \s \b`` and their opposites, anchors, ``( )`` and
``(?: )``, ``|`` and quantifiers. Refused are:

* more than 200 characters,
* a quantifier on a group that can match in several ways, because it contains a quantifier or an alternative,
* other kinds of groups, back references and inline flags,
* quantifiers whose worst case exceeds :data:`MAX_WORK` steps on a text of :data:`MIN_REACH` characters.

The more ways a pattern can match, the fewer characters of a text it searches: at most :attr:`SafeRegex.reach`, so the
worst case of one text stays below :data:`MAX_WORK` steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial
from typing import Final

MAX_PATTERN_CHARACTERS: Final = 200
MAX_WORK: Final = 20_000_000
"""Maximum number of engine steps for one text; takes about a fifth of a second."""

MIN_REACH: Final = 128
"""Minimum number of characters that a pattern must be able to search."""

MAX_REACH: Final = 2_000

_QUANTIFIER: Final = re.compile(r"(?:[*+?]|\{(?!\})([0-9]*)(?:(,)([0-9]*))?\})[?+]?")
_ESCAPES: Final = frozenset("dDwWsSbBtnr")
_DOUBLED: Final = ("--", "&&", "~~", "||")


class UnsafeRegexError(ValueError):
    """A refused pattern; the reason says what to write instead if possible."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


@dataclass(frozen=True, slots=True)
class SafeRegex:
    """A compiled pattern and the number of characters it searches."""

    regex: re.Pattern[str]
    reach: int

    def found_in(self, text: str) -> bool:
        """Whether it matches in the searched part of the text, ignoring case."""
        return self.regex.search(text[: self.reach]) is not None

    def places_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each non-empty match in the searched part, in order."""
        for match in self.regex.finditer(text[: self.reach]):
            if match[0]:
                yield match.span()


def compile_safe_regex(source: str) -> SafeRegex:
    """Compile a pattern that is safe to use on hostile text.

    Raises:
        UnsafeRegexError: The pattern breaks the rules above, or is no regular expression.
    """
    if len(source) > MAX_PATTERN_CHARACTERS:
        raise UnsafeRegexError(f"a pattern has at most {MAX_PATTERN_CHARACTERS} characters", MAX_PATTERN_CHARACTERS)
    reader = _Reader(source)
    reader.read()
    reach = reader.reach()
    if reach < MIN_REACH:
        raise UnsafeRegexError("too many quantifiers: use fewer, or several patterns side by side", 0)
    try:
        return SafeRegex(re.compile(source, re.IGNORECASE), reach)
    except (re.error, OverflowError) as error:
        reason = error.msg if isinstance(error, re.error) else "a number is too large"
        raise UnsafeRegexError(reason, getattr(error, "pos", None) or 0) from None


class _Reader:
    """Reads a pattern once and counts the ways in which it can match."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        # For each open group: whether its contents can match in more than one way, and its number of alternatives.
        self.varies = [False]
        self.alternatives = [1]
        self.open_repeats = 0
        self.choices = 1

    def reach(self) -> int:
        """Return the number of characters for which the worst case stays below the limit.

        ``k`` open repeats and the start of the match divide a text of ``n`` characters in about ``n ** (k + 1) / (k +
        1)!`` ways.
        """
        parts = self.open_repeats + 1
        reach = int((MAX_WORK * factorial(parts) / self.choices) ** (1 / parts))
        return min(reach, MAX_REACH)

    def read(self) -> None:
        while self.position < len(self.source):
            start = self.position
            char = self.source[start]
            self.position += 1
            if char == "(":
                self._open(start)
            elif char == ")":
                self._close(start)
            elif char == "|":
                self.alternatives[-1] += 1
                self.varies[-1] = True
            elif char == "[":
                self._skip_class(start)
                self._quantify()
            elif char == "\\":
                self._skip_escape(start)
                self._quantify()
            elif char in "^$":
                continue
            else:
                if _QUANTIFIER.match(self.source, start):
                    raise UnsafeRegexError("there is nothing to repeat", start)
                self._quantify()
        if len(self.varies) > 1:
            raise UnsafeRegexError("a parenthesis is not closed", len(self.source))
        self.choices *= self.alternatives.pop()

    def _open(self, start: int) -> None:
        if self.source.startswith("?", self.position):
            if not self.source.startswith("?:", self.position):
                raise UnsafeRegexError("only plain groups ( ) and (?: ) are allowed", start)
            self.position += 2
        self.varies.append(False)
        self.alternatives.append(1)

    def _close(self, start: int) -> None:
        if len(self.varies) == 1:
            raise UnsafeRegexError("a parenthesis is not opened", start)
        inner = self.varies.pop()
        self.choices *= self.alternatives.pop()
        self.varies[-1] = self.varies[-1] or inner
        self._quantify(inner_varies=inner)

    def _quantify(self, *, inner_varies: bool = False) -> None:
        match = _QUANTIFIER.match(self.source, self.position)
        if match is None:
            return
        least, most = _bounds(match)
        if inner_varies:
            raise UnsafeRegexError("a quantifier on a group that holds another one or an alternative", self.position)
        self.position = match.end()
        if _QUANTIFIER.match(self.source, self.position):
            raise UnsafeRegexError("a quantifier on a quantifier", self.position)
        self.varies[-1] = self.varies[-1] or most != least
        if most is None:
            self.open_repeats += 1
        else:
            self.choices *= max(most - least, 0) + 1

    def _skip_escape(self, start: int) -> None:
        if self.position >= len(self.source):
            raise UnsafeRegexError("nothing follows the backslash", start)
        char = self.source[self.position]
        if char.isalnum() and char not in _ESCAPES:
            raise UnsafeRegexError(f"\\{char} is not allowed", start)
        self.position += 1

    def _skip_class(self, start: int) -> None:
        if self.source.startswith("^", self.position):
            self.position += 1
        first = True
        while self.position < len(self.source):
            char = self.source[self.position]
            if char == "]" and not first:
                self.position += 1
                return
            if char == "\\":
                self.position += 1
                self._skip_escape(self.position - 1)
                first = False
                continue
            if char == "[" or self.source[self.position : self.position + 2] in _DOUBLED:
                raise UnsafeRegexError(f"write \\{char} inside a class", self.position)
            self.position += 1
            first = False
        raise UnsafeRegexError("a class is not closed", start)


def _bounds(match: re.Match[str]) -> tuple[int, int | None]:
    """Return the minimum and maximum repeats of a quantifier; ``None`` for no limit."""
    sign = match[0][0]
    if sign != "{":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
    least = int(match[1] or 0)
    if match[2] is None:
        return least, least
    return least, int(match[3]) if match[3] else None
