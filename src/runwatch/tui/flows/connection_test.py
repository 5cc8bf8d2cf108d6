"""Connection test of a profile: reads its account with a separate client and the profile's own key."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runwatch.api.errors import ApiError
from runwatch.api.operations import OPERATIONS
from runwatch.base.errors import RunwatchError, SettingsError
from runwatch.base.network.service_target import Target
from runwatch.settings import key_sources
from runwatch.settings.declarations import Profile
from runwatch.settings.resolver import SettingOptions, SettingsResolver
from runwatch.view.problems.journal_entries import ProblemEntry, problem_entry_from_error
from runwatch.view.text.format import duration
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import StyledText

if TYPE_CHECKING:
    from runwatch.tui.shell.console import Console


async def resolve_profile_target(console: Console, name: str) -> Target:
    """Return the target of a profile with its own key; without a profile, the current target.

    Raises:
        RunwatchError: The profile has no valid address, its key is unavailable, or the current service is not usable.
    """
    if name not in console.loaded.settings.profiles:
        if console.session is not None:
            return console.session.target
        if console.failure is not None:
            raise console.failure
    resolver = SettingsResolver(SettingOptions(profile=name), {}, console.loaded, console.launch.paths)
    return await asyncio.to_thread(resolver.target)


async def account_text(target: Target) -> str:
    """Read the account and describe whose it is.

    Raises:
        ApiError: The service is unreachable or rejects the request.
    """
    from runwatch.api.client import Client

    async with Client(target, read_only=True, retries=0) as client:
        account = await client.get_account()
    whose = account.tenant_id or "an account without an id"
    who = f" as {account.authenticated_principal_id}" if account.authenticated_principal_id else ""
    return f"answers for {line(whose, 60)}{line(who, 60)}"


@dataclass(frozen=True, slots=True)
class ConnectionTest:
    """Result of a connection test.

    Attributes:
        word: Text beside the profile.
        problem: The problem returned; ``None`` after a success or if no request was sent.
        next_step: What to do about the problem.
        refused: Why no request was sent; empty otherwise.
    """

    word: StyledText
    problem: ProblemEntry | None = None
    next_step: SafeText | None = None
    refused: str = ""


async def run_connection_test(console: Console, name: str) -> ConnectionTest:
    """Read the account of a profile; return how long it took or why it failed."""
    glyphs, clock = console.glyphs, console.clock
    began = clock.monotonic()
    target: Target | None = None
    try:
        target = await resolve_profile_target(console, name)
        words = await account_text(target)
    except RunwatchError as error:
        bad = StyledText(line(f"{glyphs.bad} {error.title}"), Role.BAD)
        if isinstance(error, ApiError) and target is not None:
            problem = problem_entry_from_error(error, OPERATIONS["getAccount"], target, clock.now())
            return ConnectionTest(bad, problem, line(error.hint) if error.hint else None)
        return ConnectionTest(bad, refused=error.sentences)
    took = duration(clock.monotonic() - began)
    return ConnectionTest(StyledText(line(f"{glyphs.good} {words} {glyphs.dot} {took}"), Role.GOOD))


async def key_sources_text(console: Console) -> dict[str, str]:
    """Return the source of each profile's key, never the key; key commands are named but not run."""

    def source(profile: Profile) -> str:
        if profile.key_command:
            return key_sources.FROM_COMMAND
        try:
            found = key_sources.profile_key(profile, console.launch.paths.key_file)
        except SettingsError as error:
            return error.title
        return "" if found is None else found.source

    profiles = console.loaded.settings.profiles
    return {name: await asyncio.to_thread(source, profile) for name, profile in profiles.items()}
