"""``--profile A,B`` and ``--profile all``: read from several profiles.

Each profile is read with its own address, key and connection, all concurrently. A failure is reported on stderr with
the profile's name and does not affect the others. The exit code is that of the first failed profile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.shell_words import runwatch_command
from runwatch.commands.cli.error_report import report_error
from runwatch.commands.cli.exit_codes import SUCCESS
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.cli.output import CommandOutput
from runwatch.commands.cli.parser import CommandOptions
from runwatch.commands.shared.session import CommandSession, ServiceChoice, load_settings, make_resolver, open_session
from runwatch.settings.declarations import ENVIRONMENT, ENVIRONMENT_KEY, LOCAL, Settings
from runwatch.settings.resolver import ENVIRONMENT_URL
from runwatch.view.text.shell_commands import ShellService, add_service, profile_options

T = TypeVar("T")

ALL: Final = "all"
"""Selects every profile of the settings file."""


@dataclass(frozen=True, slots=True)
class ProfileResults(Generic[T]):
    """What was read from several profiles.

    Attributes:
        got: Successful reads by profile, in the order requested.
        settings: Settings common to all, for printing.
    """

    got: Mapping[str, T]
    failed: Mapping[str, RunwatchError]
    settings: Settings
    code: int


def is_multi_profile(call: Invocation) -> bool:
    """Whether ``--profile`` asks for several profiles. This decides the output format, even if there is only one."""
    name = call.options.profile
    return name is not None and (name == ALL or "," in name)


def parse_profiles(call: Invocation) -> tuple[str, ...] | None:
    """Return the distinct profiles named; ``None`` for all.

    Raises:
        UsageError: None is named.
    """
    given = call.options.profile or ""
    if given == ALL:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if not names:
        raise UsageError("--profile names no profile", hint="For example --profile work,home or --profile all")
    return names


def read_profiles(call: Invocation, read: Callable[[CommandSession], Awaitable[T]]) -> ProfileResults[T]:
    """Read from every selected profile, and report those that fail. ``all`` includes a service that is given besides.

    Raises:
        UsageError: An address is given besides named profiles, or there is no profile.
    """
    named, given = parse_profiles(call), _given_service(call)
    if named is not None and given is not None:
        raise UsageError(
            "Several profiles have several addresses",
            detail=f"--local, --base-url and {ENVIRONMENT_URL} name one service",
            hint="Leave it out, or add it to every profile with --profile all.",
        )
    loaded = load_settings(call)
    names = named or (*([given] if given else ()), *loaded.settings.profiles)
    if not names:
        create = runwatch_command("config set", "profiles.NAME.base_url")
        raise UsageError(
            "The settings file has no profile",
            detail=str(loaded.path),
            hint=f"Create one: {create} https://HOST, or leave out --profile to read one service.",
        )
    failed: dict[str, RunwatchError] = {}
    chosen: dict[str, tuple[Invocation, ServiceChoice]] = {}
    for name in names:
        own = _call_of(call, name)
        resolves = make_resolver(own, loaded)
        try:
            chosen[name] = own, ServiceChoice(resolves.target(), resolves.settings())
        except RunwatchError as error:
            failed[name] = error
    got = asyncio.run(_read_all(chosen, read, failed))
    codes = [report_error(failed[name], _call_of(call, name).output, name) for name in names if name in failed]
    settings = make_resolver(_call_of(call, None), loaded).settings()
    in_order = {name: got[name] for name in names if name in got}
    return ProfileResults(in_order, failed, settings, next(iter(codes), SUCCESS))


async def _read_all(
    chosen: Mapping[str, tuple[Invocation, ServiceChoice]],
    read: Callable[[CommandSession], Awaitable[T]],
    failed: dict[str, RunwatchError],
) -> dict[str, T]:
    got: dict[str, T] = {}

    async def one(name: str, call: Invocation, choice: ServiceChoice) -> None:
        try:
            async with open_session(call, choice.target, choice.settings) as session:
                got[name] = await read(session)
        except RunwatchError as error:
            failed[name] = error

    await asyncio.gather(*(one(name, *parts) for name, parts in chosen.items()))
    return got


def _given_service(call: Invocation) -> str | None:
    """Return the name of the service that an option or the environment gives; ``None`` without one."""
    if call.options.local:
        return LOCAL
    is_given = call.options.base_url or call.environment.get(ENVIRONMENT_URL, "").strip()
    return ENVIRONMENT if is_given else None


def _call_of(call: Invocation, profile: str | None) -> Invocation:
    """Return the same invocation for one profile, or for the service that is given besides. Its notes name it."""
    output = call.output if profile is None else _Named(call.output, profile)
    if profile in {LOCAL, ENVIRONMENT}:
        return replace(call, options=CommandOptions(**{**vars(call.options), "profile": None}), output=output)
    options = CommandOptions(**{**vars(call.options), "profile": profile, "local": None, "base_url": None})
    others = {ENVIRONMENT_URL, ENVIRONMENT_KEY}
    environment = {name: value for name, value in call.environment.items() if name not in others}
    return replace(call, options=options, environment=environment, output=output)


class _Named(CommandOutput):
    """Output whose notes and warnings name a profile."""

    def __init__(self, output: CommandOutput, profile: str) -> None:
        super().__init__(output.form, complete=lambda text: add_service(text, ShellService(profile_options(profile))))
        self._profile = profile

    def note(self, text: str) -> None:
        super().note(f"{self._profile}: {text}")

    def warn(self, text: str) -> None:
        super().warn(f"{self._profile}: {text}")
