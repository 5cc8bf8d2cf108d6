"""Each tour of the manual, key by key, on the demo as it is when its clock says 0, 2 and 10 minutes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from runwatch.base.paths import Paths
from runwatch.settings.local_service import LocalService
from runwatch.settings.resolver import SettingOptions
from runwatch.settings.temporary_service import SAMPLE_PROFILE, add_sample_profile
from runwatch.tui.app.console_app import ConsoleApp, LaunchOptions
from runwatch.tui.app.demo import DEMO_PACE, DEMO_RUNS
from tests.service.conftest import Local, serve_in_process
from tests.support.clock import FakeClock
from tests.tui.console import PATIENCE_S, Driven, quick_pauses
from tests.tui.frames import frames_left_out

at_each_minute = pytest.mark.parametrize(
    "minutes", [0, pytest.param(2, marks=pytest.mark.exhaustive), pytest.param(10, marks=pytest.mark.exhaustive)]
)


@dataclass
class Demo(Driven):
    """The demo's console.

    Attributes:
        home: Where its settings and data are.
    """

    home: Path = Path()

    async def reaches(self, text: str | re.Pattern[str], *keys: str, within_s: float = 120.0) -> None:
        """Press keys, and let time go by until the screen shows a text."""
        await self.press(*keys)
        await self.comes(text, within_s)


async def wait_for_live_run(local: Local) -> None:
    """Wait until one of the newest runs has not ended: what is due now may still be on its way to the disk."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            newest = (await local.get("/v1/executions", limit=30))["executions"]
            if any(run["completed_at"] is None for run in newest):
                return


async def let_pass(local: Local, clock: FakeClock, seconds: float) -> None:
    """Let the demo go on with a watcher; a run must be live at every moment."""
    end, steps = clock.monotonic() + seconds, 0
    while clock.monotonic() < end:
        local.context.touch()
        clock.advance(max(min(clock.next_wake_s or 1.0, 1.0), 0.001))
        # What woke up writes before this write, and goes on after it.
        await local.context.database.write(lambda transaction: None)
        steps += 1
        if steps % 25 == 0:
            await wait_for_live_run(local)


@asynccontextmanager
async def demo(home: Path, minutes: float) -> AsyncIterator[Demo]:
    """The console of ``runwatch demo`` on a service that has been watched for some minutes."""
    clock = FakeClock(manual=True)
    paths = Paths(home / "settings.toml", home / "data")
    async with serve_in_process(
        paths.local_service_dir, clock, sample=True, sample_runs=DEMO_RUNS, sample_trickle=True, pace=DEMO_PACE
    ) as local:
        await let_pass(local, clock, 60 * minutes)
        file = local.running.file
        assert file.socket is not None

        def start_local(_: Path) -> LocalService:
            add_sample_profile(paths, file.base_url)
            return LocalService(file.base_url, file.api_key, file.pid, cast(Path, file.socket))

        options = LaunchOptions(paths, {}, SettingOptions(local=True), start_local=start_local, demo=True)
        app = ConsoleApp(options, clock=clock)
        with frames_left_out():
            async with app.run_test(size=(120, 36)) as pilot:
                driven = Demo(app, pilot, cast(Any, local), clock, home)
                await driven.until(lambda: app.session is not None, "the desk to open")
                with quick_pauses():
                    await driven.settle()
                    yield driven


@pytest.mark.exhaustive
@at_each_minute
async def test_the_tour_for_operators(tmp_path: Path, minutes: float) -> None:
    async with demo(tmp_path, minutes) as tour:
        await tour.reaches(re.compile(r"▸ ✗ \d+ of \d+ runs on sample_north failed since"), "I")
        assert re.search(r"[1-9]\d* live", tour.text)
        await tour.reaches(re.compile(r"filter is:broken provider=\S*sample_north"), "enter")
        await tour.until(lambda: "completed" not in tour.text, "the rows to be filtered")
        await tour.reaches(re.compile(r"┃ Events .*lifecycle", re.DOTALL), "enter")
        await tour.reaches(
            re.compile(r"why +The last provider call failed.*next +Start", re.DOTALL), "greater_than_sign"
        )
        await tour.reaches("━ Runs ", "escape")

        await tour.reaches("New run", "A")
        await tour.type("Say hello.")
        await tour.reaches("Start the run", "f2")
        await tour.reaches(re.compile(r"Runs › ex_.*Started run ex_", re.DOTALL), "tab", "enter")

        await tour.reaches(re.compile(r"Tail of \d+ runs · [1-9]\d* live"), "L")
        await tour.reaches(re.compile(r"Runs › ex_"), "u")
        await tour.reaches("PAUSED", "P")
        await tour.reaches("follow", "P")
        await tour.press("escape")
        await tour.reaches("■", "home", "V", "down", "V")
        await tour.reaches(re.compile("Cancel .* run"), "X")
        await tour.press("escape")
        await tour.reaches(re.compile("label", re.IGNORECASE), "i")


@at_each_minute
async def test_the_tour_for_reviewers(tmp_path: Path, minutes: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with demo(tmp_path, minutes) as tour:
        await tour.reaches(re.compile("▸ ✗ blocked +byok-open-model"), "6")
        await tour.reaches(re.compile(r"▸ next action +test_source_connection"), "enter")
        await tour.reaches("[ Do not call it ]", "enter")
        await tour.reaches(re.compile(r"▸ next action +(?! |test_source_connection)"), "tab", "enter")
        await tour.reaches("models", "enter")
        await tour.reaches(re.compile(r"verdict +Eligible"), "tab", "enter")

        await tour.reaches(re.compile(r"┏━ Receipts +\d+"), "2")
        await tour.press("slash")
        await tour.type("status=failed created<7d")
        await tour.reaches("sent: since 7 days, status failed", "enter")
        await tour.until(lambda: "completed" not in tour.text.partition("╭─")[0], "the rows to be filtered")
        await tour.reaches(re.compile(r"─ Compare|━ Compare"), "space", "down", "space", "D")
        await tour.reaches(re.compile(r"┏━ Receipts"), "escape")
        await tour.reaches("Spend", "dollar_sign")

        await tour.reaches("Export ", "6", "e")
        await tour.reaches(re.compile(r"Export to ━.*keep it.*deleted when the demo ends", re.DOTALL), "enter")
        await tour.press("enter")
        await tour.until(lambda: any(tmp_path.glob("template-report-*.md")), "the report to be written")

        await tour.press("colon")
        await tour.type("across all")
        await tour.reaches(re.compile(rf"byok-open-model.*{SAMPLE_PROFILE}", re.DOTALL), "enter")
