"""Lists too long to be made at once: no row is lost or doubled, even when interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.api import client
from runwatch.api.decoding import decoder, item_stream
from runwatch.base import memory
from runwatch.base.json import dumps
from runwatch.records.receipt import Receipt
from runwatch.store.state import reducer, store
from runwatch.tui.core import time_slices
from runwatch.tui.flows.exports import export_to_named_file
from runwatch.tui.screens.base.list_screen import ListScreen
from runwatch.tui.sources import list_model
from runwatch.view.table import row_search, rows
from runwatch.view.table.rows import RecordRow
from tests.support.builders import account
from tests.support.packed_records import is_packed
from tests.support.receipts import echo_receipt
from tests.support.scripted import Said, ScriptedService
from tests.tui.console import Driven, console
from tests.tui.frames import sheets_read_once
from tests.tui.pauses import whole_pauses

BIG: Final = 20_000
MANY: Final = 200
"""Receipts of a list that counts as long here: everything that makes a list long is a hundredth of what it is."""


@pytest.fixture(scope="module", autouse=True)
def _quick_consoles() -> Iterator[None]:
    with sheets_read_once(), whole_pauses():
        yield


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (client, "SLICED_DECODE_BYTES", BIG), (item_stream, "WINDOW", 4_000), (decoder, "_PIECE", 10_000),
        (decoder, "SLICE_S", 0.0),
        (store, "MAX_SYNC_RECORDS", 50), (reducer, "STEP", 20), (memory, "STEP", 20),
        (rows, "STEP", 20), (row_search, "SEARCH_STEP_ROWS", 10), (list_model, "MAX_SYNC_ROWS", 50),
        (list_model, "MAX_SYNC_SEARCH_ROWS", 10), (time_slices, "SLICE_S", 0.0),
    ):  # fmt: skip
        assert hasattr(module, name)
        monkeypatch.setattr(module, name, value)


class Held:
    """Work on rows that waits until it is told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._may_go_on = asyncio.Event()
        original = time_slices.run_row_steps

        async def held(*args: Any, **more: Any) -> Any:
            await self._may_go_on.wait()
            return await original(*args, **more)

        monkeypatch.setattr(list_model, "run_row_steps", held)

    def go_on(self) -> None:
        self._may_go_on.set()


def body(numbers: range, status: str = "completed") -> bytes:
    """A list of receipts in one answer, the newest first."""
    text = dumps(dict(echo_receipt("ex_NUMBER", status=status, created_at="2026-11-20T10:00:00Z").raw))
    return ('{"receipts":[' + ",".join(text.replace("NUMBER", str(number)) for number in numbers) + "]}").encode()


def service(*answers: bytes) -> ScriptedService:
    made = ScriptedService(account=account())
    made.say("GET", "/v1/receipts", *(Said(200, answer) for answer in answers))
    return made


def screen_of(driven: Driven) -> ListScreen:
    screen = driven.app.console_screen
    assert isinstance(screen, ListScreen)
    return screen


async def lists(driven: Driven, count: int) -> list[RecordRow[Receipt]]:
    """Wait until this many receipts are listed and no work is left."""
    screen = screen_of(driven)
    await driven.until(lambda: len(screen.table.rows) == count and not screen.listing.is_under_way, f"{count} rows")
    return list(screen.listing.shown_rows)


async def test_a_long_answer_is_listed_whole_and_in_order(tmp_path: Path) -> None:
    answer = body(range(MANY))
    assert len(answer) > BIG
    async with console(service(answer), tmp_path, open_at="receipts") as driven:
        rows = await lists(driven, MANY)
        assert [row.key for row in rows] == [f"ex_{number}" for number in range(MANY)]
        await driven.shows(f"Receipts   {MANY} ")


async def test_the_records_of_a_long_list_are_kept_packed(tmp_path: Path) -> None:
    async with console(service(body(range(MANY)), body(range(-1, MANY))), tmp_path, open_at="receipts") as driven:
        for count in (MANY, MANY + 1):
            rows = await lists(driven, count)
            assert all(is_packed(row.item) for row in rows)
            assert driven.app.session is not None
            collection = driven.app.store.collection(driven.app.session.scope.profile, Receipt.KIND)
            assert [known.record for known in collection.by_id.values()] == [row.item for row in rows]
            await driven.press("r")


async def test_a_long_list_that_comes_again_is_made_of_the_same_objects(tmp_path: Path) -> None:
    async with console(service(body(range(MANY)), body(range(-1, MANY))), tmp_path, open_at="receipts") as driven:
        before = await lists(driven, MANY)
        await driven.press("r")
        after = await lists(driven, MANY + 1)
        assert after[0].key == "ex_-1"
        assert all(one is other for one, other in zip(before, after[1:], strict=True))


