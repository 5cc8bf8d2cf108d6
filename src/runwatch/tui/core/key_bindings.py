"""The table of all key actions.

Bindings of screens and widgets, status bar hints, the help screen, the command line and the key map in the settings are
all read from it (manual: decisions, "Keys").
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from textual.binding import Binding, BindingType
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, _character_to_key

from runwatch.base.closest_word import closest_word
from runwatch.settings.declarations import update_action_id
from runwatch.view.text.safe_text import SafeText, line

KeyScope = Literal["app", "screen", "review", "list", "tail", "detail", "replay", "wall", "text", "form", "dialog"]
"""Where an action works: everywhere, on a screen, or in one kind of focused pane."""

SCOPE_TITLES: Final[Mapping[KeyScope, str]] = {
    "app": "Everywhere",
    "screen": "On this screen",
    "review": "When reviewing",
    "list": "In a list",
    "tail": "In a list of events",
    "detail": "In details",
    "replay": "In a replay",
    "wall": "On the run wall",
    "text": "In a text of several lines",
    "form": "In a form",
    "dialog": "In a dialog",
}


class KeyAction(NamedTuple):
    """One key action.

    Attributes:
        id: Its name in the settings and in messages; ``scope.word``.
        keys: Keys as Textual names them; hints show the first one.
        label: One or two words for the status bar.
        help: A sentence for the help screen and the command line.
        handler: The name of the action method, with its arguments.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    handler: str

    @property
    def scope(self) -> KeyScope:
        scope: KeyScope = self.id.partition(".")[0]  # type: ignore[assignment]
        return scope


def _action(id: str, keys: str, label: str, help: str, does: str | None = None) -> KeyAction:
    return KeyAction(id, tuple(keys.split()), label, help, does or id.partition(".")[2])


_SCREENS: Final = (
    ("1", "runs", "Runs"), ("2", "receipts", "Receipts"), ("3", "models", "Models"), ("4", "arms", "Saved models"),
    ("5", "verifiers", "Output checks"), ("6", "templates", "Templates"), ("7", "agents", "Review agents"),
    ("8", "credentials", "Credential references"), ("9", "github", "GitHub connections"), ("0", "problems", "Problems"),
    ("H", "requests", "Requests"), ("comma", "settings", "Settings"), ("I", "overview", "Overview"),
    ("U", "account", "Account and usage"),
)  # fmt: skip

