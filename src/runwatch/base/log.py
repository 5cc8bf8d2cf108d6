"""Log in a rotating file of JSON lines, without secrets.

Redaction works in two ways: by header name, where a header is logged, and by value, for every secret passed to
:func:`keep_secret`. The second catches secrets in unexpected places, such as a key in an exception's text.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from runwatch.base.files import UnsafePlaceError, open_private_append, private_directory
from runwatch.base.secrets.secret import Secret

SECRET_HEADERS: Final = frozenset(
    {"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "x-goog-api-key"}
)
REDACTED: Final = "[redacted]"
LOG_BYTES: Final = 1_000_000
LOG_BACKUPS: Final = 3

# Without a handler Python writes warnings to standard error unredacted.
logging.getLogger("runwatch").addHandler(logging.NullHandler())

# Shorter values would redact ordinary words.
_SHORTEST: Final = 6
_MINUTE_S: Final = 60.0
# The longest first, so that a secret inside another leaves no remainder; replaced as a whole, so that a logging thread
# never sees a partial change.
_known: tuple[str, ...] = ()


def keep_secret(secret: Secret) -> None:
    """Redact this value in every text passed to :func:`redact` from now on."""
    global _known
    value = secret.reveal().strip()
    if len(value) >= _SHORTEST:
        _known = tuple(sorted({*_known, value}, key=len, reverse=True))


def redact(text: str) -> str:
    """Return the text with every known secret value replaced."""
    for value in _known:
        text = text.replace(value, REDACTED)
    return text


def redact_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers with the values of credential headers replaced, and known secrets in all others."""
    return {name: REDACTED if name.lower() in SECRET_HEADERS else redact(value) for name, value in headers.items()}


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "text": redact(record.getMessage()),
            "pid": record.process,
        }
        if record.exc_info and record.exc_info[1] is not None:
            # Frames and messages only: the locals of a frame may hold anything.
            entry["trace"] = redact("".join(traceback.format_exception(record.exc_info[1])))
        # Redacted before encoding, because JSON may escape characters of a secret.
        return json.dumps(entry, ensure_ascii=True)


class LineRateFilter(logging.Filter):
    """Limits the lines of a logger a minute; the first line of the next minute counts those left out."""

    def __init__(self, lines: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._lines = lines
        self._monotonic = monotonic
        self._began = monotonic()
        self._count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = self._monotonic()
        if now - self._began >= _MINUTE_S:
            left_out, self._count, self._began = max(0, self._count - self._lines), 0, now
            if left_out:
                record.msg, record.args = f"{record.getMessage()} ({left_out} earlier lines were dropped)", ()
        self._count += 1
        return self._count <= self._lines


def _open_private_file(path: Path) -> logging.Handler:
    """Open the log file, at the start and after each rotation without following a link (manual: security, "Files and
    directories").
    """
    # Imported here because it takes longer than all else in this module, which the console's first paint needs.
    from logging.handlers import RotatingFileHandler

    class PrivateFile(RotatingFileHandler):
        def _open(self) -> TextIOWrapper:
            return open(open_private_append(Path(self.baseFilename)), "a", encoding=self.encoding)  # noqa: PTH123

        def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the standard library's
            """Drop a line that cannot be written: the default report would go, unredacted, to the screen."""

    return PrivateFile(path, maxBytes=LOG_BYTES, backupCount=LOG_BACKUPS, encoding="utf-8")


def start_log(path: Path, level: str = "info") -> logging.Handler | None:
    """Send the package's log to ``path``; return None if the file is not writable or does not belong to this user
    alone.

    A failure is no reason to stop. Levels are ``debug``, ``info``, ``warning`` and ``error``.
    """
    logger = logging.getLogger("runwatch")
    logger.setLevel(level.upper())
    logger.propagate = False
    try:
        private_directory(path.parent)
        handler = _open_private_file(path)
    except (OSError, UnsafePlaceError):
        logger.addHandler(logging.NullHandler())
        return None
    handler.setFormatter(_JsonLines())
    logger.addHandler(handler)
    return handler
