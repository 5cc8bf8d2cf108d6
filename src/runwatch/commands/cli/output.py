"""Output of a command: data to stdout, everything else to stderr, in a form that is safe for any terminal or pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable

from runwatch.base.json import dumps
from runwatch.base.text import clean_block, clean_line


class OutputClosedError(Exception):
    """Standard output cannot be written: its reader is gone, or its disk is full."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


class CommandOutput:
    """The two streams of one invocation.

    Every method that writes raises :class:`OutputClosedError` if standard output is closed or its disk is full.

    Args:
        form: ``table``, ``json``, ``ndjson`` or ``csv``.
        complete: Completes commands that a note or warning suggests.
    """

    def __init__(self, form: str = "table", complete: Callable[[str], str] = str) -> None:
        self.form = form
        self.complete = complete
        self._stdout = sys.stdout
        self._stderr = sys.stderr

    @property
    def is_json(self) -> bool:
        """Whether data is printed as JSON; notes and warnings are then JSON too."""
        return self.form in {"json", "ndjson"}

    def text(self, text: str) -> None:
        """Print data unchanged."""
        try:
            self._stdout.write(text)
        except OSError as error:
            raise OutputClosedError(error) from None

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines of data unchanged."""
        for line in lines:
            self.text(line + "\n")

    def clean_block(self, text: str) -> None:
        """Print multi-line text of the service, cleaned."""
        self.text(clean_block(text).rstrip("\n") + "\n")

    def line(self, text: str) -> None:
        """Print one line of data and flush, so the reader of a pipe sees it at once."""
        self.text(text + "\n")
        self._flush()

    def json(self, value: object, *, indent: int | None = 2) -> None:
        """Print one value as ASCII JSON."""
        self.text(dumps(value, indent=indent) + "\n")

    def note(self, text: str) -> None:
        """Print information that is not data; in JSON formats as one JSON line."""
        self._say("notice", text, "")

    def warn(self, text: str) -> None:
        """Print a warning; in JSON formats as one JSON line."""
        self._say("warning", text, "runwatch: ")

    def error(self, text: str) -> None:
        """Write clean text to stderr after flushing all data. If stderr is closed, the text is lost."""
        self._flush()
        with contextlib.suppress(OSError, ValueError):
            self._stderr.write(text)
            self._stderr.flush()

    def _flush(self) -> None:
        try:
            self._stdout.flush()
        except OSError as error:
            raise OutputClosedError(error) from None

    def _say(self, kind: str, text: str, mark: str) -> None:
        text = self.complete(text)
        self.error(dumps({kind: text}) + "\n" if self.is_json else f"{mark}{clean_line(text)}\n")
