"""Jump labels, palette, undo and hover on a real terminal, by the bytes that a terminal sends."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.builders import account
from tests.support.scripted import running_service
from tests.tui import noon
from tests.tui.console import KEY
from tests.tui.on_terminal import assert_whole, opened


@pytest.mark.exhaustive
def test_letters_lead_to_a_row_the_palette_to_an_id_and_what_was_done_is_undone(tmp_path: Path) -> None:
    with (
        running_service(noon.service(key=KEY, account=account())) as service,
        opened(tmp_path, service, columns=80, rows=24) as terminal,
    ):
        terminal.type(";", until="type the letters of a label")
        label = terminal.wait_for(re.compile(r"┃ ?([a-z]{1,2}) .*…80b1")).group(1)
        terminal.type(label)
        terminal.wait_gone("type the letters of a label")
        terminal.press("space", until="■")
        terminal.press("backspace", until="Undone: mark")
        terminal.wait_for(re.compile(r"em\S*…"))
        cuts = [re.search(r"em\S*…", line) for line in terminal.screen.lines]
        row, column = next((number, cut.start()) for number, cut in enumerate(cuts) if cut is not None)
        terminal.type(f"\x1b[<35;{column + 2};{row}M\x1b[<35;{column + 3};{row + 1}M", until="ember-7b-instruct")
        terminal.type(":zzz", until="nothing matches zzz")
        terminal.press("ctrl+u")
        terminal.type("open 3fd2", until=re.compile("open 3fd2a1c8.*9911"))
        terminal.press("enter", until="Runs › 3fd2…9911")
        terminal.type(":", until=re.compile("▸ open 3fd2a1c8"))
        terminal.press("esc")
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)
