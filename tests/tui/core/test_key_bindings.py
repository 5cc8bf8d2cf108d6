"""The table of actions is consistent, and what the settings change in it never breaks anything."""

from __future__ import annotations

from collections import defaultdict

import pytest
from textual.binding import Binding

from runwatch.tui.core.key_bindings import (
    BY_ID,
    KEY_ACTIONS,
    PINNED,
    SCOPE_TITLES,
    KeyMap,
    explain_other_use,
    key_label,
    list_actions,
    make_bindings,
)
from runwatch.tui.shell.console_screen import ConsoleScreen
from runwatch.tui.widgets.bars.bar import MARGIN

TOGETHER = ("app", "screen")


def test_no_key_means_two_things_at_the_same_place() -> None:
    for scope in SCOPE_TITLES:
        # A dialog covers the screen, so that only its own keys and nothing below count there.
        scopes = ("dialog",) if scope == "dialog" else {*TOGETHER, scope}
        users: dict[str, list[str]] = defaultdict(list)
        for action in KEY_ACTIONS:
            if action.scope in scopes:
                for key in action.keys:
                    users[key].append(action.id)
        assert {key: ids for key, ids in users.items() if len(ids) > 1} == {}


def test_what_a_key_of_another_screen_does_is_whole_in_80_columns() -> None:
    everywhere = {binding.id for binding in ConsoleScreen.BINDINGS if isinstance(binding, Binding)}
    for action in list_actions("screen"):
        if action.id not in everywhere:
            assert len(explain_other_use(action.keys[0], action)) <= 80 - 2 * MARGIN


def test_every_action_has_a_unique_id_a_scope_a_label_and_a_sentence() -> None:
    assert len(BY_ID) == len(KEY_ACTIONS)
    for action in KEY_ACTIONS:
        assert action.scope in SCOPE_TITLES
        assert action.keys
        assert action.label
        assert action.help.endswith((".", "…"))


