"""Handlers of messages are found by their names: one that names no message is never called, and nothing says so."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module

from textual.message import Message
from textual.message_pump import MessagePump
from textual.widget import Widget

import runwatch.tui

PREFIXES = ("on_", "_on_")


def subclasses(kind: type) -> Iterator[type]:
    """The classes below a class, at any depth."""
    below: list[type] = kind.__subclasses__()
    for each in below:
        yield each
        yield from subclasses(each)


def handled() -> set[str]:
    """The names that handlers may have: those of all messages that are known."""
    return {getattr(message, "handler_name", "") for message in subclasses(Message)}


def strays(kinds: Iterable[type], names: set[str]) -> list[str]:
    """The methods that are named like handlers, but name no message and replace no method of the framework."""
    found = []
    for kind in kinds:
        for name in vars(kind):
            replaces = any(name in vars(base) for base in kind.__mro__[1:] if base.__module__.startswith("textual."))
            if name.startswith(PREFIXES) and name.removeprefix("_") not in names and not replaces:
                found.append(f"{kind.__module__}.{kind.__qualname__}.{name}")
    return found


def test_every_handler_names_a_message() -> None:
    for module in pkgutil.walk_packages(runwatch.tui.__path__, "runwatch.tui."):
        import_module(module.name)
    ours = [kind for kind in set(subclasses(MessagePump)) if kind.__module__.startswith("runwatch.tui.")]
    count = sum(name.startswith(PREFIXES) for kind in ours for name in vars(kind))
    assert count > 150, "the handlers are not where this test looks for them"
    assert not strays(ours, handled())


def test_a_message_is_nested_in_its_widget_unless_several_post_it() -> None:
    for module in pkgutil.walk_packages(runwatch.tui.__path__, "runwatch.tui."):
        import_module(module.name)
    messages = [kind for kind in subclasses(Message) if kind.__module__.startswith("runwatch.tui.")]
    homes = {kind.__module__.removeprefix("runwatch.tui.") for kind in messages if "." not in kind.__qualname__}
    assert homes == {"core.messages", "shell.key_queue"}


def test_a_handler_of_a_message_that_is_not_there_is_found() -> None:
    class Opened(Message):
        pass

    class Pane(Widget):
        class Closed(Message):
            pass

        def on_opened(self, message: Opened) -> None:
            """This test declares the message."""

        def on_pane_closed(self, message: Pane.Closed) -> None:
            """This test declares the message in the widget."""

        def on_closed(self, message: Pane.Closed) -> None:
            """A nested message is handled under the name of its widget too."""

        def on_mount(self) -> None:
            """The framework posts it."""

        def on_event_lost(self) -> None:
            """Nothing posts it."""

    assert [name.rpartition(".")[2] for name in strays([Pane], handled())] == ["on_closed", "on_event_lost"]
