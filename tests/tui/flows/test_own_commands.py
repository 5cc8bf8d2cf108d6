"""Own commands run with the records of any list, by key or menu, and show their output where the settings say."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from runwatch.tui.flows.own_commands.run import MAX_SHOWN_LINES, CommandPane
from runwatch.tui.widgets.lists.record_table import RecordTable
from tests.support.builders import open_run
from tests.tui import noon
from tests.tui.console import KEY, Driven, console

SIZE = (160, 40)
SETTINGS = """\
[commands.show]
run = ["sh", "-c", 'cat; echo "[$1]"; env | grep ^RUNWATCH | sort', "sh", "{id}"]
key = "f6"
input = "json"

[commands.last]
run = ["sh", "-c", 'echo first; echo "seen $1"', "sh", "{record.status}"]
kinds = ["runs"]
output = "notice"

[commands.file]
run = ["sh", "-c", 'echo "$RUNWATCH_ID" >>"$1"', "sh", "{file}"]
question = "Write it down?"
output = "nothing"

[commands.fails]
run = ["sh", "-c", "echo why; exit 3"]
output = "notice"

[commands.forever]
run = ["sleep", "600"]
key = "f7"
"""


def settings(home: Path) -> str:
    return SETTINGS.replace("{file}", str(home / "written"))


async def choose(driven: Driven, name: str) -> None:
    """Choose a command in the menu."""
    await driven.reaches("Own commands", "exclamation_mark")
    await driven.click_text(f" {name} ")
    await driven.press("enter")


async def test_a_command_without_a_key_goes_on_below_itself_in_the_menu(tmp_path: Path) -> None:
    long = f'[commands.long]\nrun = ["echo", "one two{" three" * 12}"]\n'
    text = f'{long}[commands.short]\nrun = ["echo", "one"]\nkey = "f6"\n'
    async with console(noon.service(), tmp_path, size=(80, 24), settings=text) as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("Own commands", "exclamation_mark")
        first = next(row for row in driven.lines if "one two" in row)
        below = driven.lines[driven.lines.index(first) + 1]
        assert below.index(re.findall(r"\w+", below)[0]) == first.index("echo")


async def test_a_command_gets_the_record_and_none_of_our_secrets_says_how_it_ended_and_is_stopped(
    tmp_path: Path,
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings=settings(tmp_path)) as driven:
        await driven.select(noon.LIVE)
        await choose(driven, "last")
        await driven.shows("last: seen running")
        await choose(driven, "fails")
        await driven.shows("fails: exit status 3   why")
        await driven.select(noon.LIVE)
        await driven.reaches("esc stops", "f7")
        await driven.reaches("forever: stopped", "escape")
        await driven.until(lambda: not driven.app.screen.query(CommandPane), "the pane to close")
        await driven.select(noon.LIVE)
        await driven.reaches(f"[{noon.LIVE}]", "f6")
        await driven.shows("RUNWATCH_KIND=run", "RUNWATCH_PROFILE=environment", "done")
        assert f'{{"execution_id":"{noon.LIVE}"' in driven.text.replace("\n", "")
        assert KEY not in driven.text
        assert "API_KEY" not in "".join(driven.lines[1:]), "the header names where the key is from"
        await driven.press("escape")
        await driven.until(lambda: isinstance(driven.focused, RecordTable), "the list to have the focus again")
        await driven.press("question_mark", "slash")
        await driven.type("commands.forever")
        await driven.shows("forever: sleep 600")


async def test_a_question_is_asked_and_marked_rows_are_taken_one_by_one(tmp_path: Path) -> None:
    written = tmp_path / "written"
    async with console(noon.service(), tmp_path, size=SIZE, settings=settings(tmp_path)) as driven:
        for run_id in (noon.DONE, noon.LIVE):
            await driven.select(run_id)
            await driven.press("space")
        await choose(driven, "file")
        await driven.shows("Write it down?   2 runs", f"{tmp_path}/written", "and the same for 1 more")
        await driven.press("enter")
        await driven.hides("Write it down?")
        assert not written.exists(), "the cursor begins on No"
        await choose(driven, "file")
        await driven.shows("Write it down?")
        await driven.reaches("file: done with 2 records", "down", "enter")
        assert written.read_text().split() == [noon.LIVE, noon.DONE]


async def test_a_question_shows_the_words_that_will_run(tmp_path: Path) -> None:
    ask = '[commands.ask]\nrun = ["true", "t={id:url}&s={record.status}"]\nquestion = "Sure?"\nkey = "f6"\n'
    async with console(noon.service(), tmp_path, size=SIZE, settings=ask) as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("Sure?", "f6")
        await driven.shows(f"true 't={noon.LIVE}&s=running'")
        assert "{" not in driven.text


@pytest.mark.exhaustive
async def test_output_is_shown_as_it_comes_and_a_cursor_at_its_end_follows_it(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    slow = f'[commands.slow]\nrun = ["sh", "-c", "seq -f line%g 60; cat \'{fifo}\'"]\nkey = "f6"\n'
    async with console(noon.service(), tmp_path, size=SIZE, settings=slow) as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("line60", "f6")
        assert "esc stops" in driven.text
        for keys, first, last in (((), False, True), (("g",), True, False)):
            await driven.press(*keys)
            # The program waits for its reader: neither end is open before the other one.
            await asyncio.to_thread(fifo.write_text, "the rest\n")
            await driven.shows("done")
            assert ("line1 " in driven.text, "the rest" in driven.text) == (first, last)
            await driven.press("escape")
            await driven.reaches("line60", "f6")
        await driven.press("escape")


@pytest.mark.exhaustive
async def test_a_long_output_scrolls_and_ends_with_what_is_left_out(tmp_path: Path) -> None:
    long = f'[commands.long]\nrun = ["seq", "{MAX_SHOWN_LINES + 5}"]\nkey = "f6"\n'
    async with console(noon.service(), tmp_path, size=SIZE, settings=long) as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("done", "f6")
        await driven.reaches("5 more lines; the pager shows them", "G")
        last = next(number for number, row in enumerate(driven.lines) if "5 more lines" in row)
        assert "━━━" in driven.lines[last + 1], "the list fills its frame"


async def test_an_id_that_would_be_an_option_runs_nothing_and_the_way_out_is_reported(tmp_path: Path) -> None:
    service = noon.service()
    service.runs[0] = dict(open_run("--help", "running").raw)
    touch = f'[commands.touch]\nrun = ["touch", "{tmp_path}/ran", "{{id}}"]\nkey = "f6"\n'
    async with console(service, tmp_path, size=SIZE, settings=touch) as driven:
        await driven.select("--help")
        await driven.reaches('Put the word "--" before it in run', "f6")
        assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("screen", "kind"), [("models", "model"), ("problems", "problem"), ("arms", "arm")])
async def test_commands_are_there_for_every_list_that_they_name(screen: str, kind: str, tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings=settings(tmp_path), open_at=screen) as driven:
        await driven.press("exclamation_mark")
        rows = driven.table.rows
        if rows:
            await driven.shows("forever")
            assert "last" not in driven.text
        else:
            await driven.shows("No row is selected.")


@pytest.mark.exhaustive
async def test_a_key_of_an_action_is_refused_with_its_name(tmp_path: Path) -> None:
    taken = '[commands.one]\nrun = ["true"]\nkey = "$"\n[commands.two]\nrun = ["true"]\nkey = "f6"\n'
    clash = '[commands.three]\nrun = ["true"]\nkey = "f6"\nkinds = ["runs"]\n'
    async with console(noon.service(), tmp_path, size=SIZE, settings=taken + clash) as driven:
        await driven.shows("the command one: $ belongs to screen.spend")
        await driven.shows("the command three: f6 belongs to the command two")


@pytest.mark.exhaustive
async def test_a_key_of_a_command_for_other_lists_says_which(tmp_path: Path) -> None:
    other = '[commands.ticket]\nrun = ["true"]\nkey = "f6"\nkinds = ["problems", "arms"]\n'
    async with console(noon.service(), tmp_path, size=SIZE, settings=other) as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("the command ticket is for problems, arms", "f6")


async def test_the_console_without_own_commands_says_how_to_add_one(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(80, 24)) as driven:
        await driven.reaches("No own commands here: see runwatch help settings.", "exclamation_mark")
