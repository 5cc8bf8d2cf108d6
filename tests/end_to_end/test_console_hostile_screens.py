"""Every list of the registry, full of hostile records: the bytes on a terminal are our renderer's alone.

Each list is opened by name in one console, read to its end, looked at as detail, raw and menus, and exported. Each
gets its share of the corpus, so that every text is on several screens; ``RUNWATCH_LONG=1`` puts all on each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.records.event import RunEvent
from runwatch.tui.app.commands import TYPED_NAMES
from runwatch.tui.screens.registry import PAGE_CLASSES
from runwatch.view.resources.registry import RESOURCES
from runwatch.view.spec.resource import ResourceSpec
from tests.support.console import KEY, console
from tests.support.filled import all_members
from tests.support.hostile_service import TEXTS, hostile_service, texts_of
from tests.support.reader import ROWS, Reader, assert_only_text, copied
from tests.support.safe_files import assert_safe_csv, assert_safe_markdown
from tests.support.scripted import Said, ScriptedService, running_service

SHARE: Final = 1 if os.environ.get("RUNWATCH_LONG") else 24
"""One of this many texts is on a screen; each screen has others."""

SCREENS: Final = [spec for spec in RESOURCES if spec.has_screen and spec.name not in PAGE_CLASSES and not spec.is_local]


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    with running_service(hostile_service(SHARE, KEY)) as running:
        yield running


def export(reader: Reader, file: Path) -> str:
    """The rows of the list in front as a file."""
    reader.command(f"export {file}")
    reader.terminal.wait_until(file.exists, f"{file.name}", poll=True)
    return file.read_text("utf-8")


def read_screen(reader: Reader, spec: ResourceSpec[Any], home: Path) -> None:
    """Open, read and export one list."""
    reader.command(TYPED_NAMES.get(spec.name, spec.name))
    title = spec.title.partition(" · ")[0]
    reader.terminal.wait_until(lambda: title in reader.terminal.screen.lines[1], title)
    reader.read(texts_of(spec, SHARE))
    if RESOURCES.index(spec) % 4 < 2:
        assert_safe_csv(export(reader, home / f"{spec.name}.csv"))
    else:
        assert_safe_markdown(export(reader, home / f"{spec.name}.md"))
    reader.look_around(has_actions=bool(spec.actions))


@pytest.mark.exhaustive
@pytest.mark.parametrize("half", [0, 1])
def test_every_list_its_details_menus_and_exports_are_only_text(
    tmp_path: Path, service: ScriptedService, half: int
) -> None:
    # Runs in unknown states are followed as live ones, and none of them has anything new after a while.
    events = Said(200, {"events": [all_members(RunEvent, text) for text in TEXTS[:40]]})
    service.say("GET", "/v1/executions/[^/]*/events", *(events,) * 4, Said(200, {"events": []}))
    with console(tmp_path, base_url=service.base_url, columns=160, rows=ROWS) as terminal:
        terminal.wait_for("● live")
        reader = Reader(terminal)
        for spec in SCREENS[half::2]:
            read_screen(reader, spec, tmp_path)
        assert_only_text(terminal, tmp_path)
        assert copied(terminal) == []
    assert service.requests("POST") == []
