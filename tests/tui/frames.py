"""Consoles under test that draw only what a test looks at, and read each style sheet and look for each handler once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest
from textual import _callback
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.design import ColorSystem
from textual.message import Message
from textual.message_pump import MessagePump

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.screen import Screen


_render_update = Compositor.render_update


def _skip_frame(
    compositor: Compositor, full: bool = False, screen_stack: list[Screen[object]] | None = None, simplify: bool = False
) -> RenderableType | None:
    if full:  # pictures are made of whole frames
        return _render_update(compositor, full=full, screen_stack=screen_stack, simplify=simplify)
    visible_screen_stack.set([] if screen_stack is None else screen_stack)
    compositor._dirty_regions.clear()
    return None


@contextmanager
def frames_left_out() -> Iterator[None]:
    """Compose no frames for a terminal that is not there; texts of the screen are composed when a test asks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", _skip_frame)
        yield


@contextmanager
def sheets_read_once() -> Iterator[None]:
    """Share the rules of each style sheet, and the colours of each theme, among all apps of this process."""
    rules: dict[Hashable, list[RuleSet]] = {}
    whole: dict[Hashable, tuple[list[RuleSet], dict[str, list[RuleSet]]]] = {}
    colours: dict[str, dict[str, str]] = {}
    names: WeakKeyDictionary[Stylesheet, tuple[dict[str, str], Hashable]] = WeakKeyDictionary()
    parse_rules, parse, generate = Stylesheet._parse_rules, Stylesheet.parse, ColorSystem.generate

    def variables(sheet: Stylesheet) -> Hashable:
        found = names.get(sheet)
        if found is None or found[0] is not sheet._variables:
            found = names[sheet] = (sheet._variables, frozenset(sheet._variables.items()))
        return found[1]

    def parsed(sheet: Stylesheet, *arguments: Any, **named: Any) -> list[RuleSet]:
        key = (arguments, *named.items(), variables(sheet))
        if key not in rules:
            rules[key] = parse_rules(sheet, *arguments, **named)
        return rules[key]

    def parsed_whole(sheet: Stylesheet) -> None:
        key = (variables(sheet), *sheet.source.items())
        if key not in whole:
            parse(sheet)
            whole[key] = sheet.rules, sheet.rules_map
        sheet._rules, sheet._rules_map = whole[key]
        sheet._require_parse = False

    def generated(system: ColorSystem) -> dict[str, str]:
        key = repr(sorted(vars(system).items()))
        if key not in colours:
            colours[key] = generate(system)
        return dict(colours[key])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parsed)
        patch.setattr(Stylesheet, "parse", parsed_whole)
        # Each widget looks for each rule in a set; this is the hash that Textual writes in Python.
        patch.setattr(RuleSet, "__hash__", object.__hash__)
        patch.setattr(ColorSystem, "generate", generated)
        yield


@contextmanager
def handlers_found_once() -> Iterator[None]:
    """Remember which classes handle a message by the name of a method, and how many parameters a function takes."""
    classes: dict[Hashable, list[type] | None] = {}
    counts: dict[tuple[CodeType, bool], int] = {}
    find, count = MessagePump._get_dispatch_methods, _callback._count_parameters

    def named(pump: type, name: str, message: type[Message]) -> list[type] | None:
        for each in pump.__mro__:
            if not vars(each).get("_decorated_handlers", {}).keys().isdisjoint(message.__mro__):
                return None
        return [each for each in pump.__mro__ if f"_{name}" in vars(each) or name in vars(each)]

    def found(
        pump: MessagePump, name: str, message: Message
    ) -> Iterator[tuple[type, Callable[[Message], Awaitable[None]]]]:
        key = (type(pump), name, type(message))
        if key not in classes:
            classes[key] = named(*key)
        known = classes[key]
        if known is None:
            yield from find(pump, name, message)
            return
        for each in known:
            if message._no_default_action:
                return
            method = vars(each).get(f"_{name}") or vars(each).get(name)
            if method is not None and not getattr(method, "_textual_on", None):
                yield each, method.__get__(pump, each)

    def counted(function: Callable[..., Any]) -> int:
        code = getattr(function, "__code__", None)
        if code is None or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
            return count(function)
        key = (code, hasattr(function, "__self__"))
        if key not in counts:
            counts[key] = count(function)
        return counts[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MessagePump, "_get_dispatch_methods", found)
        patch.setattr(_callback, "_count_parameters", counted)
        yield
