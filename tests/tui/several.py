"""A console with two profiles, each with its own service and key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from textual import events

from runwatch.view.table.rows import RecordRow
from tests.support.builders import account
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import Driven, console

TEMPLATES: Final = "/v1/tenant-templates"
HOME_KEY: Final = "rk_test_sentinel_home_5c1d"


class LateService(ScriptedService):
    """A service that takes every call and answers none until told to.

    Attributes:
        is_called: Whether it was called.
        may_answer: Is set to let it answer.
    """

    def __init__(self, **more: Any) -> None:
        super().__init__(account=account(), **more)
        self.is_called = False
        self.may_answer: Final = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection once it may."""
        self.is_called = True
        await self.may_answer.wait()
        await super().serve(reader, writer)


def offering(*templates: Any, **more: Any) -> ScriptedService:
    """A service with these templates and nothing else."""
    script = ScriptedService(**{"account": account(), **more})
    script.say("GET", TEMPLATES, Said(200, {"templates": [dict(template.raw) for template in templates]}))
    script.say("GET", "/v1/source-connections", Said(200, {"connections": []}))
    return script


@asynccontextmanager
async def both(
    home_dir: Path,
    work: ScriptedService,
    home: ScriptedService,
    *,
    size: tuple[int, int] = (120, 36),
    open_at: str = "templates",
    shows: str = "starter",
    more: str = "",
) -> AsyncIterator[Driven]:
    """A console on the profile ``work``, with a second profile ``home``.

    Args:
        home_dir: Where settings and data are.
        work: The service of the profile that the console works with.
        home: That of the other one.
        size: Columns and rows.
        open_at: The screen to begin with.
        shows: What that screen shows once it was read.
        more: Further lines of the settings file.
    """
    (home_dir / "home.key").write_text(f"{HOME_KEY}\n", "utf-8")
    async with home:
        settings = (
            'default_profile = "work"\n[profiles.work]\nbase_url = "{base_url}"\n'
            f'[profiles.home]\nbase_url = "{home.base_url}"\nkey_command = "cat {home_dir}/home.key"\n{more}'
        )
        async with console(work, home_dir, size=size, settings=settings, open_at=open_at) as driven:
            await driven.comes(shows)
            yield driven


async def command(driven: Driven, words: str) -> None:
    """Have a command done. It is pasted, because driving a console key by key takes its time."""
    await driven.press("colon")
    driven.app.post_message(events.Paste(words))
    await driven.shows(words[:20])
    await driven.press("enter")


async def together(driven: Driven, which: str = "all") -> None:
    """List the profiles together, and wait until every one of them has answered or failed."""
    await command(driven, f"across {which}")
    profiles = driven.app.profiles
    await driven.until(
        lambda: all(profiles.session(name) or name in profiles.failures for name in profiles.shown), "every profile"
    )
    await driven.pass_time(2.0)


def below_bar(driven: Driven) -> str:
    """The screen without the bar that counts requests: how many there are by a moment is not the same every time."""
    return "\n".join(driven.lines[1:])


def rows_of(driven: Driven) -> list[tuple[str, str]]:
    return [(str(row.value("profile")), row.id) for row in driven.table.rows if isinstance(row, RecordRow)]