KEY_ACTIONS: Final[tuple[KeyAction, ...]] = (
    _action("app.command", ": ctrl+p", "command", "Open the command line."),
    _action("app.help", "? f1", "help", "Show the keys of the focused pane, then all others."),
    _action("app.quit", "q", "quit", "Go back; at the first view, quit.", "back_or_quit"),
    _action("app.suspend", "ctrl+z", "suspend", "Suspend runwatch; the shell's fg brings it back.", "suspend_process"),
    *(_action(f"app.{name}", key, title, f"Go to {title}.", f"go('{name}')") for key, name, title in _SCREENS),
    _action("app.around", "at", "around", "Show what happened around a time."),
    _action("app.outbox", "O", "settle", "Retry or discard writes whose outcome is unknown.", "outbox"),
    _action("app.find_servers", "M", "servers", "Find model servers on this machine, through the local service."),
    _action("app.profile", "K", "profile", "Switch to another profile and keep the view."),
    _action("app.back_in_history", "[", "back", "Go back to the previous view.", "history(-1)"),
    _action("app.forward_in_history", "]", "forward", "Go forward to the next view.", "history(1)"),
    _action("app.last_view", "-", "last", "Switch between the last two views.", "last_view"),
    _action("app.pin", "b", "pin", "Pin this to a tab, or unpin it."),
    _action("app.pins", "B", "pins", "List the pins: go there, rename, move, remove."),
    *(_action(f"app.pin_{n}", f"alt+{n}", f"pin {n}", f"Go to pin {n}.", f"go_to_pin({n})") for n in range(1, 10)),
    _action("screen.back", "escape", "back", "Go back one level."),
    _action("screen.next_pane", "tab", "next pane", "Go to the next pane.", "app.focus_next"),
    _action("screen.previous_pane", "shift+tab", "previous pane", "Go to the previous pane.", "app.focus_previous"),
    _action("screen.next_tab", ">", "next tab", "Show the next view of this pane.", "step_tab(1)"),
    _action("screen.previous_tab", "<", "previous tab", "Show the previous view of this pane.", "step_tab(-1)"),
    _action("screen.filter", "/", "filter", "Filter the rows while you type."),
    _action("screen.facets", "F", "facets", "Filter by the values that rows share."),
    _action("screen.filters", "backslash", "filter on/off", "Turn the filter off and on."),
    _action("screen.copy", "y", "copy id", "Copy the main id."),
    _action("screen.copy_menu", "Y", "copy", "Choose what to copy."),
    _action("screen.copy_curl", "c", "copy curl", "Copy the request as a curl command, without key."),
    _action("screen.test", "T", "test", "Test the connection."),
    _action("screen.edit", "E", "edit", "Change this record."),
    _action("screen.new", "+", "new", "Start a run, or make a record of the kind shown.", "new"),
    _action("screen.again", "A", "again", "Start a run like this one."),
    _action("screen.label", "i", "label", "Edit this run's label and note; they stay on this machine."),
    _action("screen.tail_all", "L", "tail all", "Follow the marked or all live runs in one list."),
    _action("screen.wall", "*", "wall", "Show the marked or all live runs side by side."),
    _action("screen.replay", "m", "replay", "Replay this run, event by event."),
    _action("screen.open_run", "u", "its run", "Open the run of this event."),
    _action("screen.add", "a", "add id", "Add ids of runs to watch."),
    _action("screen.destroy", "X", "cancel or retire", "Cancel, disable or retire…", "destroy"),
    _action(
        "screen.actions",
        ".",
        "actions",
        "List this record's actions, why some are off, and the keys left out below.",
        "show_actions",
    ),
    _action("screen.commands", "!", "own commands", "Run one of your own commands with this record.", "show_commands"),
    _action("screen.refresh", "r", "refresh", "Refresh this view."),
    _action("screen.refresh_all", "R", "refresh all", "Refresh everything."),
    _action("screen.pause", "P", "pause", "Pause or resume what is shown: a list is not read, new events are counted."),
    _action("screen.raw", "v", "raw", "Switch between fields and JSON."),
    _action("screen.export", "e", "export", "Export this view to a file."),
    _action("screen.compare", "D", "compare", "Compare with another row."),
    _action("screen.spend", "dollar_sign", "spend", "Show the spend of receipts by day and by model."),
    _action("screen.groups", "C", "by code", "Group problems by error code, or show them all."),
    _action("screen.time", "t", "time", "Show times as relative, local or UTC."),
    _action("screen.full", "z", "full screen", "Show this pane full screen."),
    _action("screen.preview", "p", "preview", "Show or hide the detail beside the list."),
    _action("screen.undo", "backspace", "undo", "Undo the last label, note, decision, mark or filter."),
    _action("screen.jump", "semicolon", "jump", "Show a label on every pane, tab, link and row; its letters go there."),
    _action(
        "screen.smaller", "{", "smaller", "Make this pane smaller; the border can be dragged too.", "resize_pane(-1)"
    ),
    _action("screen.larger", "}", "larger", "Make this pane larger.", "resize_pane(1)"),
    _action("screen.turn_split", "|", "beside/below", "Put the detail beside the list, or below it."),
    _action("screen.open_link", "o", "open", "Open this record's address in a browser.", "open_link"),
    _action("review.decide", "n", "decide", "Record a go or no-go with a reason; it stays on this machine."),
    _action("list.open", "enter", "open", "Open this row."),
    _action("list.up", "up k", "up", "Go up one row.", "move(-1)"),
    _action("list.down", "down j", "down", "Go down one row.", "move(1)"),
    _action("list.page_up", "pageup ctrl+u", "page up", "Go up one page.", "move_page(-1)"),
    _action("list.page_down", "pagedown ctrl+d", "page down", "Go down one page.", "move_page(1)"),
    _action(
        "list.top",
        "g home",
        "top",
        "Go to the first row; the cursor follows what comes there until you use it.",
        "move_to(0)",
    ),
    _action(
        "list.bottom", "G end", "bottom", "Go to the last row; a list that goes on is read to its end.", "move_to(-1)"
    ),
    _action(
        "list.left",
        "left h",
        "left",
        "Undo one step through the columns to the right; on the overview, go to the link before.",
        "move_sideways(-1)",
    ),
    _action(
        "list.right",
        "right l",
        "right",
        "Bring the next hidden column into sight; on the overview, go to the next link.",
        "move_sideways(1)",
    ),
    _action("list.mark", "space", "mark", "Mark or unmark this row, and go down."),
    _action("list.mark_range", "V", "mark range", "Mark every row from the last mark to this one."),
    _action("list.sort", "s", "sort", "Sort by the next column in sight, at last in the usual order."),
    _action("list.reverse", "S", "reverse", "Reverse the sort order."),
    _action("list.wide", "W", "wide", "Show all columns, also those that do not fit."),
    _action("tail.open", "enter", "open", "Show the whole event."),
    _action("tail.follow", "f", "follow", "Follow the newest event, or stop following."),
    _action("tail.up", "up k", "up", "Go up one event.", "move(-1)"),
    _action("tail.down", "down j", "down", "Go down one event.", "move(1)"),
    _action("tail.page_up", "pageup ctrl+u", "page up", "Go up one page.", "move_page(-1)"),
    _action("tail.page_down", "pagedown ctrl+d", "page down", "Go down one page.", "move_page(1)"),
    _action("tail.top", "g home", "top", "Go to the first event.", "move_to(0)"),
    _action("tail.bottom", "G end", "bottom", "Go to the newest event and follow.", "follow_end"),
    _action("tail.left", "left h", "left", "Show what is to the left.", "move_sideways(-1)"),
    _action("tail.right", "right l", "right", "Show what is to the right.", "move_sideways(1)"),
    _action("tail.next_match", "n", "next match", "Go to the next match.", "screen.move_match(1)"),
    _action("tail.previous_match", "N", "previous match", "Go to the previous match.", "screen.move_match(-1)"),
    _action("tail.wrap", "w", "wrap", "Wrap long lines, or cut them.", "toggle_wrap"),
    _action(
        "tail.context", "ctrl+g", "context", "Hide lines that do not match, or show them.", "screen.toggle_context"
    ),
    _action("detail.open", "enter", "open link", "Open the record that this field names."),
    _action("detail.up", "up k", "up", "Go up one line.", "move(-1)"),
    _action("detail.down", "down j", "down", "Go down one line.", "move(1)"),
    _action("detail.page_up", "pageup ctrl+u", "page up", "Go up one page.", "move_page(-1)"),
    _action("detail.page_down", "pagedown ctrl+d", "page down", "Go down one page.", "move_page(1)"),
    _action("detail.top", "g home", "top", "Go to the first line.", "move_to(0)"),
    _action("detail.bottom", "G end", "bottom", "Go to the last line.", "move_to(-1)"),
    _action("detail.toggle_fold", "space", "fold", "Fold or unfold the section under the cursor."),
    _action(
        "detail.fold",
        "left h",
        "go to heading",
        "Go to the heading of this section; on the heading, fold it. In a plot, go to the day before.",
    ),
    _action("detail.unfold", "right l", "unfold", "Unfold this section; in a plot, go to the next day."),
    _action("detail.group", "s", "group", "Group the columns of a plot by another part, such as fee, key or model."),
    _action("detail.fold_all", "Z", "fold all", "Fold or unfold all sections."),
    _action("replay.play", "space", "play", "Play or pause; at the end, play again from the first event."),
    _action("replay.next", "right l", "next event", "Show the next event, and pause.", "step_event(1)"),
    _action("replay.previous", "left h", "previous event", "Show the event before, and pause.", "step_event(-1)"),
    _action(
        "replay.faster",
        "up k",
        "faster",
        "Play faster: 2, 10, 60 times, or each event just long enough to read.",
        "change_speed(1)",
    ),
    _action("replay.slower", "down j", "slower", "Play slower, down to the speed of the run.", "change_speed(-1)"),
    _action("replay.seek", "s", "go to time", "Go to a time: 14:05:10, +30s, -1m or 50%."),
    _action("replay.begin", "g home", "begin", "Go to the first event.", "go_to_end(0)"),
    _action("replay.end", "G end", "end", "Go to the last event; a live run goes on from there.", "go_to_end(-1)"),
    _action("wall.open", "enter", "open", "Open the run of this tile."),
    _action("wall.up", "up k", "up", "Go to the tile above.", "move_tile(0, -1)"),
    _action("wall.down", "down j", "down", "Go to the tile below.", "move_tile(0, 1)"),
    _action("wall.left", "left h", "left", "Go to the tile on the left.", "move_tile(-1, 0)"),
    _action("wall.right", "right l", "right", "Go to the tile on the right.", "move_tile(1, 0)"),
    _action("wall.next_page", "pagedown ctrl+d", "more runs", "Show the next runs.", "turn_page(1)"),
    _action("wall.previous_page", "pageup ctrl+u", "previous runs", "Show the runs before.", "turn_page(-1)"),
    _action("text.editor", "ctrl+e", "editor", "Edit this text in the editor that $VISUAL or $EDITOR names."),
    _action("form.send", "f2 ctrl+enter", "review", "Review the request and send it, from any field.", "send"),
    _action("dialog.send", "f9", "send", "Send what the dialog shows, from anywhere in it.", "send"),
    _action("dialog.leave", "escape", "cancel", "Close without sending anything."),
    _action("dialog.copy", "y", "copy", "Copy the id, or the secret that is shown only once."),
    _action("dialog.copy_menu", "Y", "copy more", "Copy the support block of a problem, or the key of the request."),
    _action("dialog.ask_again", "r", "retry", "Retry the same request with the same key."),
)
"""All actions; within a scope, in the order of the help screen."""

