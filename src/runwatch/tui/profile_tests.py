"""Trying the connection of a profile: its account is read with a client of its own, with the profile's own key."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runwatch.api.errors import ApiError
from runwatch.base.errors import RunwatchError, SettingsError
from runwatch.base.target import Target
from runwatch.settings import keys
from runwatch.settings.model import Profile
from runwatch.settings.resolve import Options, Resolver
from runwatch.tui.sending import problem_of
from runwatch.view.drawn import Drawn, line
from runwatch.view.entries import ProblemEntry
from runwatch.view.format import duration
from runwatch.view.glyphs import Role
from runwatch.view.resource import Styled

if TYPE_CHECKING:
    from runwatch.tui.console import Console


async def target_of(console: Console, name: str) -> Target:
    """The service of a profile with the key of its own; of what is in use without a profile, as it is in use.

    Raises:
        RunwatchError: the profile has no usable address, or its key cannot be had.
    """
    if name not in console.loaded.settings.profiles and console.desk is not None:
        return console.desk.target
    resolver = Resolver(Options(profile=name), {}, console.loaded, console.opening.paths)
    return await asyncio.to_thread(resolver.target)


async def account_words(target: Target) -> str:
    """Read the account and say whose it is.

    Raises:
        ApiError: the service cannot be reached, or refuses.
    """
    # Importing the HTTP library takes longer than a frame, so that it happens beside the loop.
    await asyncio.to_thread(__import__, "httpx")
    from runwatch.api.client import Client

    async with Client(target, read_only=True, retries=0) as client:
        account = await client.get_account()
    whose = account.tenant_id or "an account without an id"
    who = f" as {account.authenticated_principal_id}" if account.authenticated_principal_id else ""
    return f"answers for {line(whose, 60)}{line(who, 60)}"


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of trying a connection.

    Attributes:
        word: What stands beside the profile.
        problem: What the service answered instead; ``None`` where it answered well or was not asked.
        next_step: What to do about the problem.
        refused: Why it was not asked; empty where it was.
    """

    word: Styled
    problem: ProblemEntry | None = None
    next_step: Drawn | None = None
    refused: str = ""


async def try_profile(console: Console, name: str) -> Tried:
    """Read the account of a profile, and say how long it took or what went wrong."""
    glyphs, clock = console.glyphs, console.clock
    began = clock.monotonic()
    target: Target | None = None
    try:
        target = await target_of(console, name)
        words = await account_words(target)
    except RunwatchError as error:
        bad = Styled(line(f"{glyphs.bad} {error.title}"), Role.BAD)
        if isinstance(error, ApiError) and target is not None:
            problem = problem_of(error, "getAccount", target, clock.now())
            return Tried(bad, problem, line(error.hint) if error.hint else None)
        return Tried(bad, refused=" ".join(part for part in (str(error), error.hint) if part))
    took = duration(clock.monotonic() - began)
    return Tried(Styled(line(f"{glyphs.good} {words} {glyphs.dot} {took}"), Role.GOOD))


async def key_sources(console: Console) -> dict[str, str]:
    """Where the key of each profile comes from, never the key itself; a key command is named and not run."""

    def source(profile: Profile) -> str:
        if profile.key_command:
            return keys.FROM_COMMAND
        try:
            found = keys.profile_key(profile, console.opening.paths.key_file)
        except SettingsError as error:
            return error.title
        return "" if found is None else found.source

    profiles = console.loaded.settings.profiles
    return {name: await asyncio.to_thread(source, profile) for name, profile in profiles.items()}
