"""A text of several lines is typed in the form, checked there, and sent exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from textual import events

from runwatch.base.json import loads
from runwatch.records.requests.arm import ARTIFACT_CHARACTERS
from runwatch.tui.flows.action_dialog import ActionForm
from runwatch.tui.terminal.editor import EditorError, editor_command
from runwatch.tui.widgets.inputs.text_area import MultilineInput
from runwatch.view.actions.form import render_request_body
from runwatch.view.text.pasted_text import clean_multiline
from tests.support import hostile, resources
from tests.support.builders import account
from tests.support.scripted import Said, ScriptedService
from tests.tui import noon
from tests.tui.console import NARROW, WIDE, Driven, console
from tests.tui.golden import check_golden
from tests.tui.look import Stage, running

TEXT: Final = "Answer in one sentence.\n\tQuote nothing.\n"


def service() -> ScriptedService:
    """A service on which a skill can be saved."""
    made = noon.service(account=account())
    made.say("GET", "/v1/arms", Said(200, {"arms": [dict(resources.arm().raw)], "next_cursor": None}))
    made.say("POST", "/v1/arms", Said(201, resources.arm("arm_new")))
    return made


async def at_text(driven: Driven) -> tuple[ActionForm, MultilineInput]:
    """Fill in the form of a skill except its text, and go to that field."""
    await driven.reaches("Save a skill", "plus")
    await driven.opens(ActionForm, "down", "down", "enter")
    form = driven.app.screen
    assert isinstance(form, ActionForm)
    await driven.until(lambda: form._can_check, "the rules to be there")
    for id, typed in (("display_name", "Short answers"), ("capability_tags", "code"), ("data_class_grants", "public")):
        form.fields.input(id).value = typed
    field = form.fields.input("artifact-content")
    assert isinstance(field, MultilineInput)
    field.focus()
    await driven.pilot.pause()
    return form, field


async def paste(driven: Driven, text: str) -> None:
    driven.app.post_message(events.Paste(text))
    await driven.pilot.pause()


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [NARROW, (120, 36), WIDE], ids=["80x24", "120x36", "160x50"])
async def test_the_form_looks_as_approved(
    tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uuid.uuid4", lambda: "7c1e9f30-0000-4000-8000-000000000000")
    async with console(service(), tmp_path, size=size, open_at="arms") as driven:
        await at_text(driven)
        await driven.type("Answer in one sentence.")
        await driven.press("enter")
        await driven.type("Quote nothing.")
        await driven.shows("Quote nothing.")
        check_golden(f"{size[0]}x{size[1]}/form-lines", driven.text)


@pytest.mark.exhaustive
async def test_enter_begins_a_line_and_tab_leaves_the_text(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="arms") as driven:
        form, field = await at_text(driven)
        await driven.type("one")
        await driven.press("enter")
        await driven.type("two")
        await driven.press("up", "home")
        await driven.type("zero ")
        assert field.value == "zero one\ntwo"
        await driven.press("tab")
        assert driven.focused is form.fields.input("artifact-version")
        await driven.press("shift+tab", "shift+tab")
        assert driven.focused is form.fields.input("cost_class")


@pytest.mark.exhaustive
async def test_a_pasted_text_keeps_its_lines_and_is_sent_exactly_as_the_dialog_shows_it(tmp_path: Path) -> None:
    made = service()
    async with console(made, tmp_path, size=WIDE, open_at="arms") as driven:
        await at_text(driven)
        await paste(driven, TEXT.replace("\n", "\r\n"))
        await driven.reaches("artifact.content, 3 lines, 40 characters:", "tab", "tab", "enter", "enter")
        assert re.search(r"Answer in one sentence\. +[┃▁-█]?.*\n.* {4}Quote nothing\.", driven.text)
        await driven.reaches("done", "tab", "enter")
    (heard,) = made.requests("POST", "/v1/arms")
    assert loads(heard.body)["artifact"]["content"] == TEXT


@pytest.mark.exhaustive
async def test_a_text_of_blanks_alone_counts_as_none(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="arms") as driven:
        form, _ = await at_text(driven)
        await driven.press("space", "enter", "space")
        await driven.until(lambda: form._problems.get("artifact-content") == "Required.", "the field to be refused")
        await driven.shows("✗ Required.")


async def test_a_text_over_its_bound_is_refused_at_the_field(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="arms") as driven:
        form, field = await at_text(driven)
        await paste(driven, ("words " * 100 + "\n") * (ARTIFACT_CHARACTERS // 600 + 1))
        assert len(field.value) > ARTIFACT_CHARACTERS
        await driven.pass_time(1)
        await driven.until(lambda: field.has_class("-invalid"), "the text to be refused")
        assert str(ARTIFACT_CHARACTERS) in form._problems["artifact-content"]
        await driven.press("ctrl+z")
        await driven.until(lambda: form._problems.get("artifact-content") == "Required.", "it to be taken back")


async def test_what_a_terminal_would_act_on_is_left_out_and_said(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="arms") as driven:
        _, field = await at_text(driven)
        await paste(driven, "be\x1b[31m brief\u202e\nand kind")
        assert field.value == "be brief\nand kind"
        await driven.shows("6 characters that cannot be displayed left out.")


@pytest.mark.parametrize("entry", hostile.CORPUS, ids=lambda entry: entry.name)
def test_nothing_hostile_comes_into_a_text(entry: hostile.Hostile) -> None:
    kept, count = clean_multiline(entry.text)
    assert clean_multiline(kept) == (kept, 0)
    assert len(entry.text.replace("\r\n", "\n")) == len(kept) + count


def test_a_body_tells_texts_of_several_lines_once_more() -> None:
    told = render_request_body({"a": {"b": "one\ntwo"}, "c": "plain"})
    assert told.endswith("}\n\na.b, 2 lines, 7 characters:\n\none\ntwo")
    assert render_request_body({"c": "plain"}) == '{\n  "c": "plain"\n}'


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "No editor is set"),
        ({"EDITOR": "  "}, "No editor is set"),
        ({"VISUAL": "no-such-editor-anywhere -w", "EDITOR": "sh"}, "The editor in VISUAL is not there"),
        ({"EDITOR": "sh 'unclosed"}, "The command in EDITOR cannot be read"),
    ],
)
def test_an_editor_that_is_not_there_is_reported(environment: Mapping[str, str], words: str) -> None:
    with pytest.raises(EditorError, match=words):
        editor_command(environment)


def test_the_visual_editor_comes_first_and_keeps_its_words() -> None:
    program, *words = editor_command({"VISUAL": "sh -c 'a b'", "EDITOR": "cat"})
    assert Path(program).name == "sh"
    assert words == ["-c", "a b"]


@pytest.mark.exhaustive
async def test_the_form_says_when_no_editor_can_be_opened(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="arms") as driven:
        _, field = await at_text(driven)
        await driven.type("stays")
        await driven.reaches("No editor is set. Set VISUAL or EDITOR to a command.", "ctrl+e")
        assert field.value == "stays"


async def test_a_terminal_that_cannot_be_given_away_is_reported(tmp_path: Path) -> None:
    async with console(service(), tmp_path, size=WIDE, open_at="arms", environment={"EDITOR": "sh"}) as driven:
        _, field = await at_text(driven)
        await driven.reaches("This terminal cannot run an editor.", "ctrl+e")
        assert field.value == ""


async def test_lines_that_go_with_the_scroll_bar_can_be_taken_back_and_made_again() -> None:
    field = MultilineInput()
    async with running(Stage(field), (60, 10)) as (app, pilot):
        app.screen.set_focus(field)
        await pilot.pause()
        field.take("\n".join("abcdefghij"))
        await pilot.press("ctrl+z")
        assert field.value == ""
        await pilot.press("ctrl+y")
        assert field.value == "\n".join("abcdefghij")
        await pilot.press("f7", "delete", "ctrl+z", "ctrl+y", "ctrl+z")
        assert field.value == "\n".join("abcdefghij")


async def test_another_text_in_place_of_all_can_be_taken_back() -> None:
    field = MultilineInput("before")
    async with running(Stage(field), (60, 10)) as (app, pilot):
        field.take("after\nit")
        await pilot.pause()
        assert field.value == "after\nit"
        app.screen.set_focus(field)
        await pilot.pause()
        await pilot.press("ctrl+z")
        assert field.value == "before"