BY_ID: Final[Mapping[str, KeyAction]] = {action.id: action for action in KEY_ACTIONS}

PINNED: Final = ("app.command", "app.help")
"""Hints that the status bar shows at every width."""

RECORD_KEYS: Final = (
    "list.open", "screen.replay", "screen.again", "screen.label", "app.pin", "review.decide", "screen.compare",
    "screen.spend",
    "screen.open_run", "screen.open_link", "screen.copy", "screen.copy_menu", "screen.copy_curl", "screen.raw",
    "screen.export", "app.around", "list.mark",
)  # fmt: skip
"""Actions that do something with the record at the cursor, in the order of its menu."""

SERVICE_ONLY: Final = frozenset(
    {"app.around", "app.find_servers", "app.outbox", "app.pin", "app.pins", "app.profile", "review.decide",
     "screen.add", "screen.again", "screen.destroy", "screen.edit", "screen.label", "screen.new", "screen.pause",
     "screen.refresh_all", "screen.tail_all", "screen.test", "screen.wall", "tail.follow"}
)  # fmt: skip
"""Actions without a use when an opened file replaces the service; the status bar does not offer them then."""

_SHOWN: Final = {
    **{_character_to_key(sign): sign for sign in map(chr, range(ord("!"), ord("~") + 1))},
    "escape": "esc", "pageup": "pgup", "pagedown": "pgdn",
}  # fmt: skip

