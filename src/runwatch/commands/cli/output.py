"""Where a command writes: data to stdout, everything else to stderr, in a form that any terminal or pipe takes."""

from __future__ import annotations

import contextlib
import sys
from typing import TextIO

from runwatch.base.json import dumps
from runwatch.base.text import clean_block, clean_line


class OutputClosedError(Exception):
    """Standard output takes nothing more: its reader is gone, or its disk is full.

    Attributes:
        reason: What the system said.
    """

    def __init__(self, reason: OSError) -> None:
        super().__init__(str(reason))
        self.reason = reason


class CommandOutput:
    """The two streams of one call.

    Args:
        form: ``table``, ``json``, ``ndjson`` or ``csv``.
        stdout: The stream for data; the process's own when left out.
        stderr: The stream for the rest; the process's own when left out.
    """

    def __init__(self, form: str = "table", stdout: TextIO | None = None, stderr: TextIO | None = None) -> None:
        self.form = form
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr

    @property
    def is_json(self) -> bool:
        """Whether data are printed as JSON, so that the rest is too."""
        return self.form in {"json", "ndjson"}

    def text(self, text: str) -> None:
        """Print data as they are.

        Raises:
            Unwritable: the stream is closed or its disk is full.
        """
        try:
            self._stdout.write(text)
        except OSError as error:
            raise OutputClosedError(error) from None

    def clean_block(self, text: str) -> None:
        """Print text of the service, of any number of lines, cleaned.

        Raises:
            Unwritable: the stream is closed or its disk is full.
        """
        self.text(clean_block(text).rstrip("\n") + "\n")

    def line(self, text: str) -> None:
        """Print one line of data at once, so that who reads a pipe sees it when it happens.

        Raises:
            Unwritable: the stream is closed or its disk is full.
        """
        self.text(text + "\n")
        self._flush()

    def json(self, value: object, *, indent: int | None = 2) -> None:
        """Print one value as ASCII JSON.

        Raises:
            Unwritable: the stream is closed or its disk is full.
        """
        self.text(dumps(value, indent=indent) + "\n")

    def note(self, text: str) -> None:
        """Tell the reader something that is no data; in JSON formats as one JSON line."""
        self._say("notice", text, "")

    def warn(self, text: str) -> None:
        """Tell the reader something to be put right; in JSON formats as one JSON line."""
        self._say("warning", text, "runwatch: ")

    def error(self, text: str) -> None:
        """Write text that is clean already to stderr, behind all data before it; a closed stderr loses it.

        Raises:
            Unwritable: the stream is closed or its disk is full.
        """
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
        self.error(dumps({kind: text}) + "\n" if self.is_json else f"{mark}{clean_line(text)}\n")
