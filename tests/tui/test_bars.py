"""The lines above and below the panes keep what matters at every width."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runwatch.tui.core.key_bindings import KeyMap
from runwatch.tui.core.messages import HintClicked
from runwatch.tui.core.rendering import label_span
from runwatch.tui.widgets.bars.breadcrumbs import Breadcrumbs
from runwatch.tui.widgets.bars.filter_bar import FILTER_HINTS
from runwatch.tui.widgets.bars.header_bar import HeaderBar, HeaderInfo
from runwatch.tui.widgets.bars.status_bar import StatusBar
from runwatch.tui.widgets.bars.tab_bar import TabBar
from runwatch.view.text.safe_text import line
from tests.tui import samples
from tests.tui.look import Stage, lines_of, running

TABS = tuple((name.lower(), line(name)) for name in ("Events", "Summary", "Timeline", "Policy", "Result", "Receipt"))

HINTS = (
    "list.open", "screen.filter", "screen.copy", "tail.follow", "screen.pause", ("screen.new", "new test"),
    "screen.actions",
)  # fmt: skip


def held(seconds: float) -> HeaderInfo:
    header = samples.header()
    hold = samples.NOON + timedelta(seconds=seconds)
    return HeaderInfo(header.profile, host=header.host, key=header.key, hold=hold)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (
            120,
            " local  read and write  127.0.0.1:40213  key file key_A1b2"
            + " " * 18
            + "● live    18 of 60 requests/min   12:04 UTC",
        ),
        (99, " local  read and write  127.0.0.1:40213  key key_A1b2   ● live   18 of 60 requests/min   12:04 UTC"),
        (90, " local  read and write  127.0.0.1:40213       ● live    18 of 60 requests/min   12:04 UTC"),
        (80, " local  read and write  127.0.0.1:40213   ● live   18 of 60 req/min   12:04 UTC"),
    ],
)
async def test_the_context_names_service_mode_key_connection_and_budget(width: int, shown: str) -> None:
    app = Stage(HeaderBar(samples.header()))
    async with app.run_test(size=(width, 20)) as pilot:
        await pilot.pause()
        assert lines_of(app)[0] == shown


async def test_the_state_of_the_connection_stays_where_it_is_when_the_number_of_requests_grows() -> None:
    rows = []
    for number in (4, 13, 132):
        header = samples.header()._replace(requests=samples.requests(number))
        app = Stage(HeaderBar(header))
        async with app.run_test(size=(120, 20)) as pilot:
            await pilot.pause()
            rows.append(lines_of(app)[0])
    assert len({row.index("● live") for row in rows}) == 1
    assert all(f" {number} requests/min" in row for number, row in zip((4, 13, 132), rows, strict=True))


async def test_the_address_outlives_the_long_forms_of_the_number_of_requests() -> None:
    header = samples.header()._replace(requests=samples.requests(120, "120 of 600"))
    async with running(Stage(HeaderBar(header))) as (app, _):
        assert lines_of(app)[0] == " local  read and write  127.0.0.1:40213            ● live   120/min   12:04 UTC"


async def test_tabs_without_room_are_whole_ones_around_the_active_one() -> None:
    tabs = TabBar(TABS)
    tabs.styles.width = 36
    async with running(Stage(tabs)) as (app, pilot):
        assert lines_of(app)[0].strip() == "[Events] Summary Timeline Policy …"
        tabs.choose("result")
        await pilot.pause()
        assert lines_of(app)[0].strip() == "… Timeline Policy [Result] Receipt"
        await pilot.click(offset=(1, 0))
        await pilot.pause()
        assert tabs.active == "summary"


async def test_the_source_of_a_key_leaves_before_its_id() -> None:
    key = line("key environment RUNWATCH_API_KEY key_A1b2")
    app = Stage(HeaderBar(samples.header()._replace(key=key, key_id=line("key_A1b2"))))
    async with app.run_test(size=(110, 20)) as pilot:
        await pilot.pause()
        assert "127.0.0.1:40213  key key_A1b2   " in lines_of(app)[0]


async def test_read_only_mode_is_a_word() -> None:
    async with running(Stage(HeaderBar(samples.header(read_only=True)))) as (app, _):
        assert lines_of(app)[0].startswith(" local  READ-ONLY  ")


async def test_the_countdown_of_a_hold_stays_at_eighty_columns_and_counts() -> None:
    bar = HeaderBar(held(23))
    async with running(Stage(bar)) as (app, pilot):
        assert lines_of(app)[0] == " local  read and write      429 rate_limited · reads again in 0:23 · r asks now"
        app.time.advance(5)
        bar.tick()
        await pilot.pause()
        assert lines_of(app)[0].endswith("reads again in 0:18 · r asks now")
        app.time.advance(60)
        bar.tick()
        await pilot.pause()
        assert lines_of(app)[0].endswith("reads again in 0:00 · r asks now")


@pytest.mark.parametrize("lost", ["✗ offline since 12:01:07", "✗ no answer since 2025-12-31 12:01:07"])
@pytest.mark.parametrize("is_held", [False, True])
async def test_production_and_read_only_stay_whole_while_the_service_is_lost_or_held(lost: str, is_held: bool) -> None:
    connection = (label_span(lost), label_span(", trying again every 3 s"))
    hold = held(23).hold if is_held else None
    header = HeaderInfo(line("p" * 60), is_production=True, read_only=True, connection=connection, hold=hold)
    async with running(Stage(HeaderBar(header))) as (app, _):
        shown = lines_of(app)[0]
        assert shown.startswith(" ppppp")
        assert "  PRODUCTION  READ-ONLY   " in shown
        assert shown.endswith("429 · reads again in 0:23" if is_held else lost)


async def test_the_address_of_a_lost_service_stays_at_eighty_columns() -> None:
    connection = (label_span("✗ offline since 12:01:07"), label_span(", trying again every 3 s"))
    async with running(Stage(HeaderBar(samples.header()._replace(connection=connection)))) as (app, _):
        assert lines_of(app)[0].split("   ")[0] == " local  read/write  127.0.0.1:40213"
        assert "✗ offline since 12:01:07" in lines_of(app)[0]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("problem-8bbb2a27-20261130-0043.json", "problem-8bbb2a27-20261130-0043.json  READ-ONLY        offline"),
        (
            "problem-8bbb2a27-of-the-20261130-0043.json",
            "problem-8bbb2a27-of-…-20261130-0043.json  READ-ONLY   offline",
        ),
    ],
)
async def test_the_name_of_an_opened_file_is_whole_where_there_is_room_else_has_both_ends(
    name: str, shown: str
) -> None:
    header = HeaderInfo(line("file"), read_only=True, connection=(label_span("offline"),), file=line(name))
    async with running(Stage(HeaderBar(header))) as (app, _):
        assert lines_of(app)[0] == f" file {shown}   12:04 UTC"


async def test_profile_mode_and_countdown_outlive_names_of_any_length() -> None:
    header = HeaderInfo(line("p" * 60), host=line("h" * 90), key=line("k" * 90), hold=held(23).hold)
    async with running(Stage(HeaderBar(header))) as (app, _):
        shown = lines_of(app)[0]
        assert shown.startswith(" ppppp")
        assert "read/write" in shown
        assert shown.endswith("429 · reads again in 0:23 · r asks now")


async def test_the_time_goes_on_by_itself_once_a_minute() -> None:
    bar = HeaderBar(samples.header())
    async with running(Stage(bar)) as (app, pilot):
        app.time.advance(60)
        bar.tick()
        await pilot.pause()
        assert lines_of(app)[0].endswith("12:05 UTC")
        assert bar._timer is not None
        assert bar._timer._interval == pytest.approx(29.0)
        bar.show(held(23))
        assert bar._timer._interval == 1.0


async def test_a_profile_has_its_colour_behind_its_name() -> None:
    header = samples.header()
    bar = HeaderBar(HeaderInfo(header.profile, colour="#c00000"))
    async with running(Stage(bar)):
        styles = {segment.text: segment.style for segment in bar.render_line(0)}
        style = styles["local"]
        assert style is not None
        assert style.bgcolor is not None
        assert style.bgcolor.name == "#c00000"


async def test_the_path_leads_here_and_the_filter_is_behind() -> None:
    async with running(Stage(bar := Breadcrumbs())) as (app, pilot):
        bar.show([line("Runs"), line("8f21…9b7e"), line("[b]Events")], (label_span("filter "), line("is:live")))
        await pilot.pause()
        assert lines_of(app)[0] == " Runs › 8f21…9b7e › [b]Events" + "filter is:live".rjust(50)
        await pilot.click(bar, offset=(10, 0))
        await pilot.click(bar, offset=(6, 0))
        await pilot.click(bar, offset=(70, 0))
        await pilot.pause()
        assert [message.level for message in app.told_of(Breadcrumbs.LevelClicked)] == [1]


async def test_a_filter_gets_all_the_room_that_a_short_path_leaves() -> None:
    async with running(Stage(bar := Breadcrumbs())) as (app, pilot):
        bar.show([line("Runs")], line("f" * 100))
        await pilot.pause()
        assert lines_of(app)[0] == " Runs   " + "f" * 70 + "…"


async def test_outer_levels_of_a_long_path_leave_first() -> None:
    async with running(Stage(bar := Breadcrumbs())) as (app, pilot):
        bar.show([line("a" * 40), line("b" * 40), line("c" * 30)], line("f" * 100))
        await pilot.pause()
        assert lines_of(app)[0] == " … › " + "c" * 30 + " " * 5 + "f" * 38 + "…"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (
            120,
            " enter open  / filter  y copy id  f follow  P pause  + new test  . actions"
            + " " * 28
            + ": command  ? help",
        ),
        (80, " enter open  / filter  y copy id  f follow  P pause  +2       : command  ? help"),
        (40, " enter open  +6       : command  ? help"),
        (24, " +7   : command  ? help"),
    ],
)
async def test_hints_leave_from_the_back_and_the_way_to_the_help_never_does(width: int, shown: str) -> None:
    async with running(Stage(status := StatusBar()), (120, 20)) as (app, pilot):
        status.show_hints(HINTS)
        status.styles.width = width
        await pilot.pause()
        assert lines_of(app)[0] == shown


async def test_hints_follow_the_keys_of_the_settings() -> None:
    app = Stage(status := StatusBar(), keys=KeyMap({"screen.copy": "f8", "app.help": "f1"}))
    async with app.run_test(size=(80, 20)) as pilot:
        status.show_hints(["screen.copy"])
        await pilot.pause()
        assert lines_of(app)[0] == " f8 copy id" + " " * 50 + ": command  f1 help"


async def test_a_clicked_hint_asks_for_its_action() -> None:
    async with running(Stage(status := StatusBar())) as (app, pilot):
        status.show_hints(HINTS)
        await pilot.pause()
        for x in (3, 13, 26, 54, 75, 60):
            await pilot.click(status, offset=(x, 0))
        await pilot.pause()
        asked = [message.action for message in app.told_of(HintClicked)]
        assert asked == ["list.open", "screen.filter", "screen.copy", "app.help"]
        (rest,) = app.told_of(StatusBar.RestRequested)
        assert rest.hints == (("screen.new", "new test"), ("screen.actions", "actions"))


async def test_a_prompt_shows_its_own_keys_alone() -> None:
    async with running(Stage(status := StatusBar())) as (app, pilot):
        status.show_hints(FILTER_HINTS, is_prompt=True)
        await pilot.pause()
        assert lines_of(app)[0].split() == ["enter", "apply", "tab", "complete", "esc", "clear"]


async def test_a_notice_is_in_place_of_the_hints_for_a_while() -> None:
    async with running(Stage(status := StatusBar())) as (app, pilot):
        status.show_hints(HINTS)
        status.say((label_span("copied by tmux: "), line("[x]")))
        await pilot.pause()
        assert lines_of(app)[0] == " copied by tmux: [x]" + " " * 42 + ": command  ? help"
        status.say(line("w" * 70))
        await pilot.pause()
        assert lines_of(app)[0] == " " + "w" * 70
        status.say(line(f"Model saved · next + starts a run · {'w' * 50}"))
        await pilot.pause()
        assert lines_of(app)[0].startswith(" Model saved · next + starts a run  ")
        status.clear_notice()
        await pilot.pause()
        assert lines_of(app)[0].startswith(" enter open")
