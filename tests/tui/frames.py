"""Consoles under test that draw only what a test looks at, and read each style sheet once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.design import ColorSystem

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