_SAME_AS: Final = {
    "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+j": "a new line", "ctrl+[": "escape",
    "ctrl+left_square_bracket": "escape",
}  # fmt: skip
"""Keys that a terminal sends as another key."""

_NAMED_KEYS: Final = frozenset({*(key.value for key in Keys), *KEY_NAME_REPLACEMENTS.values()})
"""Keys by Textual's names, beyond single characters and their Unicode names."""

_ALWAYS_TOGETHER: Final[tuple[KeyScope, ...]] = ("app", "screen")


def key_label(key: str) -> SafeText:
    """Return a key as hints write it: the sign that it types, or its name."""
    return line(_SHOWN.get(key, key))


def explain_other_use(key: str, action: KeyAction) -> str:
    """Say that a key has no use here, and in one line of 80 columns what it does on other screens."""
    use = action.help.rstrip(".…").partition("; ")[0].partition(": ")[0]
    return f"{key_label(key)} has no use here; elsewhere: {use[:1].lower()}{use[1:]}"


class KeyMap:
    """The key table with the changes from the settings: keys by action id, as a list or separated by spaces.

    An unusable change is refused, with an error text by action id; the action keeps its default keys.
    """

    def __init__(self, overrides: Mapping[str, object] | None = None) -> None:
        self.refused: dict[str, str] = {}
        self._keys: dict[str, tuple[str, ...]] = {action.id: action.keys for action in KEY_ACTIONS}
        self._changed: list[str] = []
        for id, given in {update_action_id(id): given for id, given in (overrides or {}).items()}.items():
            keys = self._read(id, given)
            if keys is not None:
                self._keys[id] = keys
                self._changed.append(id)
        # Check after reading all, so that two actions may swap keys. Of two that clash, the later one is refused.
        while (clash := self._clash()) is not None:
            id, self.refused[id] = clash
            self._keys[id] = BY_ID[id].keys
            self._changed.remove(id)

    @property
    def problems(self) -> list[str]:
        """Error texts of unusable overrides."""
        return list(self.refused.values())

    def keys(self, id: str) -> tuple[str, ...]:
        """Return the keys of an action; the first is shown in hints."""
        return self._keys[id]

    def shown(self, id: str, *, in_text: bool = False) -> SafeText:
        """Return the key that hints show for an action.

        Args:
            in_text: Whether keys that type a character are text; empty if the action has no other key.
        """
        keys = [key for key in self._keys[id] if not in_text or len(_SHOWN.get(key, key)) > 1]
        return key_label(keys[0] if keys else "")

    def find_screen_action(self, key: str) -> KeyAction | None:
        """Return the action of some screen that has a key, which is named as key events name it."""
        return next((each for each in list_actions("screen") if key in map(_event_key, self._keys[each.id])), None)

    def find_record_key(self, given: str) -> tuple[str, str]:
        """Return a key for the records of a list as key events name it, and why it cannot be used, or an empty text."""
        key = _event_key(given)
        for action in KEY_ACTIONS:
            if key in map(_event_key, self._keys[action.id]) and _meet(action.scope, "screen"):
                return key, f"{key_label(given)} belongs to {action.id}"
        return key, _key_problem(given)

    def overrides(self) -> dict[str, str]:
        """Return the overrides as a Textual key map."""
        return {id: ",".join(self._keys[id]) for id in self._changed}

    def _read(self, id: str, given: object) -> tuple[str, ...] | None:
        if id not in BY_ID:
            near = closest_word(id, BY_ID)
            self.refused[id] = f"{id} is not an action" + (f"; did you mean {near}?" if near else "")
            return None
        keys = _key_names(given)
        if not keys:
            self.refused[id] = f"{id} needs a key, such as {' '.join(BY_ID[id].keys)}"
            return None
        problem = next(filter(None, map(_key_problem, keys)), "")
        if problem:
            self.refused[id] = f"{id}: {problem}"
            return None
        return keys

    def _clash(self) -> tuple[str, str] | None:
        """Return the last changed action whose key clashes with another action, and the error text."""
        for id in reversed(self._changed):
            for key in self._keys[id]:
                for other in KEY_ACTIONS:
                    if other.id != id and key in self._keys[other.id] and _meet(other.scope, BY_ID[id].scope):
                        return id, f"{id}: {key_label(key)} belongs to {other.id}"
        return None