async def test_a_long_list_that_is_left_and_opened_again_is_made_of_the_same_rows(tmp_path: Path) -> None:
    async with console(service(body(range(MANY))), tmp_path, open_at="receipts") as driven:
        before = await lists(driven, MANY)
        await driven.press("3")
        await driven.press("2")
        after = await lists(driven, MANY)
        assert all(one is other for one, other in zip(before, after, strict=True))


@pytest.mark.exhaustive
async def test_another_long_list_takes_the_place_of_all_rows(tmp_path: Path) -> None:
    answers = body(range(MANY)), body(range(MANY, 2 * MANY), "failed")
    async with console(service(*answers), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        await driven.reaches("failed", "r")
        rows = await lists(driven, MANY)
        assert {row.subject.status for row in rows} == {"failed"}
        assert rows[0].key == f"ex_{MANY}"


async def test_a_long_list_that_becomes_a_short_one_is_short(tmp_path: Path) -> None:
    async with console(service(body(range(MANY)), body(range(3))), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        await driven.press("r")
        assert [row.key for row in await lists(driven, 3)] == ["ex_0", "ex_1", "ex_2"]


@pytest.mark.parametrize("cut", [1, 1000, 10_000], ids=["at its end", "in its last item", "in the middle"])
async def test_a_long_answer_that_breaks_off_leaves_what_was_known(tmp_path: Path, cut: int) -> None:
    answers = body(range(MANY)), body(range(MANY, 3 * MANY))[:-cut]
    async with console(service(*answers), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        await driven.reaches("cannot be used", "r")
        assert [row.key for row in await lists(driven, MANY)] == [f"ex_{number}" for number in range(MANY)]


async def test_the_cursor_stays_on_its_record_while_a_long_list_is_made_anew(tmp_path: Path) -> None:
    async with console(service(body(range(MANY)), body(range(-5, MANY))), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        await driven.press("j", "j", "j")
        assert driven.table.cursor_key == "ex_3"
        await driven.press("r")
        await lists(driven, MANY + 5)
        assert driven.table.cursor_key == "ex_3"


async def test_a_filter_typed_while_a_long_list_is_made_holds_for_what_comes(tmp_path: Path) -> None:
    async with console(service(body(range(MANY)), body(range(2 * MANY))), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        await driven.press("r")
        await driven.filter("run:ex_77")
        wanted = [key for key in (f"ex_{number}" for number in range(2 * MANY)) if key.startswith("ex_77")]
        assert [row.key for row in await lists(driven, len(wanted))] == wanted


async def test_what_is_listed_is_counted_while_its_rows_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    async with console(service(body(range(MANY))), tmp_path, open_at="receipts") as driven:
        await driven.shows(f"Receipts   0 of {MANY} ")
        assert f"listing {MANY} receipts" in driven.text
        held.go_on()
        await lists(driven, MANY)


async def test_a_screen_that_is_left_while_its_list_is_made_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    async with console(service(body(range(MANY))), tmp_path, open_at="receipts") as driven:
        assert screen_of(driven).listing.is_under_way
        await driven.reaches("Models", "3")
        held.go_on()
        await driven.press("2")
        await lists(driven, MANY)


async def test_a_long_list_is_exported_whole(tmp_path: Path) -> None:
    async with console(service(body(range(MANY))), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        file = tmp_path / "receipts.ndjson"
        export_to_named_file(screen_of(driven), str(file))
        await driven.until(file.exists, "the file")
        lines = file.read_text("utf-8").splitlines()
        assert len(lines) == MANY
        assert '"execution_id":"ex_199"' in lines[-1]


@pytest.mark.exhaustive
async def test_a_filter_that_fails_on_a_long_list_does_not_stop_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(body(range(MANY))), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        screen = screen_of(driven)

        async def fail(*_: Any, **__: Any) -> Any:
            raise RuntimeError("it broke")

        with monkeypatch.context() as broken:
            broken.setattr(list_model, "run_row_steps", fail)
            screen.filter_by("run:ex_7")
            await driven.shows("it broke")
            assert not screen.listing.is_under_way
        screen.filter_by("run:ex_19")
        assert [row.key for row in await lists(driven, 11)][:2] == ["ex_19", "ex_190"]


def mixed(numbers: range, failed: int) -> bytes:
    """A list of which every so-many-th receipt is of a failed run."""
    made = [
        body(range(number, number + 1), "failed" if number % failed == 0 else "completed")[13:-2] for number in numbers
    ]
    return b'{"receipts":[' + b",".join(made) + b"]}"


async def test_what_changes_while_a_filter_is_on_is_followed(tmp_path: Path) -> None:
    answers = mixed(range(MANY), 10), mixed(range(MANY), 4)
    async with console(service(*answers), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        screen_of(driven).filter_by("failed")
        assert [row.key for row in await lists(driven, MANY // 10)] == [f"ex_{n}" for n in range(0, MANY, 10)]
        await driven.press("r")
        assert [row.key for row in await lists(driven, MANY // 4)] == [f"ex_{n}" for n in range(0, MANY, 4)]


class Searches:
    """Searches that wait until they are told to go on, and how many rows each has to look at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
        self.sizes: list[int] = []
        self._may_go_on = asyncio.Event()
        original, search = time_slices.run_row_steps, row_search.RowSearch

        async def held(work: Any, **more: Any) -> Any:
            for _ in range(steps):
                next(work)
            more["paused"]()
            await self._may_go_on.wait()
            return await original(work, **more)

        def sized(rows: Any, *more: Any) -> Any:
            self.sizes.append(len(rows))
            return search(rows, *more)

        monkeypatch.setattr(list_model, "run_row_steps", held)
        monkeypatch.setattr(list_model, "RowSearch", sized)
        monkeypatch.setattr(list_model, "SCREENFUL_ROWS", 5)
        monkeypatch.setattr(list_model, "SHOW_FIRST_S", 0.0)

    def go_on(self) -> None:
        """Let them go on."""
        self._may_go_on.set()


async def test_rows_are_shown_as_they_are_found_and_then_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(mixed(range(MANY), 2)), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        searches = Searches(monkeypatch, steps=2)
        screen = screen_of(driven)
        screen.filter_by("failed")
        await driven.until(lambda: len(screen.table.rows) == 10, "the rows found in two steps")
        assert screen.listing.is_under_way
        searches.go_on()
        await lists(driven, MANY // 2)


@pytest.mark.exhaustive
async def test_without_a_filter_all_rows_are_there_at_once_while_a_search_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(mixed(range(MANY), 2)), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        searches = Searches(monkeypatch, steps=0)
        screen = screen_of(driven)
        screen.filter_by("failed")
        was_arranging = screen.listing.is_under_way
        screen.filter_by("")
        assert (was_arranging, screen.listing.is_under_way, len(screen.table.rows)) == (True, False, MANY)
        searches.go_on()
        await driven.press("j")
        assert len(await lists(driven, MANY)) == MANY


async def test_typing_on_searches_only_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(service(mixed(range(MANY), 2)), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        searches = Searches(monkeypatch, steps=0)
        searches.go_on()
        screen = screen_of(driven)
        for text, count in (("fail", MANY // 2), ("failed", MANY // 2), ("failed ex_1", 50 + 5), ("ex_1", 111)):
            screen.filter_by(text)
            await lists(driven, count)
        assert searches.sizes == [MANY, MANY // 2, MANY // 2, MANY]


@pytest.mark.exhaustive
async def test_a_word_that_gets_shorter_keeps_what_it_has_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(mixed(range(MANY), 2)), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        screen = screen_of(driven)
        screen.filter_by("failed")
        await lists(driven, MANY // 2)
        searches = Searches(monkeypatch, steps=2)
        monkeypatch.setattr(list_model, "SHOW_AGAIN_S", 0.0)
        screen.filter_by("e")
        await driven.until(lambda: len(screen.table.rows) > MANY // 2, "rows of the shorter word")
        assert screen.listing.is_under_way
        assert {row.key for row in screen.listing.shown_rows} > {f"ex_{number}" for number in range(0, MANY, 2)}
        searches.go_on()
        await lists(driven, MANY)


@pytest.mark.exhaustive
async def test_a_filter_that_is_closed_while_it_searches_says_so_and_shows_no_other_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(body(range(MANY))), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        searches = Searches(monkeypatch, steps=2)
        monkeypatch.setattr(list_model, "SHOW_AGAIN_S", 0.0)
        await driven.filter("quixpro")
        await driven.shows(f"searching {MANY} receipts", "searching…  newest first")
        assert not screen_of(driven).table.rows
        searches.go_on()
        await driven.shows(f"0 of {MANY} match quixpro")
        assert "searching" not in driven.text


async def test_another_order_says_that_its_rows_are_still_to_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(service(body(range(MANY))), tmp_path, open_at="receipts") as driven:
        await lists(driven, MANY)
        held = Held(monkeypatch)
        await driven.reaches("sorting…  sort ", "s")
        held.go_on()
        await lists(driven, MANY)
        await driven.hides("sorting…")
