"""Parser of terminal input that never turns unknown sequences into keys.

Textual's own parser types whatever it does not understand: half a mouse report, a reply meant for another program, the
rest of a paste after an escape character. It also raises on keys outside Unicode. This one knows where every control
sequence ends (ECMA-48, 5.4 and 5.6; xterm's control sequences for the mouse), passes on those with a meaning and drops
the others.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

from textual import constants, events, messages

# Private, checked on Textual 8.2.8: there is no public table of keys, and no public parser of single sequences.
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._keyboard_protocol import FUNCTIONAL_KEYS
from textual._xterm_parser import IS_ITERM, XTermParser
from textual.keys import Keys
from textual.message import Message

from runwatch.base.lazy_pattern import lazy_pattern

ESCAPE_TIMEOUT_S: Final = 0.5
"""How long to wait for the rest of a sequence; then the incomplete part is dropped."""

PASTE_TIMEOUT_S: Final = 2.0
"""After this pause within a paste, a single key is typed by the user: the end of the paste was lost."""

MAX_SEQUENCE_CHARACTERS: Final = 4096
"""Bytes kept of an unfinished sequence; no sequence with a meaning is as long."""

_ESC: Final = b"\x1b"
_PASTE_START: Final = b"\x1b[200~"
_PASTE_END: Final = b"\x1b[201~"

# A non-ASCII character, and the beginning of one.
_WIDE: Final = rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
_WIDE_BEGUN: Final = rb"[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}"

# Payload bytes of an X10 mouse report: any value but a control character.
_REPORTED: Final = rb"[\x00\x20-\xff]"
# Parameters of a control sequence, and the inside of a string; no other control character may interrupt either.
_PARAMETERS: Final = rb"[ -?]*"
_INSIDE: Final = rb"[^\x00-\x1f\x7f]*"

# One complete sequence. The first two forms differ from the general one: X10 mouse reports end in three bytes of any
# value, function keys of the Linux console have a second bracket, and those of rxvt end in a dollar.
_WHOLE: Final = lazy_pattern(
    rb"(?P<legacy>\x1b\[M" + _REPORTED + rb"{3})"
    rb"|(?P<key>\x1b\[\[[A-E]|\x1b\[(?:3|7|8|23|24)\$|\x1bO[ -~])"
    rb"|(?P<control>\x1b\[(?![M\[])" + _PARAMETERS + rb"[@-~])"
    rb"|(?P<string>\x1b[\]P_^X]" + _INSIDE + rb"(?:\x07|\x1b\\))"
    rb"|(?P<alt>\x1b(?:[^\x1b\[O\]P_^X\x80-\xff]|" + _WIDE + rb"))"
)

# A sequence that may continue. A string ending in an escape character lacks the second half of its terminator.
_BEGUN: Final = lazy_pattern(
    rb"\x1b(?:\[(?:M" + _REPORTED + rb"{0,2}|\[|" + _PARAMETERS + rb")|O|[\]P_^X]" + _INSIDE + rb"\x1b?"
    rb"|" + _WIDE_BEGUN + rb")?\Z"
)

# What remains of an interrupted sequence.
_BROKEN: Final = lazy_pattern(
    rb"\x1b(?:\[(?:M" + _REPORTED + rb"{0,2}|\[|" + _PARAMETERS + rb")|O|[\]P_^X]" + _INSIDE + rb")?"
)

_ONE_KEY: Final = lazy_pattern(rb"[\x00-\x7f]|\x1b\[" + _PARAMETERS + rb"[@-~]|\x1bO[ -~]")
_MOUSE: Final = lazy_pattern(r"\x1b\[<(?P<buttons>\d{1,3});\d{1,5};\d{1,5}[Mm]")
_CURSOR: Final = lazy_pattern(r"\x1b\[(?P<row>\d{1,5});(?P<column>\d{1,5})R")
_SIZE: Final = lazy_pattern(
    r"\x1b\[48;(\d{1,5})(?::[\d:]*)?;(\d{1,5})(?::[\d:]*)?;(\d{1,5})(?::[\d:]*)?;(\d{1,5})(?::[\d:]*)?t"
)
_FUNCTION: Final = lazy_pattern(r"\x1b\[(?P<number>\d*)[\d:;]*(?P<end>[~A-Z])")
# xterm's other form of a key with modifiers: their number, then the code point.
_OTHER_KEY: Final = lazy_pattern(r"\x1b\[27;(?P<modifiers>\d{1,3});(?P<code>\d{1,7})~")
_MODE: Final = lazy_pattern(r"\x1b\[\?(?P<mode>\d+);(?P<value>\d)\$y")

_MORE_BUTTONS: Final = 128
"""From here on, reports are of buttons beyond the first three."""


class InputParser:
    """Turns terminal bytes into Textual messages.

    Invalid UTF-8 is dropped; within a paste it becomes U+FFFD. Pasted text never becomes keys, whatever it contains.
    """

    def __init__(self) -> None:
        self._textual: Final = XTermParser()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
        self._unfinished = b""
        self._pasted: bytearray | None = None
        self._quiet_s = 0.0

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages of these bytes; keep an unfinished end until its rest arrives."""
        if self._pasted is not None and self._quiet_s >= PASTE_TIMEOUT_S and _ONE_KEY.fullmatch(data):
            yield self._end_paste()
        self._quiet_s = 0.0
        data = self._unfinished + data
        self._unfinished = b""
        while data:
            if self._pasted is not None:
                end = self._paste(data)
                if end < 0:
                    return
                yield self._end_paste()
                data = data[end:]
            elif not data.startswith(_ESC):
                text, escape, resolve_after = data.partition(_ESC)
                for character in self._decoder.decode(text):
                    yield from self._keys(character)
                data = escape + resolve_after
            else:
                # A character does not continue after the start of a sequence.
                self._decoder.reset()
                found = _WHOLE.match(data)
                if found is not None:
                    yield from self._sequence(found)
                    data = data[found.end() :]
                elif _BEGUN.match(data):
                    self._unfinished = data if len(data) <= MAX_SEQUENCE_CHARACTERS else data[:2]
                    return
                else:
                    broken = _BROKEN.match(data)
                    assert broken is not None
                    if broken[0] == _ESC:
                        yield events.Key("escape", "\x1b")
                    data = data[broken.end() :]

    @property
    def is_undecided(self) -> bool:
        """Whether elapsed time matters: within an unfinished sequence or a paste."""
        return bool(self._unfinished) or self._pasted is not None

    def resolve_after(self, waited_s: float) -> Iterator[Message]:
        """Yield the messages of the kept bytes after this many more seconds without input.

        An escape character is a key when nothing follows within Textual's ``ESCAPE_DELAY``.
        """
        self._quiet_s += waited_s
        unfinished = self._unfinished
        if self._pasted is not None or self._quiet_s < constants.ESCAPE_DELAY:
            return
        if unfinished == _ESC:
            self._unfinished = b""
            yield events.Key("escape", "\x1b")
        elif len(unfinished) == 2 and unfinished != b"\x1b[" and unfinished.isascii():
            self._unfinished = b""
            yield from self._keys(unfinished[1:].decode("ascii"), alt=True)
        elif self._quiet_s >= ESCAPE_TIMEOUT_S:
            self._unfinished = b""

    def _paste(self, data: bytes) -> int:
        """Add pasted bytes; return the index after the end of the paste, or -1 if it continues."""
        assert self._pasted is not None
        end = data.find(_PASTE_END)
        if end >= 0:
            self._pasted += data[:end]
            return end + len(_PASTE_END)
        # The last bytes may begin the end marker.
        keep = next((size for size in range(len(_PASTE_END) - 1, 0, -1) if data.endswith(_PASTE_END[:size])), 0)
        self._pasted += data[: len(data) - keep]
        self._unfinished = data[len(data) - keep :]
        return -1

    def _end_paste(self) -> events.Paste:
        assert self._pasted is not None
        text = self._pasted.decode("utf-8", "replace").replace("\0", "")
        self._pasted = None
        self._unfinished = b""
        return events.Paste(text)

    def _sequence(self, found: re.Match[bytes]) -> Iterator[Message]:
        if found["alt"] is not None:
            text = found["alt"][1:].decode("utf-8", "ignore")
            if text.isascii() and text.isdigit():
                # Textual knows these as characters of a Mac's option key (checked on 8.2.8), which no key action has.
                yield events.Key(f"alt+{text}", None)
                return
            known = list(self._keys(f"\x1b{text}"))
            yield from known or (self._keys(text, alt=True) if text else ())
        elif found["key"] is not None:
            yield from self._keys(found["key"].decode("ascii"))
        elif found["control"] == _PASTE_START:
            self._pasted = bytearray()
        elif found["control"] is not None:
            yield from self._control(found["control"].decode("ascii"))

    def _keys(self, sequence: str, *, alt: bool = False) -> Iterator[Message]:
        """Yield the keys of a character or sequence, if any."""
        try:
            keys = list(self._textual._sequence_to_key_events(sequence, alt=alt))
        except (ValueError, OverflowError):
            # A code point outside Unicode.
            return
        yield from (key for key in keys if key.key != Keys.Ignore)

    def _control(self, sequence: str) -> Iterator[Message]:
        """Yield the messages of a control sequence, checked in Textual's order."""
        if sequence == "\x1b[I":
            yield events.AppFocus()
        elif sequence == "\x1b[O":
            yield events.AppBlur()
        elif (size := _SIZE.fullmatch(sequence)) is not None:
            yield self._resize(*map(int, size.groups()))
        elif (cursor := _CURSOR.fullmatch(sequence)) is not None:
            yield events.CursorPosition(int(cursor["column"]) - 1, int(cursor["row"]) - 1)
        elif (mouse := _MOUSE.fullmatch(sequence)) is not None:
            moved = self._textual.parse_mouse_code(sequence) if int(mouse["buttons"]) < _MORE_BUTTONS else None
            if moved is not None:
                yield moved
        elif (mode := _MODE.fullmatch(sequence)) is not None:
            yield from self._mode(mode["mode"], int(mode["value"]))
        elif (other := _OTHER_KEY.fullmatch(sequence)) is not None:
            yield from self._keys(f"\x1b[{other['code']};{other['modifiers']}u")
        elif _is_key(sequence):
            yield from self._keys(sequence)

    def _resize(self, height: int, width: int, pixel_height: int, pixel_width: int) -> Message:
        resize = events.Resize.from_dimensions((width, height), (pixel_width, pixel_height))
        self._textual.terminal_size, self._textual.terminal_pixel_size = resize.size, resize.pixel_size
        self._textual.mouse_pixels = True
        return resize

    def _mode(self, mode: str, value: int) -> Iterator[Message]:
        """Yield the meaning of a mode report that was requested."""
        if mode == "2026" and value > 0:
            yield messages.TerminalSupportsSynchronizedOutput()
        elif mode == "2048" and constants.SMOOTH_SCROLL and not IS_ITERM:
            yield messages.InBandWindowResize.from_setting_parameter(value)


def _is_key(sequence: str) -> bool:
    """Return whether a control sequence is a key. Textual takes the number of any other one as a code point."""
    function = _FUNCTION.fullmatch(sequence)
    if function is None or sequence in ANSI_SEQUENCES_KEYS:
        return True
    return f"{function['number'] or 1}{function['end']}" in FUNCTIONAL_KEYS
