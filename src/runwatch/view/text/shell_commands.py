"""Commands in texts that users paste into a shell, made to call the service that the text is about.

Sentences of lower layers and of the service name commands without knowing how the service was chosen.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.base.shell_words import quote_word, runwatch_command
from runwatch.settings.declarations import ENVIRONMENT, LOCAL

_COMMAND: Final = lazy_pattern(
    r"(?<![\w/.-])runwatch ([a-z]+)( [a-z][a-z-]*)?(?=( --(?:local|profile|base-url|help)\b)?)"
)

_CONSOLE: Final = "`runwatch`"
"""The command that opens the console."""

_OWN_KEY: Final = "`runwatch config key set PROFILE`"
"""The command that replaces the key in use. Texts about other keys do not write it so: theirs is for any profile."""

_PROFILE: Final = lazy_pattern(r"(?:^| )--profile (\S+)")

_SINGLE: Final = frozenset({"account", "doctor", "evals", "usage"})
"""Commands of one word that call a service."""

_NOUNS: Final = frozenset(
    {
        "agents", "arms", "compliance", "credentials", "github", "keys", "models", "proposals", "receipts", "runs",
        "sources", "templates", "verifiers", "webhooks",
    }
)  # fmt: skip
"""First words of commands of two words that call a service."""

_OF_MACHINE: Final = frozenset({"completion", "config", "help", "open", "problems", "requests", "schema", "serve"})
"""First words of commands that work on this machine."""

_OF_CONFIG: Final = frozenset({" header", " show"})
"""Second words of ``config`` that take the options of a service."""


_READING: Final = frozenset(
    {
        "", " add", " compare", " connection", " definitions", " deliveries", " deployments", " events", " export",
        " header", " list", " plan", " report", " result", " show", " watch",
    }
)  # fmt: skip
"""Second words of commands that change nothing on the service."""

_OTHER_PROFILE: Final = "--profile PROFILE"
"""Chooses what the user puts in its place, where the profile itself would refuse the command."""


class ShellService(NamedTuple):
    """How commands in a shell reach a service: the options behind a command's words, such as ``--profile work``, and
    what starts runwatch.

    Attributes:
        is_read_only: Whether the profile of the options refuses every change, so that a command that changes something
            names another one.
    """

    options: str = ""
    program: str = "runwatch"
    is_read_only: bool = False


ANY_SERVICE: Final = ShellService()
"""Changes no command."""


def profile_options(profile: str | None, base_url: str | None = None) -> str:
    """Return the options that choose a profile, and an address given in place of its own; none for the service that the
    environment gives.
    """
    parts = ["--local"] if profile == LOCAL else []
    if profile and profile not in {LOCAL, ENVIRONMENT}:
        # A name may begin with a dash.
        parts.append(f"--profile{'=' if profile.startswith('-') else ' '}{quote_word(profile)}")
    if base_url:
        parts.append(f"--base-url {quote_word(base_url)}")
    return " ".join(parts)


def add_service(text: str, service: ShellService) -> str:
    """Return a text in which every command is started as the service needs it, with the options that choose it.

    Words that need quotes are not added: the command may itself be inside quotes.
    """
    if (
        service == ANY_SERVICE
        or "runwatch" not in text
        or any(quote in f"{service.options}{service.program}" for quote in "'\"\\")
    ):
        return text
    if own := _PROFILE.search(service.options):
        text = name_own_key(text, own[1])
    console = " ".join(filter(None, (service.program, service.options)))
    return _COMMAND.sub(lambda found: _completed(found, service), text.replace(_CONSOLE, f"`{console}`"))


def name_own_key(text: str, profile: str) -> str:
    """Return a text in which the command that replaces the key in use names its profile, if one of the file has it."""
    is_plain = not profile.startswith("-") and quote_word(profile) == profile
    if profile in {LOCAL, ENVIRONMENT} or not is_plain:
        return text
    return text.replace(_OWN_KEY, _OWN_KEY.replace("PROFILE", profile))


def service_command(service: ShellService, words: str, *arguments: str) -> str:
    """Return a command for a service; every argument is one word (see :func:`runwatch_command`)."""
    head = runwatch_command(words)
    return add_service(head, service) + runwatch_command(words, *arguments).removeprefix(head)


def _completed(found: re.Match[str], service: ShellService) -> str:
    noun, word, option = found[1], found[2] or "", found[3]
    rest = ""
    if noun in _SINGLE:
        word, rest = "", word
    elif not (noun in _NOUNS and word) and not (noun == "config" and word in _OF_CONFIG):
        return f"{service.program} {noun}{word}" if noun in _OF_MACHINE else found[0]
    changes = word not in _READING or found.string.startswith(" --top-up", found.end())
    chosen = _OTHER_PROFILE if service.is_read_only and changes else service.options
    options = "" if option or not chosen else f" {chosen}"
    return f"{service.program} {noun}{word}{options}{rest}"
