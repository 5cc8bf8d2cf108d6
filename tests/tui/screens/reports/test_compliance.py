"""The compliance export on the screen: counted first, with its decisions, and written when the user asks for it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from runwatch.base.json import loads
from runwatch.tui.screens.reports.compliance import ComplianceScreen
from tests.support import resources
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, Driven, console
from tests.tui.golden import check_golden


def service(answer: Said | None = None) -> ScriptedService:
    """A service with an export of two decisions."""
    log = [
        *resources.compliance_export().raw["decision_log"],
        {"decision_id": "dec_02", "kind": "proposal_decision", "action": "approved", "at": "2026-11-21T09:00:00Z",
         "resource": {"type": "proposal", "id": "prop_01"}, "acted_by": "key_A1b2C3"},
    ]  # fmt: skip
    made = noon.service()
    exported = resources.compliance_export(decision_log=log)
    made.say("GET", "/v1/compliance-export", answer or Said(200, exported))
    made.say("GET", "/v1/proposals", Said(200, {"proposals": [dict(resources.proposal().raw)], "next_cursor": None}))
    return made


async def opened(driven: Driven, period: str = "month") -> None:
    """Open the screen from the command line."""
    await driven.say(f"compliance {period}")
    assert isinstance(driven.app.screen, ComplianceScreen)


@pytest.mark.exhaustive
async def test_what_would_be_written_is_counted_and_the_decisions_are_listed(tmp_path: Path) -> None:
    for size in (NARROW, (120, 36)):
        async with console(service(), tmp_path, size=size) as driven:
            await opened(driven)
            await driven.comes("approved proposal prop_01")
            await driven.pass_time(2)
            check_golden(f"{size[0]}x{size[1]}/compliance", driven.text)


@pytest.mark.exhaustive
async def test_the_file_is_written_whole_for_this_user_alone_and_named(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await opened(driven)
        await driven.comes("approved proposal prop_01")
        await driven.reaches("written to", "e")
        (file,) = (tmp_path / "runwatch-data" / "exports").iterdir()
        assert file.name == "compliance-2026-11-01-2026-11-21.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert loads(file.read_text("utf-8"))["schema_version"] == "aud2.v1"
        assert len(loads(file.read_text("utf-8"))["decision_log"]) == 2


@pytest.mark.exhaustive
async def test_an_export_takes_another_name_where_something_is_even_a_link_to_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "runwatch-data" / "exports"
    async with console(service(), tmp_path) as driven:
        folder.mkdir(parents=True)
        (folder / "compliance-2026-11-01-2026-11-21.json").symlink_to(tmp_path / "planted")
        await opened(driven)
        await driven.comes("approved proposal prop_01")
        await driven.reaches("written to", "e")
        assert (folder / "compliance-2026-11-01-2026-11-21-2.json").is_file()
        assert not (tmp_path / "planted").exists()


async def test_nothing_is_written_before_there_is_an_export(tmp_path: Path) -> None:
    async with console(service(Said(403, problem("permission_denied"))), tmp_path) as driven:
        await opened(driven)
        await driven.comes("not authorised")
        await driven.reaches("No export of this period yet.", "e")
        assert not (tmp_path / "runwatch-data" / "exports").exists()


@pytest.mark.exhaustive
async def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        (tmp_path / "runwatch-data" / "exports").write_text("in the way")
        await opened(driven)
        await driven.comes("approved proposal prop_01")
        await driven.reaches("The export cannot be written, Not a directory", "e")


@pytest.mark.exhaustive
async def test_a_decision_leads_to_what_was_decided_upon(tmp_path: Path) -> None:
    async with console(service(), tmp_path) as driven:
        await opened(driven)
        await driven.comes("approved proposal prop_01")
        await driven.press("enter")
        await driven.comes("Repair proposals")
        await driven.comes("Be brief and exact")