def test_no_key_is_one_that_terminals_send_as_another() -> None:
    reserved = {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+left_square_bracket"}
    assert not reserved & {key for action in KEY_ACTIONS for key in action.keys}


def test_no_action_is_bound_only_to_a_key_that_terminals_and_multiplexers_keep() -> None:
    kept = {"ctrl+s", "ctrl+q", "ctrl+a", "ctrl+b"}
    for action in KEY_ACTIONS:
        assert set(action.keys) - kept
        if action.id.startswith("app.pin_"):
            # The list of pins (app.pins) leads to each pin too.
            continue
        assert not any(key.startswith(("alt+", "ctrl+shift+", "f1")) for key in action.keys[:1])


def test_the_fixed_keys_are_those_of_the_design() -> None:
    fixed = {
        "1": "app.runs", "2": "app.receipts", "3": "app.models", "4": "app.arms", "5": "app.verifiers",
        "6": "app.templates", "7": "app.agents", "8": "app.credentials", "9": "app.github", "0": "app.problems",
        "comma": "app.settings", ":": "app.command", "ctrl+p": "app.command", "?": "app.help", "/": "screen.filter",
        "enter": "list.open", "escape": "screen.back", "y": "screen.copy", "Y": "screen.copy_menu",
        "+": "screen.new", "X": "screen.destroy", "f": "tail.follow", "P": "screen.pause", "r": "screen.refresh",
        "v": "screen.raw", "e": "screen.export", "D": "screen.compare", ".": "screen.actions", "space": "list.mark",
        "V": "list.mark_range", "z": "screen.full", "q": "app.quit",
    }  # fmt: skip
    for key, id in fixed.items():
        assert key in BY_ID[id].keys


def test_bindings_carry_the_ids_that_settings_change() -> None:
    made = [binding for binding in make_bindings("list", "tail") if isinstance(binding, Binding)]
    assert [binding.id for binding in made] == [action.id for action in list_actions("list", "tail")]
    only = make_bindings("screen.copy")
    assert [binding.id for binding in only if isinstance(binding, Binding)] == ["screen.copy"]


def test_keys_are_shown_as_people_write_them() -> None:
    shown = [key_label(key) for key in ("comma", "backslash", "escape", "pageup", "ctrl+p", "?", "asterisk", "minus")]
    assert shown == [",", "\\", "esc", "pgup", "ctrl+p", "?", "*", "-"]


def test_the_settings_change_a_key_everywhere() -> None:
    keys = KeyMap({"list.open": "f6 f7", "screen.copy": ["f8"], "app.settings": ","})
    assert keys.problems == []
    assert keys.keys("list.open") == ("f6", "f7")
    assert keys.shown("screen.copy") == "f8"
    in_text = [keys.shown(id, in_text=True) for id in ("screen.copy", "app.command", "app.settings")]
    assert in_text == ["f8", "ctrl+p", ""]
    assert keys.shown("app.settings") == ","
    assert keys.overrides() == {"list.open": "f6,f7", "screen.copy": "f8", "app.settings": "comma"}


@pytest.mark.parametrize(
    ("id", "given", "problem"),
    [
        ("list.opne", "o", "list.opne is not an action; did you mean list.open?"),
        ("zzz", "o", "zzz is not an action"),
        ("list.open", "", "list.open needs a key, such as enter"),
        ("list.open", 7, "list.open needs a key, such as enter"),
        ("list.open", ["a b"], "list.open needs a key, such as enter"),
        ("list.open", "ctrl+m", "list.open: a terminal sends ctrl+m as enter"),
        ("list.open", "space", "list.open: space belongs to list.mark"),
        ("list.open", "q", "list.open: q belongs to app.quit"),
        ("screen.copy", "f", "screen.copy: f belongs to tail.follow"),
    ],
)
def test_what_cannot_be_used_is_reported_and_the_default_holds(id: str, given: object, problem: str) -> None:
    keys = KeyMap({id: given, "screen.raw": "f9"})
    assert keys.problems == [problem]
    assert keys.keys("list.open") == ("enter",)
    assert keys.keys("screen.raw") == ("f9",)


def test_two_actions_may_trade_keys_where_they_never_meet() -> None:
    assert KeyMap({"list.wide": "f"}).problems == []


def test_a_key_of_a_dialog_may_be_that_of_a_screen_but_not_of_another_action_of_the_dialog() -> None:
    assert KeyMap({"screen.raw": "y", "screen.copy": "v"}).problems == []
    assert KeyMap({"dialog.ask_again": "y"}).problems == ["dialog.ask_again: y belongs to dialog.copy"]


def test_keys_of_a_dialog_are_accepted_by_their_former_ids() -> None:
    keys = KeyMap({"sheet.send": "f8", "sheet.ask_again": "y"})
    assert keys.keys("dialog.send") == ("f8",)
    assert keys.problems == ["dialog.ask_again: y belongs to dialog.copy"]


def test_two_actions_may_change_places() -> None:
    keys = KeyMap({"screen.copy": "Y", "screen.copy_menu": "y"})
    assert keys.problems == []
    assert (keys.shown("screen.copy"), keys.shown("screen.copy_menu")) == ("Y", "y")


def test_an_action_may_take_a_key_that_another_one_gave_up() -> None:
    assert KeyMap({"screen.copy": "?", "app.help": "f1"}).problems == []


def test_the_later_of_two_that_want_the_same_key_is_refused() -> None:
    keys = KeyMap({"screen.copy": "f8", "screen.raw": "f8"})
    assert keys.refused == {"screen.raw": "screen.raw: f8 belongs to screen.copy"}
    assert keys.shown("screen.raw") == "v"


def test_what_is_refused_takes_its_usual_keys_back_from_whoever_was_given_them() -> None:
    keys = KeyMap({"screen.raw": "y", "screen.copy": "q"})
    assert keys.refused == {
        "screen.copy": "screen.copy: q belongs to app.quit", "screen.raw": "screen.raw: y belongs to screen.copy",
    }  # fmt: skip
    assert keys.overrides() == {}


def test_the_pinned_hints_are_actions() -> None:
    assert all(id in BY_ID for id in PINNED)
