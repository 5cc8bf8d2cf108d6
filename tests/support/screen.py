"""What a terminal shows after the bytes it was sent, and which of those bytes it was not meant to get."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import pyte
from wcwidth import wcwidth

# One control sequence, whole: CSI; OSC, DCS, APC, PM, SOS with their string; any other escape; a lone control.
_SEQUENCE: Final = re.compile(
    "(?:\x1b\\[|\x9b)(?P<csi>[0-?]*[ -/]*[@-~])"
    "|(?:\x1b\\]|\x9d)(?P<osc>[^\x07\x1b\x9c]*)(?:\x07|\x1b\\\\|\x9c)"
    "|(?:\x1b[P_^X]|[\x90\x98\x9e\x9f])(?P<string>[^\x1b\x9c]*)(?:\x1b\\\\|\x9c)"
    "|\x1b(?P<escape>[ -/]*[0-OQ-WYZ`-~\\\\])"
    "|(?P<control>[\x00-\x1f\x7f-\x9f])"
)

# The beginning of a sequence whose end has not arrived yet.
_UNFINISHED: Final = re.compile("(?:\x1b(?:\\[[0-?]*[ -/]*|[\\]P_^X][^\x07\x1b\x9c]*\x1b?|[ -/]*)?)\\Z")

_PRIVATE_MODE: Final = re.compile(r"\?([0-9;]+)([hl])\Z")
_UNDERSTOOD: Final = re.compile(r"\??[0-9;]*[@A-HJ-MPXacdefgmr]\Z|[0-9;]*[hl]\Z|\?(?:[0-9;]*)[hl]\Z")


class Screen:
    """A terminal's screen, its alternate screen, and the modes that programs switch on and off.

    Attributes:
        modes: Private modes that are on right now (1049 alternate screen, 1000 mouse, 2004 bracketed paste, ...).
        keyboards: How many keyboard protocols have been pushed and not popped.
        bells: How often the bell rang.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.modes: set[int] = {7, 25}
        self.keyboards = 0
        self.bells = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._main = pyte.Screen(columns, rows)
        self._shown = self._main
        self._stream = pyte.Stream(self._shown)

    def feed(self, data: bytes) -> None:
        """Let the terminal read these bytes; a sequence may go on in the next ones."""
        text = self._pending + self._decoder.decode(data)
        unfinished = _UNFINISHED.search(text)
        cut = unfinished.start() if unfinished else len(text)
        self._pending = text[cut:]
        position = 0
        for found in _SEQUENCE.finditer(text, 0, cut):
            self._draw(text[position : found.start()])
            self._sequence(found)
            position = found.end()
        self._draw(text[position:cut])

    def _draw(self, text: str) -> None:
        # After a character without a cell that is no combining mark to it, pyte drops everything.
        if not text.isascii():
            text = "".join(each for each in text if wcwidth(each) or unicodedata.combining(each))
        self._stream.feed(text)

    def resize(self, columns: int, rows: int) -> None:
        """Give the screen another size."""
        self._shown.resize(rows, columns)
        self._main.resize(rows, columns)

    @property
    def lines(self) -> list[str]:
        """The lines as shown, without blanks at their end."""
        # The second cell of a wide character holds nothing; pyte's own lines fail on such a cell without its first.
        rows, columns = range(self._shown.lines), range(self._shown.columns)
        return ["".join(self._shown.buffer[row][column].data for column in columns).rstrip() for row in rows]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip()

    @property
    def cursor(self) -> tuple[int, int]:
        return self._shown.cursor.x, self._shown.cursor.y

    @property
    def is_alternate(self) -> bool:
        return self._shown is not self._main

    def _sequence(self, found: re.Match[str]) -> None:
        csi = found["csi"]
        if found["control"] is not None:
            self.bells += found["control"] == "\x07"
            if found["control"] in "\b\t\n\v\f\r":
                self._stream.feed(found["control"])
        elif found["escape"] is not None and found["escape"] in "78DEMcHZ":
            self._stream.feed(found[0])
        elif csi is not None:
            if (private := _PRIVATE_MODE.match(csi)) is not None:
                self._set_modes({int(mode) for mode in private[1].split(";") if mode}, private[2] == "h")
            elif csi.endswith("u") and csi[:1] in "<>":
                self.keyboards = max(0, self.keyboards + (1 if csi[0] == ">" else -1))
            if _UNDERSTOOD.match(csi):
                self._stream.feed(f"\x1b[{csi}")

    def _set_modes(self, modes: set[int], on: bool) -> None:
        self.modes = self.modes | modes if on else self.modes - modes
        if modes & {47, 1047, 1049} and on is not self.is_alternate:
            self._shown = pyte.Screen(self._main.columns, self._main.lines) if on else self._main
            self._stream = pyte.Stream(self._shown)


# What the renderer of the console writes itself: colours, cursor moves, erasing, its modes and questions about them,
# and the one OSC that Textual writes unasked, the shape of the mouse pointer.
_RENDERER: Final = re.compile(
    r"\x1b\[(?:[0-9;:]*m|[0-9;]*[ABCDGHf]|[0-2]?[JK]"
    r"|\?(?:7|25|1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2048)[hl]|\?(?:2026|2048)\$p|>[0-9]*u|<[0-9]*u)"
    r"|\x1b\]22;(?:default|pointer|text)\x07"
)

# Format characters that are visible signs before a number; all other format characters are invisible or turn lines.
_VISIBLE_FORMATS: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)

# Invisible, although Unicode calls them marks or letters.
_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def foreign_controls(data: bytes, *, renderer: bool = False, terminal: bool = False) -> list[str]:
    """Everything in captured output that a terminal would act on and that its writer had no reason to write.

    Args:
        data: The bytes of a command, or of the console.
        renderer: Whether the console's own renderer wrote it: its colours, cursor moves and modes are allowed then.
        terminal: Whether a terminal was in between, which turns newlines into carriage return and newline.

    Returns:
        What was found, readable, in order: controls other than newline, escape sequences, C1 in both forms, characters
        that are invisible or turn lines around, bytes that are no UTF-8.
    """
    text = data.decode("utf-8", "surrogateescape")
    if terminal or renderer:
        text = text.replace("\r\n", "\n")
    return [ascii(found)[1:-1] for found in _foreign(text, renderer)]


def _foreign(text: str, renderer: bool) -> Iterator[str]:
    position = 0
    for found in _SEQUENCE.finditer(text):
        yield from filter(_is_foreign, text[position : found.start()])
        position = found.end()
        if found[0] != "\n" and not (renderer and _RENDERER.fullmatch(found[0])):
            yield found[0]
    yield from filter(_is_foreign, text[position:])


def _is_foreign(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return character not in _VISIBLE_FORMATS
    return _INVISIBLE.match(character) is not None
