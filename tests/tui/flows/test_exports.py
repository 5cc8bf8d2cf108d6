"""The rows of any list are written to a file that is whole, private and named."""

from __future__ import annotations

import csv
import io
import re
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from runwatch.base.files import write_export
from runwatch.base.json import loads
from runwatch.records.arm import Arm
from runwatch.tui.screens.runs.runs import RunsScreen
from tests.support import resources
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.app.test_file_opening import opened
from tests.tui.console import NARROW, WIDE, Driven, console

NAME = "receipts-20261121-120431"


def exports(home: Path) -> Path:
    return home / "runwatch-data" / "exports"


async def exported(driven: Driven, file: Path) -> str:
    """The content of a file that is being written."""
    await driven.until(file.exists, f"{file} to be written")
    return file.read_text("utf-8")


async def test_all_rows_that_are_shown_are_written_with_two_keys(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await driven.reaches("all 6 listed receipts: one record a line", "e")
        assert "a row a slice; unformatted values" in driven.text
        await driven.press("enter")
        text = await exported(driven, exports(tmp_path) / f"{NAME}.ndjson")
        listed = sorted(driven.service.receipts, key=lambda one: str(one.get("created_at")), reverse=True)
        assert [loads(row) for row in text.splitlines()] == listed
        await driven.until(lambda: f"{NAME}.ndjson" in driven.text.replace("\n", ""), "the file to be named")


async def test_the_file_is_for_this_user_alone_and_its_whole_name_is_said(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=NARROW, open_at="receipts", until="Receipts   6") as driven:
        await driven.press("e", "enter")
        file = exports(tmp_path) / f"{NAME}.ndjson"
        await exported(driven, file)
        await driven.shows("written: 6 receipts, in a new directory")
        assert str(file) in "".join(row.strip() for row in driven.lines)
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.exhaustive
async def test_a_long_export_is_told_until_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()

    def slowly(path: Path, pieces: Iterable[bytes]) -> None:
        goes_on.wait()
        write_export(path, pieces)

    monkeypatch.setattr("runwatch.tui.flows.exports.write_file", slowly)
    async with console(noon.service(), tmp_path, size=WIDE, open_at="receipts") as driven:
        try:
            await driven.shows("Receipts   6")
            await driven.press("e", "enter")
            await driven.pass_time(20)
            await driven.shows("writing 6 receipts to")
        finally:
            goes_on.set()
        await driven.hides("writing 6 receipts to")
        await driven.shows(f"{NAME}.ndjson")


@pytest.mark.exhaustive
async def test_exports_of_one_second_get_names_of_their_own_and_marked_rows_go_alone(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        for name in (NAME, f"{NAME}-2", f"{NAME}-3"):
            await driven.press("e", "enter")
            await exported(driven, exports(tmp_path) / f"{name}.ndjson")
        await driven.reaches("2 marked receipts: one record a line", "space", "down", "space", "e")
        await driven.press("down", "enter")
        rows = list(csv.reader(io.StringIO(await exported(driven, exports(tmp_path) / f"{NAME}.csv"))))
        assert rows[0][0] == "execution_id"
        assert [row[0] for row in rows[1:]] == [noon.TEST, noon.FALLBACK]


async def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("precious", "utf-8")
    async with console(noon.service(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   6") as driven:
        await driven.say(f"export {tmp_path}/mine.csv")
        await driven.shows("already exists")
        assert (tmp_path / "mine.csv").read_text("utf-8") == "precious"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine.txt", "A file to export to ends in .ndjson, .csv, .json, .md."),
        ("settings.toml/x.csv", "cannot be written"),
        ("missing/x.csv", "There is no directory"),
    ],
)
async def test_what_cannot_be_written_says_why(tmp_path: Path, name: str, words: str) -> None:
    async with console(noon.service(), tmp_path, size=(200, 50), settings="\n", open_at="receipts") as driven:
        await driven.shows("Receipts   6")
        await driven.say(f"export {tmp_path}/{name}")
        await driven.shows(words)


async def test_every_resource_is_exported_the_same_way(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=WIDE, open_at="runs", until="Runs   9") as driven:
        await driven.reaches("all 9 listed runs: one record a line", "e")
        assert "a row a record; unformatted values" in driven.text
        await driven.press("enter")
        text = await exported(driven, exports(tmp_path) / "runs-20261121-120431.ndjson")
        assert len(text.splitlines()) == 9


@pytest.mark.exhaustive
async def test_records_are_called_as_their_screen_calls_them(tmp_path: Path) -> None:
    service, arms = noon.service(), [dict(resources.arm(id).raw) for id in ("arm_1", "arm_2")]
    service.say("GET", Arm.WIRE.path, Said(200, {Arm.WIRE.items: arms, "next_cursor": None}))
    async with console(service, tmp_path, size=WIDE, open_at="arms", until="Saved models   2") as driven:
        await driven.reaches("all 2 listed saved models: one record a line", "e")


async def test_the_events_of_a_run_are_written_from_its_detail_as_a_file_that_is_replayed(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=WIDE, open_at="runs") as driven:
        await driven.select(noon.LIVE)
        await driven.press("enter")
        await driven.shows("8 events")
        await driven.reaches(re.compile("events of [^ ]*: one a line"), "e")
        await driven.press("enter")
        text = await exported(driven, exports(tmp_path) / "events-20261121-120431.ndjson")
        assert [loads(row) for row in text.splitlines()] == [dict(each.raw) for each in noon.live_events()]
    async with opened(tmp_path, text) as driven:
        await driven.shows("Events   8")
        await driven.settle()
        await driven.reaches("REPLAY", "m")


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", ["replay", "wall", "follow all"])
async def test_the_events_of_a_run_are_written_from_every_view_of_them(tmp_path: Path, place: str) -> None:
    key = {"replay": "m", "wall": "*", "follow all": "L"}[place]
    async with console(noon.service(), tmp_path, size=WIDE, open_at="runs") as driven:
        await driven.select(noon.LIVE)
        await driven.press(key)
        await driven.until(lambda: not isinstance(driven.app.screen, RunsScreen), "the view")
        await driven.until(lambda: bool(driven.focused), "the focus")
        await driven.settle()
        await driven.reaches(re.compile("events of [^ ]*: one a line"), "e")


async def test_an_empty_list_has_nothing_to_export(tmp_path: Path) -> None:
    async with console(ScriptedService(), tmp_path, size=WIDE, open_at="receipts", until="Receipts   0") as driven:
        await driven.reaches("No rows to export.", "e")
        assert not exports(tmp_path).exists()
