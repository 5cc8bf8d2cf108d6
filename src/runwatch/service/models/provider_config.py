"""Read the file of ``runwatch serve --provider-config FILE``: model sources beyond the built-in ones.

::

    [[source]]
    source_id = "lab"
    source_kind = "self_hosted"
    base_url = "http://127.0.0.1:8000/v1"
    protocol_profile = "openai_chat"
    auth_schemes = ["none"]            # or ["api_key"], the default
    display_name = "Lab server"        # this and all that follows is optional
    location = "eu"
    route = "direct"
    data_classes = ["public", "tenant_internal"]
    [source.prices."*"]                # or the name of a model
    input_usd_per_million = "0.10"
    output_usd_per_million = "0.40"

The format is not in the specification. It never holds a secret: keys are entered on the private page of a credential
handoff.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn

from runwatch.base.closest_word import closest_word
from runwatch.base.errors import UsageError
from runwatch.base.text import clean_line
from runwatch.records.requests.source import clean_base_url
from runwatch.records.source import PROTOCOLS
from runwatch.service.models.providers.prices import amount
from runwatch.service.models.providers.sample_sources import SAMPLE_SOURCES
from runwatch.service.models.providers.source_definition import AUTH_SCHEMES, SOURCE_KINDS, SourceDefinition
from runwatch.service.models.providers.types import DEFAULT_DATA_CLASSES

FILE_BYTES: Final = 1024 * 1024
_TABLE: Final = "source"
_PRICES: Final = ("input_usd_per_million", "output_usd_per_million")
_KINDS: Final = tuple(kind for kind in SOURCE_KINDS if kind != "fixture")
_ROUTES: Final = ("direct", "gateway")

_ID: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_WORD: Final = re.compile(r"\S(?:.{0,198}\S)?")
_SECRET: Final = re.compile(r"(?:key|token|secret|password|passwd|credential|authorization|bearer)", re.IGNORECASE)
_POSITION: Final = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)\Z")
_NAMES: Final = re.compile(r'"[^"]*"|[^."]+')
_HEADER: Final = re.compile(r"\s*\[\[\s*[\"']?source[\"']?\s*\]\]")


def configured_sources(path: Path | None, *, sample: bool) -> tuple[SourceDefinition, ...]:
    """Return the sources configured at a start, each id once: the sample sources if asked for, and those of a file.

    Raises UsageError if the file cannot be used.
    """
    configured = () if path is None else read_provider_config(path)
    return (*(SAMPLE_SOURCES if sample else ()), *configured)


def read_provider_config(path: Path) -> tuple[SourceDefinition, ...]:
    """Read the sources of a file.

    Raises:
        UsageError: The file cannot be read, has the wrong format, or holds a secret. The error names the key and, if
            known, the line, and repeats no value.
    """
    reading = _Reading(path)
    raw = reading.raw
    reading.expect_members(raw, (_TABLE,), "")
    tables = raw.get(_TABLE, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        reading.fail(_TABLE, "must be written as [[source]] tables")
    sources: list[SourceDefinition] = []
    for position, table in enumerate(tables):
        source = _source(reading, table, position)
        if source.source_id in {other.source_id for other in (*SAMPLE_SOURCES, *sources)}:
            reading.fail(f"{_TABLE}[{position}].source_id", "names a source that exists already")
        sources.append(source)
    return tuple(sources)


class _Reading:
    """A file being read, with lookup of line numbers for errors."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                content = file.read(FILE_BYTES + 1)
        except OSError as error:
            self._refuse(f"{path}: {error.strerror or error}", "Name a file that exists and can be read.")
        if len(content) > FILE_BYTES:
            self._refuse(f"{path} is larger than 1 MiB", "Name the file that lists the sources.")
        try:
            self._text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            self._refuse(f"{path}:{line} is not UTF-8", "Save the file as UTF-8.")
        self.raw = self._parsed()

    def _parsed(self) -> dict[str, Any]:
        try:
            # Parse as decimals, so that prices written as numbers keep their digits.
            return tomllib.loads(self._text, parse_float=Decimal)
        except RecursionError:
            self._refuse(f"{self._path} nests too deeply")
        except ValueError as error:
            reason = _POSITION.sub("", str(error))
            position = _POSITION.search(str(error))
            line = f":{position[1]}" if position is not None and position[1] else ""
            self._refuse(f"{self._path}{line} is not valid TOML: {reason}")

    def fail(self, key: str, message: str, hint: str | None = None) -> NoReturn:
        line = self._line(key)
        self._refuse(f"{self._path}{f':{line}' if line else ''}: '{clean_line(key)}' {message}", hint)

    def expect_members(self, table: Mapping[str, Any], known: Iterable[str], prefix: str) -> None:
        """Refuse a table with an unknown member."""
        names = list(known)
        for name in table:
            if name in names:
                continue
            if _SECRET.search(name):
                self.fail(
                    f"{prefix}{name}",
                    "looks like a secret, and this file never holds one",
                    "Remove it, and connect the source: its key is then entered on a page of its own.",
                )
            near = closest_word(name, names)
            self.fail(f"{prefix}{name}", "is not known here", f"Did you mean '{near}'?" if near else None)

    def _line(self, key: str) -> int | None:
        """Return the line of a key like ``source[1].prices."x"``, or of the innermost enclosing table that is found."""
        lines = self._text.splitlines()
        entry = re.match(rf"{_TABLE}\[(\d+)\]\.", key)
        if entry is None:
            return _found(lines, key)
        headers = [number for number, line in enumerate(lines, 1) if _HEADER.match(line)]
        position = int(entry[1])
        if position >= len(headers):
            # The sources are written as an inline list.
            return None
        line = headers[position]
        end = headers[position + 1] - 1 if position + 1 < len(headers) else len(lines)
        for name in _NAMES.findall(key[entry.end() :]):
            line = _found(lines[:end], name.strip('"'), line) or line
        return line

    @staticmethod
    def _refuse(detail: str, hint: str | None = None) -> NoReturn:
        raise UsageError("The provider configuration cannot be used", detail=detail, hint=hint) from None


