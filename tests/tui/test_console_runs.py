"""What operators do all day: look, filter, open, follow, start, cancel. Keys and mouse, wide and narrow."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.widget import Widget

from runwatch.base.errors import DataError
from runwatch.base.json import loads
from runwatch.records.receipt import Receipt
from runwatch.records.run import Run
from runwatch.store.repositories.event_sequence import RunSequence
from runwatch.tui.core.rendering import to_spans
from runwatch.tui.flows.record_menus import run_named_action
from runwatch.tui.flows.runs.run_form import RunFormScreen
from runwatch.tui.screens.reports.receipts import ReceiptsScreen
from runwatch.tui.screens.runs.runs import RunsScreen
from runwatch.tui.sources import list_model
from runwatch.tui.sources.record_loader import store_record
from runwatch.tui.widgets.inputs.line_input import LineInput
from runwatch.tui.widgets.lists.detail_view import DetailView
from runwatch.tui.widgets.lists.event_log import EventLog
from runwatch.tui.widgets.lists.record_table import RecordTable
from runwatch.tui.widgets.panes.confirm_dialog import ConfirmDialog
from tests.support.builders import event, problem, result
from tests.support.receipts import live_receipt
from tests.support.resources import api_key, arm
from tests.support.scripted import Said
from tests.tui import noon
from tests.tui.console import NARROW, Driven, console
from tests.tui.golden import check_golden
from tests.tui.samples import NOON

SIZE = (120, 30)


class Growing:
    """Events that a test adds to while the console reads them."""

    def __init__(self, events: Sequence[Any]) -> None:
        self.listed = [dict(event.raw) for event in events]

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        ids = [event["event_id"] for event in self.listed]
        return self.listed[ids.index(after) + 1 :] if after in ids else self.listed

    def add(self, number: int, state: str = "progress") -> None:
        self.listed.append(dict(event(number, state, execution_id=noon.LIVE, at=noon.at(0)).raw))


def many_events(count: int) -> list[Any]:
    """This many events of the live run."""
    return [event(number, "progress", execution_id=noon.LIVE, at=noon.at(count - number)) for number in range(count)]


async def on_run(driven: Driven, run_id: str) -> None:
    """Put the cursor on a run, and let the detail follow."""
    await driven.select(run_id)
    screen: Any = driven.app.screen
    await driven.until(lambda: screen._shown == run_id, "the detail to follow")
    await driven.settle()


def status_line(driven: Driven) -> str:
    return driven.lines[-1]


async def on_held_dialog(driven: Driven) -> None:
    """Confirm a run while a 429 holds everything for another 23 seconds."""
    await driven.press("plus")
    await driven.type("Say hello.")
    await driven.review()
    driven.session.client.gate.close(None, 23)
    await driven.reaches("[ Do not start it ]", "tab", "enter")
    await driven.shows("rate limited (429)")


# Looking.


def has_focus(driven: Driven, kind: type[Widget]) -> bool:
    return isinstance(driven.focused, kind)


async def test_the_list_shows_live_runs_first_and_the_detail_follows_the_cursor_after_a_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="77ab") as driven:
        order = [row.key for row in driven.table.rows]
        assert order[:3] == [noon.QUEUED, noon.LIVE, noon.HOVERING]
        await driven.shows("─ 77ab…02d1")
        # A list that is read later moves the cursor once more.
        await driven.settle()
        await driven.until(lambda: driven.app.screen._debounce is None, "the cursor to rest")  # type: ignore[attr-defined]
        monkeypatch.setattr("runwatch.tui.screens.base.resource_screen.DEBOUNCE_S", 3600.0)
        await driven.press("j", "j")
        await driven.until(lambda: driven.app.screen._debounce is not None, "the cursor to move")  # type: ignore[attr-defined]
        driven.app.console_screen.data_changed(frozenset({Run.KIND}))
        await driven.settle()
        # Events of the run that is shown may come meanwhile.
        driven.app.screen.show_tail()  # type: ignore[attr-defined]
        await driven.pilot.pause()
        assert "─ 77ab…02d1" in driven.text
        monkeypatch.setattr("runwatch.tui.screens.base.resource_screen.DEBOUNCE_S", 0.01)
        await driven.reaches("─ 8f21…9b7e  ● running", "k")
        await driven.shows("your check acc")
        assert isinstance(driven.focused, RecordTable)


@pytest.mark.exhaustive
async def test_a_second_that_ends_before_the_second_pane_is_filled_leaves_its_events_in_sight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = RunsScreen.show_detail

    def draw_after_a_second(screen: RunsScreen) -> None:
        screen.show_tail()
        draw(screen)

    monkeypatch.setattr(RunsScreen, "show_detail", draw_after_a_second)
    service = noon.service()
    service.runs[:] = [run for run in service.runs if run["execution_id"] == noon.LIVE]
    async with console(service, tmp_path, size=SIZE, until=" events · heard") as driven:
        await driven.press("2")
        await driven.hides(" events · heard")
        await driven.reaches(" events · heard", "1")


async def test_the_last_line_offers_what_can_be_done_with_what_is_in_focus(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=NARROW) as driven:
        await on_run(driven, noon.DONE)
        await driven.shows(" enter open  / filter  A again  y copy id")
        await driven.reaches(" enter event  > next tab  esc list  / filter  A again", "enter")
        await driven.press("escape")
        await driven.filter("zzzz")
        await driven.shows(" / filter  esc clear filter  + new run  L follow all")
        assert not {"enter", "y copy id"} & set(status_line(driven).split("  "))
        await driven.press("full_stop")
        await driven.hides("Open this row.")


@pytest.mark.exhaustive
async def test_what_happened_around_a_run_is_asked_for_with_its_time(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.DONE)
        await driven.press("at")

        def shown() -> tuple[str, str]:
            view = driven.app.history.present
            return ("", "") if view is None else (view.screen, view.filter)

        await driven.until(lambda: shown() == ("around", "2026-11-21T11:58:31.000Z"), "the activity to open")


@pytest.mark.exhaustive
async def test_cancelling_tells_what_the_run_is_and_how_many_marked_ones_have_ended(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.DONE)
        await driven.press("space")
        await driven.select(noon.LIVE)
        await driven.reaches("2 marked", "space")
        await driven.reaches("Cancels run 8f21…9b7e (● running, ", "X")
        words = " ".join(driven.text.replace("┃", " ").split())
        assert "USD spent). A provider call already under way" in words
        assert "1 marked run has ended and is left out." in words


@pytest.mark.exhaustive
async def test_a_kept_draft_says_so_and_q_leaves_the_form_for_the_runs(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.press("plus")
        await driven.type("Say hello.")
        await driven.until(lambda: bool(driven.app.run_drafts), "the draft to be kept")
        await driven.opens(RunsScreen, "escape")
        await driven.reaches("Kept from before", "plus")
        screen = driven.app.screen
        assert isinstance(screen, RunFormScreen)
        assert screen.fields.values()["objective"] == "Say hello."
        await driven.type("Bye")
        assert screen.fields.values()["objective"] == "Bye"
        await driven.press("ctrl+u")
        assert screen.fields.values()["objective"] == ""
        driven.app.screen.query_one("#leave").focus()
        await driven.opens(RunsScreen, "q")
        assert driven.app.is_running


@pytest.mark.exhaustive
async def test_the_dialog_that_cancels_a_run_which_has_ended_meanwhile_only_closes(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.reaches("(● running, ", "X")
        stored = driven.session.store.collection(driven.session.scope.profile, Run.KIND).by_id[noon.LIVE]
        store_record(driven.session, Run({**stored.record.raw, "status": "completed"}))
        driven.app._tick()
        await driven.shows("(✓ completed, ", "There is nothing left to cancel.")
        await driven.press("f9")
        await driven.opens(RunsScreen, "enter")
        assert driven.service.requests("POST") == []


async def test_every_view_of_a_run(tmp_path: Path) -> None:
    async with console(noon.service(results={noon.DONE: result(noon.DONE)}), tmp_path, size=(120, 44)) as driven:
        await on_run(driven, noon.DONE)
        await driven.press("enter", "z")
        for tab in ("summary", "timeline", "policy", "result", "receipt", "raw"):
            await driven.press("greater_than_sign")
            await driven.settle()
            await driven.hides("reading…")
            if tab == "summary":
                # The receipt is known before; the events are read from the disk.
                await driven.shows("Work began.")
            check_golden(f"120x44/run-{tab}", driven.text)


@pytest.mark.exhaustive
async def test_a_result_that_is_no_whole_answer_says_so_above_the_text(tmp_path: Path) -> None:
    service = noon.service(results={noon.DONE: result(noon.DONE)})
    done = next(run for run in service.runs if run["execution_id"] == noon.DONE)
    done["slices"] = [{**part, "finish_reason": "length"} for part in done["slices"]]
    async with console(service, tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.DONE)
        for _ in range(4):
            await driven.press("greater_than_sign")
        await driven.shows("final_text")
        above, _, _ = driven.text.partition("final_text")
        assert "The output was cut at the limit of output tokens." in above


@pytest.mark.exhaustive
async def test_the_result_of_a_run_that_did_not_complete_is_not_asked_for(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.FALLBACK)
        for _ in range(4):
            await driven.press("greater_than_sign")
        await driven.shows("Only a completed run has a result. It failed.")
        await driven.shows("No saved model that could be tried gave an output", "or save a further model")
        await driven.settle()
        assert driven.service.requests("GET", f"/v1/executions/{noon.FALLBACK}/result") == []


async def test_the_result_tab_of_an_expired_run_says_why_and_what_to_do(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.EXPIRED)
        for _ in range(4):
            await driven.press("greater_than_sign")
        await driven.shows("It expired.", "waited in the queue for all of its", "with a higher runtime cap")


async def test_the_receipt_and_the_result_of_a_run_are_asked_for_once_however_long_the_user_looks(
    tmp_path: Path,
) -> None:
    async with console(noon.service(receipts=[]), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.DONE)
        await driven.reaches("reads it again", "enter", "z", "less_than_sign", "less_than_sign")
        for _ in range(5):
            await driven.pass_time(2)
        assert len(driven.service.requests("GET", f"/v1/receipts/{noon.DONE}")) == 1
        assert len(driven.service.requests("GET", f"/v1/executions/{noon.DONE}/result")) == 0
        driven.service.receipts.append(dict(noon.receipts()[3].raw))
        await driven.reaches("contoso/atlas-12b", "r")


@pytest.mark.exhaustive
async def test_leaving_the_screen_ends_the_reading_of_the_tail(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.press("2")
        await driven.comes("Receipts hold neither")
        await driven.pass_time(3)
        before = len(driven.service.requests("GET", ".*/events"))
        await driven.pass_time(10)
        assert len(driven.service.requests("GET", ".*/events")) == before
        await driven.reaches("8f21", "1")
        listed = len(driven.service.requests("GET", "/v1/receipts"))
        await driven.pass_time(65)
        assert len(driven.service.requests("GET", "/v1/receipts")) == listed


async def test_a_run_is_opened_from_the_command_line(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, open_at=f"runs/{noon.CANCELLED}") as driven:
        await driven.shows("Runs › 2b07…55e3")
        await driven.until(lambda: isinstance(driven.focused, EventLog), "the tail to have the focus")


async def test_a_screen_that_does_not_exist_leads_to_the_runs_and_is_reported(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, open_at="nothing/x") as driven:
        await driven.shows("There is no screen named nothing", "8f21")


async def test_a_receipt_leads_to_its_run_and_the_run_to_its_receipt(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(120, 60), open_at=f"receipts/{noon.DONE}") as driven:
        await driven.shows("Receipts › 3fd2…9911")
        await driven.until(lambda: isinstance(driven.focused, DetailView), "the detail to have the focus")
        view: Any = driven.focused
        view.move_cursor(next(at for at, row in enumerate(view._rows) if row.target == ("run", noon.DONE)))
        await driven.reaches("Runs › 3fd2…9911", "enter")


# Filtering and sorting.


async def test_a_filter_works_while_it_is_typed_and_is_taken_away_or_put_aside(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await driven.press("slash")
        await driven.type("is:live")
        await driven.shows("3 of 9", "3/9")
        await driven.type(" /[")
        await driven.shows("✗")
        field = driven.app.screen.query_one("#filter LineInput", LineInput)
        assert field.has_class("-invalid")
        await driven.hides("3 of 9")
        await driven.press("backspace", "backspace", "backspace", "enter")
        assert isinstance(driven.focused, RecordTable)
        assert "filter is:live" in driven.text
        await driven.press("escape")
        await driven.hides("filter is:live")
        assert "3 of 9" not in driven.text
        await driven.press("slash")
        await driven.type("nothing-has-this")
        await driven.shows("0 of 9 match nothing-has-this")
        await driven.press("escape")
        await driven.hides("match nothing-has-this")
        assert isinstance(driven.focused, RecordTable)
        assert len(driven.table.rows) == 9
        await driven.filter("status=failed")
        await driven.until(lambda: len(driven.table.rows) == 2, "the filter to work")
        await driven.press("backslash")
        assert len(driven.table.rows) == 9
        assert "(off)" in driven.text
        await driven.press("backslash")
        assert len(driven.table.rows) == 2


async def test_sorting_by_the_next_column_and_turning_the_order_round_keep_the_cursor_on_its_run(
    tmp_path: Path,
) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await on_run(driven, noon.CANCELLED)
        await driven.press("S")
        assert driven.table.rows[0].key == noon.EXPIRED
        assert "oldest first" in driven.text
        await driven.click_text("status ")
        assert "sort status ▲" in driven.text
        assert driven.table.rows[0].key == noon.CANCELLED
        assert driven.table.cursor_key == noon.CANCELLED


@pytest.mark.exhaustive
async def test_the_frame_names_the_column_of_the_order_even_one_not_shown_and_which_time_if_there_are_several(
    tmp_path: Path,
) -> None:
    service = noon.service()
    key = api_key(display_name="a key of a colleague", last_used_at="2026-11-01T00:00:00Z")
    service.say("GET", "/v1/api-keys", Said(200, {"api_keys": [key.raw]}))
    async with console(service, tmp_path, size=(80, 24), until="8f21") as driven:
        driven.table.post_message(RecordTable.SortRequested("provider", reverse=False))
        await driven.shows("sort provider ▲")
        assert "provider" not in driven.table.shown_columns
        await driven.app.go_to("keys")
        await driven.comes("a key of a colleague")
        assert "created" not in driven.table.shown_columns
        await driven.comes("━ created, newest first ━")
        driven.table.post_message(RecordTable.SortRequested("used", reverse=False))
        await driven.shows("sort last used ▼")
        await driven.press("S")
        await driven.shows("sort last used ▲")


# The mouse, and windows of every width.


@pytest.mark.exhaustive
async def test_a_filter_without_a_match_leaves_nothing_of_the_run_in_the_detail(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        screen = driven.app.screen
        assert isinstance(screen, RunsScreen)
        await driven.until(lambda: bool(screen.run_detail.event_log.empty_text), "the state of the events")
        await driven.filter("nothing-has-this")
        await driven.shows("nothing selected")
        assert not screen.run_detail.event_log.empty_text


async def test_a_queued_run_says_what_it_waits_for(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(200, 50), until="8f21") as driven:
        await driven.shows("live 3 (1 queued)")
        await on_run(driven, noon.QUEUED)
        screen: Any = driven.app.screen
        screen.run_detail.choose("summary")
        await driven.comes("for its turn in the queue")


@pytest.mark.exhaustive
async def test_counts_that_outgrow_the_border_have_signs_for_words_and_none_is_lost(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(80, 24), until="8f21") as driven:
        screen = driven.app.screen
        assert isinstance(screen, RunsScreen)
        counts = {"live": 40, "failed": 1_204, "expired": 312, "cancelled": 88, "done": 3_412, "queued": 7}

        def shown(**more: int) -> str:
            screen._counted = screen.listing.shown_rows, counts | more
            return "".join(text for text, _ in to_spans(screen.counters().forms[0]))

        assert shown(expired=0, cancelled=0) == "live 40 (7 queued) · failed 1,204 · done 3,412"
        assert shown() == "● 40 (7 queued) · ✗ 1,204 · ◷ 312 · ⊘ 88 · ✓ 3,412"
        large = shown(live=40_000, failed=120_400, done=134_120)
        assert large == "● 40,000 · ✗ 120,400 · ◷ 312 · ⊘ 88 · ✓ 134,120"
        # Behind an opened run they have the form with which the list comes back.
        await driven.press("enter")
        await driven.until(lambda: not driven.table.size.width, "the run to cover the list")
        assert shown(expired=0, cancelled=0) == "live 40 (7 queued) · failed 1,204 · done 3,412"
        assert shown() == "● 40 (7 queued) · ✗ 1,204 · ◷ 312 · ⊘ 88 · ✓ 3,412"


async def test_a_click_selects_a_row_and_a_second_one_opens_it(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, until="fallback_exhausted") as driven:
        await driven.click_text("fallback_exhausted")
        assert driven.table.cursor_key == noon.FALLBACK
        assert isinstance(driven.focused, RecordTable)
        await driven.click_text("fallback_exhausted", times=2)
        await driven.until(lambda: isinstance(driven.focused, EventLog), "the run to open")
        assert "Runs › 5c9d…80b1" in driven.text
        await driven.click_text("Summary")
        await driven.shows("fallback_exhausted  (run)")
        await driven.click_text("Runs ›")
        await driven.hides("Runs ›")


async def test_the_summary_quotes_the_provider_of_a_failed_call_though_the_list_leaves_it_out(tmp_path: Path) -> None:
    failed = {"attempt": 1, "arm_id": "arm_1", "outcome": "failed", "failure_kind": "request_refused", "usd": 0}
    receipts = [
        Receipt({**one.raw, "slices": [{**one.raw["slices"][0], "attempts": [failed]}]})
        if one.id == noon.FALLBACK
        else one
        for one in noon.receipts()
    ]
    (listed,) = (one for one in noon.runs() if one.id == noon.FALLBACK)
    service = noon.service(receipts=receipts)
    error = {"attempt": 1, "at": noon.at(305), "http_status": 400, "message": "no such model"}
    service.say("GET", f"/v1/executions/{noon.FALLBACK}", Said(200, {**listed.raw, "provider_errors": [error]}))
    async with console(service, tmp_path, size=(160, 40)) as driven:
        await on_run(driven, noon.FALLBACK)
        await driven.press("enter")
        await driven.click_text("Summary")
        await driven.shows('The provider answered 400: "no such model".')
        await driven.shows("call 1 at 2026-11-21T11:59:26.000Z: the provider")


async def test_the_menu_leads_to_the_connection_of_a_run_whose_receipt_was_not_read(tmp_path: Path) -> None:
    service = noon.service(receipts=[])
    receipt = live_receipt(execution_id=noon.FALLBACK)
    service.say("GET", f"/v1/receipts/{noon.FALLBACK}", Said(200, dict(receipt.raw)))
    async with console(service, tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.FALLBACK)
        screen: Any = driven.app.screen
        assert screen.row.subject.receipt is None
        run_named_action(screen, "connection", screen.own_actions())
        await driven.until(lambda: getattr(driven.app.present_view, "screen", "") == "sources", "the connections")


async def test_a_run_that_found_no_model_reads_which_one_is_degraded(tmp_path: Path) -> None:
    said = noon.service()
    grants = ["sandbox", "public", "tenant_internal"]
    degraded = arm("arm_1", "degraded", data_class_grants=grants, status_reason="Test it: runwatch sources test c1")
    said.say("GET", "/v1/arms", Said(200, {"arms": [dict(degraded.raw)], "next_cursor": None}))
    async with console(said, tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.NO_ARM)
        await driven.press("enter")
        await driven.click_text("Summary")
        await driven.shows("(arm_1) is degraded: Test it:")


async def test_a_narrow_window_shows_the_list_or_the_run(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=NARROW, until="9b7e") as driven:
        assert "Summary" not in driven.text
        await on_run(driven, noon.LIVE)
        await driven.reaches("Summary", "enter")
        assert "model " not in driven.text
        assert has_focus(driven, EventLog)
        await driven.press("escape")
        assert "model " in driven.text
        assert has_focus(driven, RecordTable)
        await driven.pilot.resize_terminal(120, 30)
        await driven.shows("Summary", "model ")


@pytest.mark.exhaustive
async def test_tab_leaves_every_input_of_a_form_and_no_prompt(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await driven.press("slash", "tab")
        assert isinstance(driven.focused, LineInput)
        await driven.opens(RunFormScreen, "escape", "plus")
        seen = []
        for _ in range(30):
            assert driven.focused is not None
            seen.append(driven.focused.id)
            await driven.press("tab")
            if driven.focused is not None and driven.focused.id == seen[0]:
                break
        fields = {str(field.id) for field in driven.app.screen.query(LineInput)}
        assert fields <= set(seen)
        assert {"leave", "preview"} <= set(seen)
        assert len(seen) == len(set(seen))


# The tail.


async def test_new_events_appear_and_are_counted_while_the_user_looks_elsewhere(tmp_path: Path) -> None:
    growing = Growing(many_events(40))
    async with console(noon.service(events=growing), tmp_path, size=NARROW) as driven:
        await on_run(driven, noon.LIVE)
        await driven.reaches("40 events", "enter")
        await driven.shows("+0 new")
        growing.add(40)
        await driven.pass_time(2)
        await driven.shows("41 events", "follow")
        await driven.reaches("PAUSED by scrolling", "k")
        growing.add(41)
        growing.add(42)
        await driven.pass_time(4)
        await driven.shows("+2 new")
        await driven.reaches("+0 new", "G")
        assert "PAUSED" not in driven.text
        await driven.reaches("PAUSED by f", "f")


@pytest.mark.exhaustive
async def test_an_ended_run_counts_no_new_events_and_offers_no_following(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.FALLBACK)
        await driven.reaches("esc list", "enter")
        await driven.pass_time(2)
        await driven.hides("+0 new")
        assert "f follow" not in driven.text
        await on_run(driven, noon.LIVE)
        await driven.reaches("f follow", "f")
        await driven.press("greater_than_sign")
        await driven.hides("f follow")


@pytest.mark.exhaustive
async def test_events_that_came_while_another_screen_was_in_front_are_there_afterwards(tmp_path: Path) -> None:
    growing = Growing([event(1, "running", execution_id=noon.LIVE, at=noon.at(5))])
    async with console(noon.service(events=growing), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.shows("1 event")
        await driven.reaches("Request, exactly as sent", "plus")
        growing.add(2)
        growing.add(3, "completed")
        await driven.pass_time(20)
        assert driven.session.live.tails.last_update(noon.LIVE).is_complete
        await driven.reaches("3 events", "escape")
        assert "ended" in driven.text


@pytest.mark.exhaustive
async def test_enter_keeps_what_the_search_has_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(noon.service(events=Growing(many_events(6))), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.press("enter", "slash")
        await driven.type("progress")
        await driven.shows(re.compile("6 of 6 events match progress ·"))

        async def never(*_: object) -> list[int]:
            return await asyncio.Future()

        monkeypatch.setattr(RunSequence, "scan", never)
        await driven.press("enter")
        await driven.until(lambda: driven.app.screen.query_one(EventLog).has_focus, "the search to close")
        assert "6 of 6 events match progress ·" in driven.text


@pytest.mark.exhaustive
async def test_a_search_ends_where_the_events_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> list[int]:
        raise DataError("The database cannot be read")

    monkeypatch.setattr(RunSequence, "scan", broken)
    async with console(noon.service(events=Growing(many_events(6))), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.press("enter", "slash")
        await driven.type("progress")
        await driven.shows("0 of 6 events match progress ·")


async def test_a_searched_tail_says_that_it_is_one_and_counts_only_what_came_in(tmp_path: Path) -> None:
    growing = Growing(many_events(6))
    async with console(noon.service(events=growing), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.reaches("6 events", "enter")
        await driven.reaches("PAUSED", "k")
        await driven.filter("nowhere")
        await driven.shows("0 of 6 events match nowhere", "+0 new")
        await driven.press("ctrl+g")
        growing.add(6)
        growing.add(7)
        await driven.pass_time(4)
        await driven.shows("0 of 8 events match nowhere", "+2 new")
        await driven.press("slash", "escape")
        await driven.hides("nowhere")
        await driven.shows("8 events", "+2 new")


@pytest.mark.exhaustive
async def test_esc_from_a_search_goes_back_to_the_view_in_which_it_was_begun(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=NARROW) as driven:
        await on_run(driven, noon.LIVE)
        await driven.reaches("/ filter events", "enter", "greater_than_sign")
        await driven.type("/progress")
        await driven.shows("events match progress")
        await driven.reaches("/ filter events", "escape")
        await driven.reaches("8 events", "less_than_sign")


async def test_an_event_opens_in_a_drawer_and_the_drawer_closes(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=NARROW) as driven:
        await on_run(driven, noon.LIVE)
        await driven.reaches("your check accepted", "enter")
        await driven.until(lambda: has_focus(driven, EventLog), "the events to have the focus")
        await driven.reaches('"state": "customer_verdict"', "enter")
        await driven.shows("▸ 12:04:29  recorded")
        assert re.search(r"event \S+ · 8f21…9b7e · 12:04:29 ", driven.text)
        check_golden("80x24/event-drawer", driven.text)
        assert driven.lines[-1].startswith(" y copy event  esc close ")
        await driven.press("escape")
        await driven.hides("customer_verdict")
        assert isinstance(driven.focused, EventLog)


async def test_events_that_the_service_does_not_have_are_no_silence(tmp_path: Path) -> None:
    service = noon.service()
    service.say("GET", ".*/events", Said(404, problem("not_found")))
    async with console(service, tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.shows(re.compile(r"not found at .*: the service has no events"))


@pytest.mark.exhaustive
async def test_a_silence_is_drawn_where_it_was(tmp_path: Path) -> None:
    growing = Growing(noon.live_events())
    async with console(noon.service(events=growing), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.pass_time(2)
        driven.service.say("GET", ".*/events", Said(503, problem("upstream_unavailable")))
        await driven.pass_time(20)
        await driven.shows("no response at ")
        driven.service._said.clear()
        growing.add(9)
        await driven.comes("nothing lost", within_s=60)


@pytest.mark.parametrize("is_long", [False, True])
async def test_a_paused_screen_keeps_what_it_shows_also_while_rows_are_marked_and_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_long: bool
) -> None:
    if is_long:
        monkeypatch.setattr(list_model, "MAX_SYNC_ROWS", 0)
    async with console(noon.service(), tmp_path, size=SIZE, until="8f21") as driven:
        await driven.reaches("PAUSED", "P")
        driven.service.runs[1]["status"] = "completed"
        await driven.pass_time(30)
        assert re.search(r"● running +8f21", driven.text)
        await driven.reaches("1 marked", "space")
        await driven.settle()
        assert re.search(r"● running +8f21", driven.text)
        await driven.reaches("sort ", "s")
        await driven.settle()
        assert re.search(r"● running +8f21", driven.text)
        await driven.reaches(re.compile(r"✓ completed +8f21"), "P")


@pytest.mark.parametrize("merged", [False, True])
async def test_a_paused_tail_stands_still_says_so_and_counts_what_comes(tmp_path: Path, *, merged: bool) -> None:
    growing = Growing(many_events(3))
    async with console(noon.service(events=growing), tmp_path, size=NARROW) as driven:
        await on_run(driven, noon.LIVE)
        await driven.reaches("3 events", *(("space", "L") if merged else ("enter",)))
        await driven.reaches("PAUSED by P", "P")
        assert "P resume" in driven.lines[-1]
        growing.add(3)
        growing.add(4, "completed")
        await driven.comes("+2 new")
        assert "3 events" in driven.text
        assert "ended" not in driven.text
        await driven.reaches("5 events", "P")
        assert "PAUSED" not in driven.text
        assert "resume" not in driven.lines[-1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("merged", [False, True])
async def test_the_key_that_follows_resumes_a_paused_tail(tmp_path: Path, *, merged: bool) -> None:
    growing = Growing(many_events(30))
    async with console(noon.service(events=growing), tmp_path, size=NARROW) as driven:
        await on_run(driven, noon.LIVE)
        await driven.reaches("30 events", *(("space", "L") if merged else ("enter",)))
        await driven.reaches("PAUSED by P", "k", "P")
        assert ("Tail of 1 run · 1 live" in driven.text) == merged
        growing.add(40)
        await driven.comes("+1 new")
        await driven.reaches("31 events", "f")
        assert "PAUSED" not in driven.text
        assert "follow ━┓" in driven.text


async def test_a_paused_list_is_not_read_until_it_is_resumed(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, open_at="arms") as driven:

        def reads() -> int:
            return sum(heard.head.path == "/v1/arms" for heard in driven.service.heard)

        await driven.until(lambda: reads() > 0, "the list to be read")
        await driven.settle()
        await driven.press("P")
        before = reads()
        await driven.pass_time(90)
        assert reads() == before
        await driven.shows("PAUSED by P 1m ago")
        await driven.press("r")
        await driven.until(lambda: reads() > before, "the list to be read again")
        assert "PAUSED" not in driven.text


# Starting a run.


@pytest.mark.exhaustive
async def test_the_first_frame_of_the_form_has_its_title_and_marks_the_field_that_takes_the_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: list[str] = []
    async with console(noon.service(), tmp_path, until="8f21") as driven:

        def record(*_: Any, **__: Any) -> None:
            frames.append(driven.text)

        monkeypatch.setattr(Compositor, "render_update", record)
        await driven.opens(RunFormScreen, "plus")
        await driven.until(lambda: "objective" in frames[-1], "the form to be drawn")
    first = next(frame for frame in frames if "objective" in frame)
    assert "┏━ New run ━" in first
    assert [row for row in first.splitlines() if "▸" in row] == [
        next(r for r in first.splitlines() if "objective" in r)
    ]


async def test_a_test_run_is_started_through_the_form_and_the_dialog(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(120, 36), until="8f21") as driven:
        await driven.reaches("Idempotency-Key", "plus")
        await driven.until(lambda: driven.app.screen.query_one("#start").disabled, "the rules to be there")
        await driven.type("Say hello.")
        await driven.shows('"objective": "Say hello."')
        await driven.until(lambda: not driven.app.screen.query_one("#start").disabled, "the request to be valid")
        check_golden("120x36/run-form", _keyless(driven.text))
        driven.app.screen.query_one("#start").focus()
        await driven.opens(ConfirmDialog, "enter")
        assert driven.focused is not None
        assert driven.focused.id == "dialog-keep"
        check_golden("120x36/run-dialog", _keyless(driven.text))
        assert driven.service.requests("POST") == []
        await driven.reaches("Started run ex_scripted_10", "tab", "enter")
        await driven.shows("Runs › ex_…d_10")
        (sent,) = driven.service.requests("POST", "/v1/executions")
        body = loads(sent.body)
        assert body["mode"] == "echo"
        assert body["task"] == {"objective": "Say hello."}
        assert sent.head.header("idempotency-key")
        await driven.opens(RunsScreen, "enter")
        await driven.until(lambda: driven.table.cursor_key == "ex_scripted_10", "the cursor to stand on the new run")


def _keyless(text: str) -> str:
    return re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", _SOME_KEY, text)


_SOME_KEY = "7c1e9f30-0000-4000-8000-000000000000"


async def test_a_request_that_breaks_a_rule_names_its_field_and_cannot_be_started(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(120, 36)) as driven:
        await driven.reaches("Idempotency-Key", "plus")
        await driven.type("x")
        field = driven.app.screen.query_one("#field-max_cost_usd", LineInput)
        field.value = "-3"
        await driven.until(lambda: field.has_class("-invalid"), "the cap to be refused")
        assert driven.app.screen.query_one("#start").disabled
        field.value = "0.5"
        await driven.until(lambda: not field.has_class("-invalid"), "the cap to be accepted")


@pytest.mark.exhaustive
async def test_a_refused_run_shows_its_problem_and_the_form_stays(tmp_path: Path) -> None:
    service = noon.service()
    service.say("POST", "/v1/executions", Said(402, problem("insufficient_credit", instance=_SOME_KEY)))
    async with console(service, tmp_path, size=(120, 36)) as driven:
        await driven.press("plus")
        await driven.type("Say hello.")
        await driven.review()
        await driven.reaches("insufficient_credit · HTTP 402", "tab", "enter")
        assert _SOME_KEY in driven.text
        assert "Nothing was accepted or charged" in driven.text
        await driven.opens(RunFormScreen, "escape")
        assert "Say hello." in driven.text


@pytest.mark.exhaustive
async def test_a_run_that_a_429_holds_says_when_it_goes_and_goes_then(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(120, 36)) as driven:
        await on_held_dialog(driven)
        assert re.search(r"rate limited \(429\), sends at \d\d:\d\d:\d\d ", driven.text)
        await driven.pass_time(15)
        assert driven.service.requests("POST") == []
        await driven.pass_time(15)
        await driven.shows("Runs › ex_…d_10")
        assert len(driven.service.requests("POST")) == 1


@pytest.mark.exhaustive
async def test_a_run_that_a_429_holds_is_given_up_by_leaving_its_dialog(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=(120, 36)) as driven:
        await on_held_dialog(driven)
        await driven.opens(RunFormScreen, "escape")
        await driven.shows("it was not sent", "Say hello.")
        await driven.pass_time(40)
        assert driven.service.requests("POST") == []


# Cancelling.


async def test_cancelling_one_run_asks_and_begins_on_the_harmless_button(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=NARROW) as driven:
        await on_run(driven, noon.LIVE)
        await driven.opens(ConfirmDialog, "X")
        check_golden("80x24/cancel-one", _keyless(driven.text))
        await driven.opens(RunsScreen, "enter")
        assert driven.service.requests("POST") == []
        await driven.opens(ConfirmDialog, "X")
        await driven.opens(RunsScreen, "tab", "enter")
        await driven.shows("Cancelled run 8f21", re.compile(r"⊘ cancelled 8f21…9b7e"))


async def test_a_live_run_is_cancelled_from_its_menu_and_an_ended_one_is_not(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        await driven.reaches(re.compile(r"Cancel the run +X *┃"), "full_stop")
        await driven.press("escape")
        await on_run(driven, noon.DONE)
        await driven.reaches("Run 3fd2…9911 has already ended", "X")
        assert isinstance(driven.app.screen, RunsScreen)


@pytest.mark.exhaustive
async def test_a_mark_that_the_filter_hides_does_not_count_and_outlives_another_screen(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, until="8f21") as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("1 marked", "space")
        await driven.press("slash")
        await driven.type("status=completed")
        await driven.reaches("1 hidden mark", "enter")
        assert [row.id for row in driven.app.screen.selected_rows()] == [driven.table.cursor_key]  # type: ignore[attr-defined]
        await driven.reaches(re.compile(r"(the 1|all \d) listed runs?"), "e")
        await driven.press("escape")
        await driven.opens(ReceiptsScreen, "2")
        await driven.opens(RunsScreen, "left_square_bracket")
        await driven.comes("1 hidden mark")
        await driven.press("escape")
        await driven.until(lambda: driven.app.screen.marked_rows(), "the mark")  # type: ignore[attr-defined]
        assert [row.id for row in driven.app.screen.selected_rows()] == [noon.LIVE]  # type: ignore[attr-defined]


@pytest.mark.exhaustive
async def test_a_mark_is_undone_after_another_screen(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, until="8f21") as driven:
        await driven.select(noon.LIVE)
        await driven.reaches("1 marked", "space")
        await driven.opens(ReceiptsScreen, "2")
        await driven.opens(RunsScreen, "1")
        await driven.comes("1 marked")
        await driven.reaches("Undone: mark of run 8f21", "backspace")
        assert not driven.table.marks
        assert "1 marked" not in driven.text


async def test_marked_runs_are_cancelled_through_one_dialog_with_an_outcome_each(tmp_path: Path) -> None:
    service = noon.service()
    service.say("POST", f".*/{noon.HOVERING}/cancel", Said(409, problem("invalid_state")))
    async with console(service, tmp_path, size=(100, 30), until="8f21") as driven:
        await driven.press("g", "space", "j", "V")
        assert len(driven.table.marks) == 3
        await driven.opens(ConfirmDialog, "X")
        check_golden("100x30/cancel-three", driven.text)
        await driven.reaches("2 cancelled, 1 had ended", "tab", "enter")
        await driven.settle()
        driven.app._tick()
        await driven.shows(re.compile("⊘ cancelled +0:42"))
        behind = driven.app.console_screen
        assert isinstance(behind, RunsScreen)
        assert not behind.table.marks, "nothing is left to cancel"
        check_golden("100x30/cancel-three-done", driven.text)
        keys = [heard.head.header("idempotency-key") for heard in service.requests("POST")]
        assert len(set(keys)) == 3


@pytest.mark.exhaustive
async def test_cancels_that_go_on_behind_the_list_show_at_their_rows_and_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(noon.service(), tmp_path, size=(120, 36)) as driven:
        turns, original = asyncio.Semaphore(0), driven.session.outbox.deliver

        async def held(*given: Any) -> Any:
            await turns.acquire()
            return await original(*given)

        monkeypatch.setattr(driven.session.outbox, "deliver", held)
        await driven.opens(ConfirmDialog, "g", "space", "space", "space", "X")
        await driven.reaches("Close, it continues", "f9")
        await driven.opens(RunsScreen, "escape")
        await driven.pass_time(1)
        assert (driven.text.count(" cancelling "), driven.text.count("cancel waits")) == (2, 2)
        assert "cancelling 1 of 3" in status_line(driven)
        turns.release()
        await driven.comes("cancelling 2 of 3")
        turns.release()
        turns.release()
        await driven.comes("Cancel a run: 3 cancelled")
        assert "cancel waits" not in driven.text
        await driven.pass_time(1)
        assert "of 3" not in status_line(driven)


async def test_the_outcomes_of_several_writes_are_counted_after_their_dialog_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = noon.service()
    service.say("POST", f".*/{noon.HOVERING}/cancel", Said(409, problem("invalid_state")))
    service.say("POST", f".*/{noon.LIVE}/cancel", Said(200, b"{", content_type="application/json"))
    async with console(service, tmp_path, size=SIZE, until="8f21") as driven:
        may_send, original = asyncio.Event(), driven.session.outbox.deliver

        async def held(*request: Any) -> Any:
            await may_send.wait()
            return await original(*request)

        monkeypatch.setattr(driven.session.outbox, "deliver", held)
        await driven.press("g", "space", "j", "V")
        await driven.opens(ConfirmDialog, "X")
        await driven.reaches("Close, it continues", "tab", "enter")
        await driven.opens(RunsScreen, "escape")
        may_send.set()
        await driven.shows(re.compile(r"Cancel a run: (1 (cancelled|unknown|had ended)(, )?){3}"))
        assert driven.table.marks == {noon.LIVE}, "what may still have to be cancelled stays marked"


async def test_a_read_only_profile_says_so_and_sends_nothing(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE, settings="read_only = true\n") as driven:
        await driven.shows("READ-ONLY")
        await on_run(driven, noon.LIVE)
        assert "y copy id" in driven.lines[-1]
        assert not {"+", "X", "A"} & set(driven.lines[-1].split())
        await driven.press("full_stop")
        await driven.until(lambda: len(driven.app.screen.query("#action-menu")) == 1, "the menu")
        await driven.until(lambda: driven.text.count("off: this profile is read-only") == 2, "to cancel, to run again")
        assert "New run" not in driven.text
        await driven.press("escape")
        await driven.type(":again")
        await driven.shows("nothing matches again")
        await driven.press("escape")
        await driven.reaches("This profile is read-only; nothing can be sent.", "X")
        await driven.press("plus")
        await driven.settle()
        assert isinstance(driven.app.screen, RunsScreen)
        assert "New run" not in driven.text
        assert driven.service.requests("POST") == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", ["f2", "ctrl+enter"])
async def test_one_key_reviews_a_form_from_any_field(tmp_path: Path, key: str) -> None:
    async with console(noon.service(), tmp_path, size=(120, 36), until="8f21") as driven:
        await driven.reaches("Idempotency-Key", "plus")
        await driven.press(key)
        await driven.until(
            lambda: getattr(driven.focused, "id", "") == "field-objective", "the field that lacks a value"
        )
        assert not isinstance(driven.app.screen, ConfirmDialog)
        await driven.type("Say hello.")
        await driven.opens(ConfirmDialog, "tab", key)


async def test_times_focus_and_panes_follow_their_keys(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, size=SIZE) as driven:
        await on_run(driven, noon.LIVE)
        before = driven.text
        await driven.reaches("Times are shown as", "t")
        assert driven.text != before
        assert NOON is not None
        seen: list[Widget | None] = []
        for _ in range(3):
            seen.append(driven.focused)
            await driven.press("tab")
        assert len(set(seen)) == 2, seen
        assert seen[2] is seen[0]
        await driven.press("tab")
        await driven.press("z")
        assert "Summary" not in driven.text
        await driven.press("z")
        assert "Summary" in driven.text
        await driven.press("enter", "z")
        assert "model " not in driven.text
        await driven.press("escape")
        assert "model " in driven.text
        await driven.press("p")
        assert "Summary" not in driven.text
        await driven.click_text("/ filter")
        await driven.until(lambda: isinstance(driven.focused, LineInput), "the filter to open")


@pytest.mark.exhaustive
async def test_a_tick_before_the_screen_has_its_parts_does_nothing(tmp_path: Path) -> None:
    async with console(noon.service(), tmp_path, until="8f21") as driven:
        shown = driven.text
        stack = driven.app._screen_stack
        stack.append(driven.app.make_screen("runs"))
        driven.app._tick()
        driven.app._notify_screens()
        stack.pop()
        assert driven.text == shown
