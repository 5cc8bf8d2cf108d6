"""Pinning what is open, and the list of pins: go there, rename, move, remove."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from runwatch.store.repositories.pins import MAX_PINS, Pin, PinTarget
from runwatch.tui.core.key_bindings import make_bindings
from runwatch.tui.core.rendering import label_span
from runwatch.tui.core.workers import start_worker
from runwatch.tui.flows.local_notes import NoteEditor, SaveResult
from runwatch.tui.widgets.panes.menu import Menu, MenuItem
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line

if TYPE_CHECKING:
    from runwatch.tui.app.navigation import NavigatingApp
    from runwatch.tui.app.pins.board import PinBoard
    from runwatch.tui.widgets.bars.pin_bar import PinTab


class PinList(Menu):
    """The list of pins. The keys of the pins work here too, because the list shows them."""

    BINDINGS: ClassVar[list[BindingType]] = make_bindings(*(f"app.pin_{number}" for number in range(1, MAX_PINS + 1)))

    async def action_go_to_pin(self, number: int) -> None:
        app = self.app
        self.close()
        await app.run_action(f"go_to_pin({number})", app)


def toggle_pin(app: NavigatingApp, board: PinBoard) -> None:
    """Pin what is open or at the cursor, or unpin it; ask if that is a record and a filter."""
    screen = app.console_screen
    if screen.connected_session() is None:
        return
    targets = screen.pin_targets()
    if not targets:
        screen.refuse_key("Nothing to pin here.")
    elif len(targets) == 1:
        if targets[0].form == "record":
            screen.hold_record()
        _toggle(app, board, targets[0])
    else:
        items = [
            MenuItem(
                line(f"{'Pin' if board.find(target) is None else 'Unpin'} {board.target_text(target)}"),
                partial(_toggle, app, board, target),
            )
            for target in targets
        ]
        screen.open_overlay(Menu((label_span("Pin", Role.PLAIN),), items, id="pin-menu"))


def _toggle(app: NavigatingApp, board: PinBoard, target: PinTarget) -> None:
    name = board.target_text(target)
    if board.find(target) is not None:
        _start(app, _remove(app, board, target, f"; {app.keys.shown('app.pin')} pins it again"))
    elif len(board.pins) >= MAX_PINS:
        app.notify_user(f"There are {MAX_PINS} pins; {app.keys.shown('app.pins')} removes one.", Role.WARN)
    else:

        async def add() -> None:
            await board.change(lambda pins: [*(pin for pin in pins if pin.target != target), Pin(target)])
            index = board.find(target)
            if index is not None:
                key = app.keys.shown(f"app.pin_{index + 1}")
                app.notify_user(f"Pinned {name}; {key} goes there")

        _start(app, add())


async def _remove(app: NavigatingApp, board: PinBoard, target: PinTarget, way_back: str = "") -> None:
    name = board.target_text(target)
    await board.change(lambda pins: [pin for pin in pins if pin.target != target])
    app.notify_user(f"Unpinned {name}{way_back}")


def open_pin_list(app: NavigatingApp, board: PinBoard, *, start: int = 0) -> None:
    screen = app.console_screen
    if screen.connected_session() is None:
        return
    tabs = board.tabs()
    if not tabs:
        screen.notify_user(f"No pins; {app.keys.shown('app.pin')} pins a record, a filter or a comparison.")
        return
    items = [
        MenuItem(
            line(f"{tab.number}  {tab.label}"),
            partial(_open_pin_menu, app, board, pin.target),
            line(f"{_state_text(tab, pin)}   {app.keys.shown(f'app.pin_{tab.number}')}".lstrip()),
        )
        for tab, pin in zip(tabs, board.pins, strict=True)
    ]
    title = (label_span("Pins   ", Role.PLAIN), label_span("enter goes there, renames, moves or removes"))
    screen.open_overlay(PinList(title, items, start=start, id="pin-list"))


def _state_text(tab: PinTab, pin: Pin) -> str:
    if tab.is_gone:
        return "the filter cannot be read" if pin.target.form == "filter" else "the record is gone"
    return "changed since you looked" if tab.is_changed else ""


def _open_pin_menu(app: NavigatingApp, board: PinBoard, target: PinTarget) -> None:
    index = board.find(target)
    if index is None:
        return
    pin, last = board.pins[index], len(board.pins) - 1
    items = [
        MenuItem(line("Go there"), lambda: app.call_later(board.go_to, index + 1), board.target_text(target)),
        MenuItem(line("Rename"), partial(_rename, app, board, pin), line("an empty name is made of what it leads to")),
        MenuItem(
            line("Move up"),
            _mover(app, board, target, -1),
            disabled_reason=line("it is the first") if index == 0 else None,
        ),
        MenuItem(
            line("Move down"),
            _mover(app, board, target, 1),
            disabled_reason=line("it is the last") if index == last else None,
        ),
        MenuItem(line("Remove"), lambda: _start(app, _remove(app, board, target)), line("the record itself stays")),
    ]
    title = (label_span(f"Pin {index + 1}   ", Role.PLAIN), label_span(board.label(pin)))
    app.console_screen.open_overlay(Menu(title, items, id="pin-actions"))


def _mover(app: NavigatingApp, board: PinBoard, target: PinTarget, step: int) -> Callable[[], None]:
    def change(pins: list[Pin]) -> list[Pin]:
        index = next((number for number, pin in enumerate(pins) if pin.target == target), None)
        if index is not None and 0 <= index + step < len(pins):
            pins.insert(index + step, pins.pop(index))
        return pins

    async def move() -> None:
        await board.change(change)
        open_pin_list(app, board, start=board.find(target) or 0)

    return lambda: _start(app, move())


def _rename(app: NavigatingApp, board: PinBoard, pin: Pin) -> None:
    async def keep(typed: Mapping[str, str]) -> SaveResult:
        def change(pins: list[Pin]) -> list[Pin]:
            return [each._replace(name=typed["name"]) if each.target == pin.target else each for each in pins]

        await board.change(change)
        return SaveResult(is_kept=True, text=line("renamed"))

    title = line(f"Name of pin {board.target_text(pin.target)}")
    app.console_screen.open_overlay(NoteEditor(app, title, {"name": pin.name}, keep))


def _start(app: NavigatingApp, work: Coroutine[Any, Any, None]) -> None:
    start_worker(app.console_screen, work, "changing the pins", group="pin change")
