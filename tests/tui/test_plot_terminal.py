"""The plot of a usage report on a real terminal: a day chosen by keys and by the mouse, and grouped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import resources
from tests.support.scripted import Said, running_service
from tests.tui import noon
from tests.tui.console import KEY
from tests.tui.on_terminal import assert_whole, opened

DAYS = [
    {"date": f"2026-{month:02}-{day:02}", "executions": 1, "platform_usd": 1, "passthrough_usd": day, "usd": day + 1}
    for month in (9, 10, 11)
    for day in range(1, 29)
]


@pytest.mark.exhaustive
def test_days_that_do_not_fit_are_reached_told_and_grouped(tmp_path: Path) -> None:
    made = noon.service(key=KEY)
    report = resources.usage(by_day=DAYS, period={"from": "2026-09-01", "to": "2026-11-28"}).raw
    made.say("GET", "/v1/usage", Said(200, dict(report)))
    with running_service(made) as service, opened(tmp_path, service, columns=80, rows=40) as terminal:
        terminal.type("U", until=re.compile("…09-.. .*11-28"))
        terminal.click("most 29.0000")
        terminal.wait_for(re.compile("▲ 2026-09-.. "))
        terminal.press(*("left",) * 80, until="▲ 2026-09-01  2.0000  1 run")
        terminal.wait_for("not grouped; possible by fee")
        terminal.type("s", until="by fee: █ usage 1.0000   ▒ fee 1.0000")
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)
