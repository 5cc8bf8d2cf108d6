"""What the bar above says of the service, and the colour that its profile has there."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.base.paths import Paths
from runwatch.base.secrets.secret import Secret
from runwatch.settings.declarations import Profile
from runwatch.settings.key_sources import store_key
from runwatch.settings.resolver import SettingOptions
from runwatch.tui.app.header_info import PROFILE_COLOURS, build_header_info
from tests.support.builders import account
from tests.support.scripted import ScriptedService
from tests.tui.console import console

PROFILE = """
[profiles.work]
base_url = "{base_url}"
production = %s
colour = "%s"
"""


@pytest.mark.parametrize(
    ("production", "colour", "shown"),
    [
        ("false", "auto", None),
        ("true", "auto", "bad"),
        ("false", "magenta", PROFILE_COLOURS["magenta"]),
        ("true", "green", PROFILE_COLOURS["green"]),
    ],
)
async def test_a_profile_has_the_colour_that_was_chosen_else_red_in_production(
    tmp_path: Path, production: str, colour: str, shown: str | None
) -> None:
    service = ScriptedService()
    options = SettingOptions(profile="work")
    settings = PROFILE % (production, colour)
    async with service:
        paths = Paths(tmp_path / "settings.toml", tmp_path / "runwatch-data")
        store_key(Profile("work", {"base_url": service.base_url}), Secret("key-of-work"), paths.key_file)
        async with console(
            ScriptedService(), tmp_path, settings=settings.replace("{base_url}", service.base_url),
            options=options, open_at="settings", environment={"RUNWATCH_BASE_URL": "", "RUNWATCH_API_KEY": ""},
        ) as driven:  # fmt: skip
            header = build_header_info(driven.app)
            assert header.profile == "work"
            assert header.key == "key file", "the word key comes once"
            assert header.colour == (driven.app.palette.text["bad"] if shown == "bad" else shown)


async def test_a_local_service_is_named_without_its_port_which_its_next_start_may_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(ScriptedService(), tmp_path) as driven:
        session = driven.app.session
        assert session is not None
        assert build_header_info(driven.app).host == session.target.host
        monkeypatch.setattr(session, "target", session.target._replace(socket=tmp_path / "service.sock"))
        assert build_header_info(driven.app).host == ""


def test_every_colour_of_the_setting_is_one() -> None:
    assert {"auto", *PROFILE_COLOURS} == set(Profile.colour.choices)


async def test_no_limit_is_shown_as_exceeded_when_a_429_lowers_what_is_assumed(tmp_path: Path) -> None:
    async with console(ScriptedService(account=account(quota={"rate_limit_rpm": 40})), tmp_path) as driven:
        budget = driven.session.live.budget
        for _ in range(25):
            budget.note_users_read()
        used = budget.per_minute
        assert build_header_info(driven.app).requests[0] == f"{used} of 40 requests/min"
        assert build_header_info(driven.app).requests[1:] == (f"{used} of 40 req/min", f"{used}/min")
        budget.note_limited()
        assert build_header_info(driven.app).requests[0] == f"{used} requests/min, slowed to 20"


async def test_a_try_that_does_not_reach_the_service_counts_in_no_limit(tmp_path: Path) -> None:
    async with console(ScriptedService(account=account(quota={"rate_limit_rpm": 40})), tmp_path) as driven:
        budget = driven.session.live.budget
        used = budget.per_minute
        budget.note_attempt(was_sent=False)
        assert build_header_info(driven.app).requests[0] == f"{used} of 40 requests/min"
        driven.session.live.connection.lost_since = driven.clock.now()
        assert build_header_info(driven.app).requests[0] == f"{used} of 40 requests/min"
        # Where no try of the last minute has reached it, a zero would say that there are none.
        driven.clock.advance(61)
        assert build_header_info(driven.app).requests == ()


async def test_a_console_that_may_change_nothing_says_so_before_its_service_is_there(tmp_path: Path) -> None:
    async with console(ScriptedService(), tmp_path, options=SettingOptions(read_only=True)) as driven:
        driven.app.session, session = None, driven.app.session
        assert build_header_info(driven.app).read_only
        driven.app.session = session