def _key_problem(key: str) -> str:
    """Return why no action can have this key, or an empty text."""
    if not _is_key(key):
        near = closest_word(key, _NAMED_KEYS)
        return f"there is no key {key}" + (f"; did you mean {near}?" if near else "")
    return f"a terminal sends {key} as {_SAME_AS[key]}" if key in _SAME_AS else ""


def _event_key(name: str) -> str:
    # Private in Textual, whose bindings name single characters so too (checked on 8.2.8).
    return _character_to_key(name) if len(name) == 1 else name


def _key_names(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        given = given.split()
    if not isinstance(given, Sequence) or not all(isinstance(key, str) and key and " " not in key for key in given):
        return ()
    # Textual separates keys with commas, so a comma is given by its name.
    return tuple("comma" if key == "," else "backslash" if key == "\\" else key for key in given)


def _is_key(name: str) -> bool:
    """Return whether Textual can name a key so: a character, its Unicode name, or a key without one, with modifiers."""
    *modifiers, key = name.split("+") if len(name) > 1 and not name.endswith("+") else (name,)
    if not all(modifier in {"ctrl", "shift", "alt", "super", "meta", "hyper"} for modifier in modifiers):
        return False
    if len(key) == 1 or key in _NAMED_KEYS:
        return True
    try:
        unicodedata.lookup(key.replace("_", " "))
    except KeyError:
        return False
    return True


_REVIEWED: Final[tuple[KeyScope, ...]] = ("review", "list", "detail")
"""Scopes active together where reviewers decide."""


def _meet(one: KeyScope, other: KeyScope) -> bool:
    if "dialog" in (one, other):
        # A dialog covers the screen, so keys of the screen and the app do nothing below it.
        return one == other
    is_review = "review" in (one, other) and one in _REVIEWED and other in _REVIEWED
    return one == other or is_review or one in _ALWAYS_TOGETHER or other in _ALWAYS_TOGETHER


def list_actions(*scopes: KeyScope) -> tuple[KeyAction, ...]:
    """Return the actions of the given scopes, in the order of the table."""
    return tuple(action for action in KEY_ACTIONS if action.scope in scopes)


def make_bindings(*words: str) -> list[BindingType]:
    """Return bindings of these actions, or of all actions of these scopes; settings change their keys by id."""
    return [
        Binding(
            ",".join(action.keys), action.handler, action.label, show=False, tooltip=action.help, id=action.id,
            key_display=key_label(action.keys[0]),
        )
        for action in KEY_ACTIONS
        if action.id in words or action.scope in words
    ]  # fmt: skip
