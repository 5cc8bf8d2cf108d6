"""What of a record can be copied, and the exact text that each choice gives."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from runwatch.base.errors import RunwatchError, SettingsError
from runwatch.base.service_target import normalise_base_url
from runwatch.base.shell_words import quote_word, runwatch_command
from runwatch.base.text import is_clean
from runwatch.settings.declarations import LOCAL, UNNAMED
from runwatch.view.problems.explanations import support_block
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.copied_text import CopiedText, copied_command, copied_json, copied_word
from runwatch.view.text.safe_text import SafeText, line


@dataclass(frozen=True, slots=True)
class CopyOption:
    """One thing to copy.

    Attributes:
        what: What it is, in a few words.
        text: The exact text.
    """

    what: SafeText
    text: CopiedText


def list_copy_options(
    spec: ResourceSpec[Any], subject: Any, *, is_foreign: bool = False, socket: Path | None = None
) -> Iterator[CopyOption]:
    """What of a record can be copied, what is asked for most first.

    Args:
        spec: Its resource.
        subject: The record with everything that goes with it, as its row has it.
        is_foreign: Whether the record comes from an opened file or bundle.
        socket: The Unix socket of the local service, where that is the service.
    """
    if isinstance(subject, ProblemEntry):
        if subject.problem.instance:
            yield CopyOption(line("instance"), copied_word(subject.problem.instance))
        yield CopyOption(line("support block"), support_block(subject))
    elif isinstance(subject, RequestEntry):
        # A request that no command can repeat has none to copy; the key for it says why.
        with contextlib.suppress(RunwatchError):
            yield CopyOption(line("curl command"), build_curl_command(subject, is_foreign=is_foreign, socket=socket))
    else:
        yield CopyOption(line(f"{spec.singular} id"), copied_word(subject.id))
    yield CopyOption(line(f"{spec.singular} as JSON"), copied_json(dict(subject.raw)))


METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""The methods that a command is made for."""


BODY_FILE: Final = "body.json"
"""The file that a command sends; the journal keeps no bodies, so the user puts the body there."""


_IN_URL: Final = "/%:@!$&'()*+,;=~-._"


_HEADER: Final = re.compile(r"[ -~]{1,4096}\Z")


_DOTS: Final = re.compile(r"/\.\.?(?:/|\Z)")


def build_curl_command(entry: RequestEntry, *, is_foreign: bool = False, socket: Path | None = None) -> CopiedText:
    """The command: the key comes through a pipe, never in an argument, and a body from a file.

    A key goes only where the profile of the request sends it: ``config header`` refuses another address than the
    profile's. The local service's key goes through its Unix socket alone, so without the socket's path the command has
    no key.

    Args:
        entry: The request.
        is_foreign: Whether the entry comes from an opened file or bundle; the command has no key then.
        socket: The Unix socket of the local service, for a request of the local profile.

    Raises:
        RunwatchError: the method is not one of :data:`METHODS`, the address is no address of a service, or the
            idempotency key cannot be a header.
    """
    method = entry.method or ""
    if method not in METHODS:
        raise _refusal(f"its method is none of {', '.join(sorted(METHODS))}")
    is_local = entry.profile == LOCAL and not is_foreign
    through = socket if is_local else None
    url = ("http://localhost" if through is not None else _origin(entry)) + _path(entry)
    words = ["curl", "-sS"]
    pipe = ""
    if not is_foreign and (through is not None or not is_local):
        pipe = f"{_header_command(entry)} | "
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
            raise _refusal("its idempotency key holds characters that no header takes")
        words += ["-H", quote_word(f"Idempotency-Key: {entry.key}")]
    if entry.sent_bytes:
        words += ["-H", quote_word("Content-Type: application/json"), "--data-binary", f"@{BODY_FILE}"]
    return copied_command(pipe + " ".join(words))


def _header_command(entry: RequestEntry) -> str:
    """What prints the header of the profile; the address goes along, because a profile may have another one by now."""
    if entry.profile == LOCAL:
        return runwatch_command("config header", local=True)
    profile = None if entry.profile == UNNAMED else entry.profile
    return runwatch_command("config header", profile=profile, base_url=_origin(entry))


def _origin(entry: RequestEntry) -> str:
    try:
        origin = normalise_base_url(entry.origin or "")
    except SettingsError as error:
        raise _refusal(f"its address cannot be called: {error.title}") from None
    if not is_clean(origin):
        raise _refusal("its address holds characters that cannot be shown")
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
