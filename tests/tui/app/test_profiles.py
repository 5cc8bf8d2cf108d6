"""Several profiles in one list: each with its own service, key, age and failure, and no action across them."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.base.json import loads
from runwatch.tui.screens.profiles.records import MultiProfileListScreen
from runwatch.tui.screens.templates.templates import TemplatesScreen
from tests.support import resources
from tests.support.builders import AT, echo_receipt, problem, run
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import KEY, NARROW, WIDE, console
from tests.tui.golden import check_golden
from tests.tui.several import HOME_KEY, TEMPLATES, both, command, offering, rows_of, together


def work_service() -> ScriptedService:
    return offering(resources.template(), receipts=[echo_receipt("ex_work")])


def home_service() -> ScriptedService:
    blocked = resources.template(eligible=False)
    return offering(blocked, resources.template("pooled-open-model"), receipts=[echo_receipt("ex_home")])


@pytest.mark.exhaustive
async def test_templates_of_two_profiles_stand_in_one_list(tmp_path: Path) -> None:
    async with both(tmp_path, work_service(), home_service(), size=WIDE) as driven:
        await together(driven)
        await driven.comes("pooled-open-model")
        assert sorted(rows_of(driven)) == [("home", "pooled-open-model"), ("home", "starter"), ("work", "starter")]
        await driven.shows("work just now   home just now", "Not eligible: 1 blocker.")
        check_golden("profiles-templates-160x50", driven.text)
        await driven.press("slash")
        await driven.type("pooled")
        await driven.reaches("filter pooled", "enter")
        await driven.press("r")
        assert "filter pooled" in driven.text, "the filter that applies is named after a refresh too"


async def test_runs_of_two_profiles_stand_in_one_list_and_open_in_their_own(tmp_path: Path) -> None:
    work, home = work_service(), home_service()
    work.runs.append(run("ex_work", "failed", reason="dispatch_network_error").raw)
    home.runs.append(run("ex_home").raw)
    async with both(tmp_path, work, home, open_at="runs", shows="ex_work") as driven:
        await together(driven)
        await driven.comes("ex_home")
        assert rows_of(driven) == [("home", "ex_home"), ("work", "ex_work")], "live first"
        home.runs[0].update(status="completed", completed_at=AT)
        await driven.comes("✓ completed", 60)
        await driven.select("ex_home")
        assert driven.lines[-1].count("enter ") == driven.lines[-1].count("enter open") == 1
        await driven.reaches("enter goes there", "enter")
        assert driven.lines[-1].count("enter ") == driven.lines[-1].count("enter go to its profile") == 1
        await driven.press("up")
        assert "enter " not in driven.lines[-1], "a heading opens nothing"
        await driven.press("down", "enter")
        await driven.until(lambda: driven.app.profile_name == "home", "the run's own profile")
        await driven.shows("Runs › ex_home")


async def test_each_service_hears_its_own_key_alone(tmp_path: Path) -> None:
    work, home = work_service(), home_service()
    async with both(tmp_path, work, home) as driven:
        await together(driven)
        await driven.comes("pooled-open-model")
    assert {heard.head.header("authorization") for heard in work.requests()} == {f"Bearer {KEY}"}
    assert {heard.head.header("authorization") for heard in home.requests()} == {f"Bearer {HOME_KEY}"}


async def test_a_profile_that_fails_hides_no_other(tmp_path: Path) -> None:
    home = home_service()
    home.say("GET", TEMPLATES, Said(403, problem("permission_denied")))
    async with both(tmp_path, work_service(), home) as driven:
        await together(driven)
        await driven.comes("home not authorised")
        assert rows_of(driven) == [("work", "starter")]
        assert not driven.table.is_stale
        check_golden("profiles-one-refused-120x36", driven.text)


@pytest.mark.exhaustive
async def test_a_profile_without_a_usable_key_is_reported_and_tried_again(tmp_path: Path) -> None:
    async with both(tmp_path, work_service(), home_service()) as driven:
        (tmp_path / "home.key").unlink()
        await together(driven)
        await driven.shows("home not connected")
        assert rows_of(driven) == [("work", "starter")]
        (tmp_path / "home.key").write_text(f"{HOME_KEY}\n", "utf-8")
        await driven.press("r")
        await driven.until(lambda: driven.app.profiles.session("home") is not None, "the profile to open")
        await driven.comes("pooled-open-model")


async def test_nothing_is_opened_before_the_user_wants_it(tmp_path: Path) -> None:
    home = home_service()
    async with both(tmp_path, work_service(), home) as driven:
        await together(driven, "work")
        assert rows_of(driven) == [("work", "starter")]
        assert home.requests() == []


async def test_a_record_is_acted_on_in_its_own_profile_alone(tmp_path: Path) -> None:
    work, home = work_service(), home_service()
    plan = "/v1/tenant-template-plans"
    for service in (work, home):
        service.say("POST", plan, Said(200, resources.plan("pooled-open-model")))
    async with both(tmp_path, work, home) as driven:
        await together(driven)
        await driven.comes("pooled-open-model")
        driven.app.screen.select_record("pooled-open-model")  # type: ignore[attr-defined]
        await driven.reaches("Actions   template pooled-open-model", "full_stop")
        assert "runwatch templates" not in driven.text, "nothing is sent from a list of several profiles"
        await driven.opens(TemplatesScreen, "escape", "enter", "enter")
        assert driven.app.profile_name == "home"
        await driven.shows("Switched to profile home")
        await driven.comes("pooled-open-model")
        await driven.press("full_stop", "enter")
        await driven.until(lambda: home.requests("POST", plan) != [], "the plan")
        assert work.requests("POST", plan) == []


@pytest.mark.exhaustive
async def test_what_is_exported_names_the_profile(tmp_path: Path) -> None:
    async with both(tmp_path, work_service(), home_service(), open_at="receipts", shows="ex_work") as driven:
        await together(driven)
        await driven.comes("ex_home")
        for form in ("ndjson", "json", "csv"):
            file = tmp_path / f"out.{form}"
            await command(driven, f"export {file}")
            await driven.until(file.exists, "the file")
        lines = [loads(text) for text in (tmp_path / "out.ndjson").read_text("utf-8").splitlines()]
        assert {"profile": "home", "record": dict(echo_receipt("ex_home").raw)} in lines
        assert loads((tmp_path / "out.json").read_text("utf-8")) == lines
        assert (tmp_path / "out.csv").read_text("utf-8").splitlines()[0].endswith("profile")


async def test_profiles_are_marked_in_a_menu_and_one_has_to_stay(tmp_path: Path) -> None:
    async with both(tmp_path, work_service(), home_service()) as driven:
        await together(driven)
        await command(driven, "across")
        await driven.shows("enter marks and unmarks", "Not eligible: 1 blocker.")
        check_golden("profiles-menu-120x36", driven.text)
        await driven.press("enter")
        await driven.until(lambda: driven.app.profiles.shown == ("home",), "one mark to go")
        await driven.reaches("off: at least one profile must stay marked", "down", "enter")
        assert driven.app.profiles.shown == ("home",)


@pytest.mark.exhaustive
async def test_the_way_back_leads_to_the_list_of_the_present_profile(tmp_path: Path) -> None:
    async with both(tmp_path, work_service(), home_service()) as driven:
        await together(driven)
        assert isinstance(driven.app.screen, MultiProfileListScreen)
        await driven.press("escape")
        assert isinstance(driven.app.screen, TemplatesScreen)
        assert driven.app.profile_name == "work"


@pytest.mark.exhaustive
async def test_a_profile_that_is_the_only_one_is_shown_with_no_other(tmp_path: Path) -> None:
    settings = '[profiles.work]\nbase_url = "{base_url}"\n'
    async with console(work_service(), tmp_path, size=NARROW, settings=settings, open_at="templates") as driven:
        await driven.comes("starter")
        await command(driven, "across all")
        await driven.shows("work is the only profile; [profiles.NAME] adds another.")
        assert isinstance(driven.app.screen, TemplatesScreen)


@pytest.mark.exhaustive
async def test_an_unknown_profile_and_another_screen_are_reported(tmp_path: Path) -> None:
    async with both(tmp_path, work_service(), home_service()) as driven:
        await command(driven, "across hoem")
        await driven.shows("There is no profile hoem")
        await command(driven, "models")
        await driven.shows("offers no list of models")
        await command(driven, "across all")
        await driven.shows("Go to :runs, :templates, :receipts, :account or :problems first")
