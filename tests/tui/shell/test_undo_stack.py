"""What can be undone: the last changes, as long as what they changed exists."""

from __future__ import annotations

from textual.widget import Widget

from runwatch.tui.shell.undo_stack import MAX_CHANGES, LocalChange, UndoStack


async def nothing() -> str:
    return ""


def test_the_last_change_comes_first_and_only_so_many_are_kept() -> None:
    stack = UndoStack()
    for number in range(MAX_CHANGES + 5):
        stack.push(LocalChange(str(number), nothing))
    names = [change.name for change in iter(stack.pop, None)]
    assert names == [str(number) for number in range(MAX_CHANGES + 4, 4, -1)]


def test_a_change_is_over_with_the_widget_that_held_it() -> None:
    stack = UndoStack()
    stack.push(LocalChange("on disk", nothing))
    stack.push(LocalChange("marks", nothing, Widget()))
    change = stack.pop()
    assert change is not None
    assert change.name == "on disk"
    assert stack.pop() is None
