"""Consoles under test that draw only what a test looks at, and read each style sheet once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.stylesheet import Stylesheet

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.css.model import RuleSet
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
    """Share what has been read of each style sheet among all apps of this process with the same variables."""
    read: dict[Hashable, list[RuleSet]] = {}
    parse_rules = Stylesheet._parse_rules

    def parsed(sheet: Stylesheet, *arguments: Any, **named: Any) -> list[RuleSet]:
        key = (arguments, *named.items(), frozenset(sheet._variables.items()))
        if key not in read:
            read[key] = parse_rules(sheet, *arguments, **named)
        return read[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parsed)
        yield
