"""What can be copied from a record, and the exact text of each option."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from runwatch.base.errors import RunwatchError, SettingsError
from runwatch.base.json import dumps, loads
from runwatch.base.network.service_target import normalise_base_url
from runwatch.base.shell_words import quote_exactly, quote_word, runwatch_command
from runwatch.base.text import clean_line, is_clean
from runwatch.settings.declarations import ENVIRONMENT, LOCAL
from runwatch.view.problems.explanations import support_block
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.copied_text import CopiedText, copied_command, copied_json, copied_word
from runwatch.view.text.safe_text import SafeText, line


@dataclass(frozen=True, slots=True)
class CopyOption:
    what: SafeText
    text: CopiedText


def list_copy_options(
    spec: ResourceSpec[Any],
    subject: Any,
    *,
    is_foreign: bool = False,
    socket: Path | None = None,
    program: str = "runwatch",
    find_body: Callable[[str | None], bytes | None] = lambda _: None,
) -> Iterator[CopyOption]:
    """Yield what can be copied from a record, most useful first, by the rules of :func:`build_curl_command` for a
    request.

    ``find_body`` returns the body that was sent with an idempotency key, if it is known.
    """
    if isinstance(subject, ProblemEntry):
        if subject.problem.instance:
            yield CopyOption(line("instance"), copied_word(subject.problem.instance))
        yield CopyOption(line("support block"), support_block(subject))
    elif isinstance(subject, RequestEntry):
        # Omit the command for a request that no command can repeat; the key for copying it explains why.
        with contextlib.suppress(RunwatchError):
            yield curl_option(subject, find_body(subject.key), is_foreign=is_foreign, socket=socket, program=program)
    else:
        yield CopyOption(line(f"{spec.singular} id"), copied_word(subject.id))
    yield CopyOption(line(f"{spec.singular} as JSON"), copied_json(dict(subject.raw)))


def curl_option(
    entry: RequestEntry, body: bytes | None, *, is_foreign: bool, socket: Path | None, program: str
) -> CopyOption:
    """Return the command that repeats a request; its name says which file the user has to write first.

    Raises:
        RunwatchError: No command can repeat it.
    """
    command = build_curl_command(entry, body, is_foreign=is_foreign, socket=socket, program=program)
    needs_file = entry.sent_bytes and _body_text(body) is None
    return CopyOption(line(f"curl command, body in {BODY_FILE}" if needs_file else "curl command"), command)


METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

BODY_FILE: Final = "body.json"
"""The file that a command sends whose body is not known: the journal keeps none, so the user has to write it."""

MAX_BODY_CHARACTERS: Final = 30_000
"""The longest body that is part of a command."""

_IN_URL: Final = "/%:@!$&'()*+,;=~-._"

_HEADER: Final = re.compile(r"[ -~]{1,4096}\Z")

_DOTS: Final = re.compile(r"/\.\.?(?:/|\Z)")


def build_curl_command(
    entry: RequestEntry,
    body: bytes | None = None,
    *,
    is_foreign: bool = False,
    socket: Path | None = None,
    program: str = "runwatch",
) -> CopiedText:
    """Build a ``curl`` command that repeats a request. The API key comes through a pipe, never as an argument.

    A key is sent only to the address of the request's profile: ``config header`` refuses any other. The local service's
    key is sent only through its Unix socket, so without the socket's path the command has no key.

    Args:
        body: What was sent, if it is known; else it comes from :data:`BODY_FILE`.
        is_foreign: Whether the entry comes from an opened file or bundle; the command then has no key.
        socket: The Unix socket of the local service, for a request of the local profile.
        program: What starts runwatch in a shell, to print the key for the pipe.

    Raises:
        RunwatchError: The method is not in :data:`METHODS`, the address is not valid, or the idempotency key cannot be
            sent in a header.
    """
    method = entry.method or ""
    if method not in METHODS:
        raise _refusal(f"its method is not one of {', '.join(sorted(METHODS))}")
    is_local = entry.profile == LOCAL and not is_foreign
    through = socket if is_local else None
    url = ("http://localhost" if through is not None else _origin(entry)) + _path(entry)
    words = ["curl", "-sS"]
    pipe = ""
    if not is_foreign and (through is not None or not is_local):
        pipe = f"{program}{_header_command(entry).removeprefix('runwatch')} | "
        words += ["-H", "@-"]
    if through is not None:
        words += ["--unix-socket", quote_word(str(through))]
    words += ["--head"] if method == "HEAD" else ["-X", method]
    if "[" in url:
        words.append("--globoff")
    if _DOTS.search(entry.path or ""):
        words.append("--path-as-is")
    words += ["--url", quote_word(url)]
    if entry.key is not None:
        if not _HEADER.match(entry.key):
            raise _refusal("its idempotency key has characters that a header cannot carry")
        words += ["-H", quote_word(f"Idempotency-Key: {entry.key}")]
    if entry.sent_bytes:
        words += ["-H", quote_word("Content-Type: application/json")]
        text = _body_text(body)
        # The raw form takes no text for the name of a file.
        words += ["--data-binary", f"@{BODY_FILE}"] if text is None else ["--data-raw", quote_exactly(text)]
    return copied_command(pipe + " ".join(words))


def _body_text(body: bytes | None) -> str | None:
    """Return a body as one line that a terminal shows unchanged: as it was sent, or the same JSON in ASCII."""
    try:
        text = (body or b"").decode("utf-8")
        if clean_line(text) != text:
            text = dumps(loads(text))
    except ValueError:
        return None
    return text if text and len(text) <= MAX_BODY_CHARACTERS else None


def _header_command(entry: RequestEntry) -> str:
    """Return the command that prints the profile's header. It includes the address, because the profile's may have
    changed.
    """
    if entry.profile == LOCAL:
        return runwatch_command("config header", local=True)
    profile = None if entry.profile == ENVIRONMENT else entry.profile
    return runwatch_command("config header", profile=profile, base_url=_origin(entry))


def _origin(entry: RequestEntry) -> str:
    try:
        origin = normalise_base_url(entry.origin or "")
    except SettingsError as error:
        raise _refusal(f"its address cannot be called: {error.title}") from None
    if not is_clean(origin):
        raise _refusal("its address has characters that cannot be shown")
    return origin


def _path(entry: RequestEntry) -> str:
    path = entry.path or "/"
    if not path.startswith("/"):
        raise _refusal("its path does not begin with a slash")
    query = f"?{_encoded(entry.query, _IN_URL + '?')}" if entry.query else ""
    return _encoded(path, _IN_URL) + query


def _encoded(text: str, safe: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe=safe)


def _refusal(why: str) -> RunwatchError:
    return RunwatchError("No command can repeat this request", detail=why)