def _found(lines: list[str], name: str, start: int = 1) -> int | None:
    """Return the first line from ``start`` on with the name before an equals sign or in a table header."""
    pattern = re.compile(rf"""\s*(?:\[.*)?["']?(?<![\w-]){re.escape(name)}["']?\s*(?:=|\]|\.)""")
    return next((number for number, line in enumerate(lines, 1) if number >= start and pattern.match(line)), None)


def _source(reading: _Reading, table: dict[str, Any], position: int) -> SourceDefinition:
    prefix = f"{_TABLE}[{position}]."
    reading.expect_members(table, (*_READERS, "prices"), prefix)
    for name in ("source_id", "source_kind", "base_url", "protocol_profile"):
        if name not in table:
            reading.fail(prefix + name, "is required")
    read: dict[str, Any] = {}
    for name, value in table.items():
        try:
            read[name] = _prices(reading, value, prefix) if name == "prices" else _READERS[name](value)
        except ValueError as error:
            reading.fail(prefix + name, str(error))
    protocol = read.pop("protocol_profile")
    usual = {"display_name": read["source_id"], "data_classes": DEFAULT_DATA_CLASSES}
    return SourceDefinition(**usual | read, protocol_profiles=(protocol,))


def _prices(reading: _Reading, value: Any, prefix: str) -> dict[str, dict[str, str]]:
    """Return the price table with every amount as decimal text."""
    if not isinstance(value, dict):
        raise ValueError('must be written as tables, such as [source.prices."*"]')
    prices = {}
    for model, entry in value.items():
        key = f'{prefix}prices."{model}"'
        if not isinstance(entry, dict):
            reading.fail(key, f"must be a table with {' and '.join(_PRICES)}")
        reading.expect_members(entry, _PRICES, f"{key}.")
        for name in _PRICES:
            if _amount(entry.get(name)) is None:
                reading.fail(f"{key}.{name}", "must be US dollars, 0 or more, as a text or a number")
        prices[model] = {name: _amount(entry[name]) or "0" for name in _PRICES}
    return prices


def _amount(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        return None
    parsed = amount(str(value))
    return None if parsed is None else f"{parsed:f}"


def _id(value: Any) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError("must be 1 to 64 of a-z, 0-9, '.', '_' and '-', with a letter or digit first")
    return value


def _word(value: Any) -> str:
    if not isinstance(value, str) or not _WORD.fullmatch(value) or not value.isprintable():
        raise ValueError("must be a text of one line with 1 to 200 characters")
    return value


def _words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError("must be a list with at least one text")
    return tuple(dict.fromkeys(_word(item) for item in value))


def _url(value: Any) -> str:
    return clean_base_url(_word(value))


def _one_of(known: tuple[str, ...]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in known:
            raise ValueError(f"must be {', '.join(known[:-1])} or {known[-1]}")
        return str(value)

    return read


def _schemes(value: Any) -> tuple[str, ...]:
    read = _one_of(AUTH_SCHEMES)
    return tuple(dict.fromkeys(read(item) for item in _words(value)))


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "source_id": _id,
    "source_kind": _one_of(_KINDS),
    "base_url": _url,
    "protocol_profile": _one_of(tuple(PROTOCOLS)),
    "auth_schemes": _schemes,
    "display_name": _word,
    "location": _word,
    "route": _one_of(_ROUTES),
    "data_classes": _words,
}
