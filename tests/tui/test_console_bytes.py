"""Bytes of terminals, slow lines and pastes that are not keys: they type nothing, do nothing and end nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.builders import event
from tests.support.hostile import CORPUS
from tests.support.scripted import ScriptedService, running_service
from tests.support.terminal import Terminal
from tests.tui import noon
from tests.tui.console import KEY
from tests.tui.on_terminal import LAST_ROW, assert_whole, opened

NO_KEYS: Final = {
    "old mouse reports": b"\x1b[M !!" * 3 + b"\x1b[M \xff\xfe\x1b[M#\x80\xf0\x1b[M`\xc3\xb0",
    "mouse reports out of range": b"\x1b[<0;99999;999M\x1b[<0;0;0M\x1b[<64;99999;1M\x1b[<999;3;3M\x1b[<0;123456789;1M",
    "mouse reports of other forms": b"\x1b[32;10;5M\x1b[<0;-4;-9M\x1b[<;;M\x1b[<0;5M",
    "focus reports": b"\x1b[I\x1b[O\x1b[I",
    "answers to questions": b"\x1b[?1;2c\x1b[>41;379;0c\x1b[0n\x1b[24;80R\x1b]11;rgb:f/f/f\x07\x1bP>|xterm(379)\x1b\\",
    "keys that Unicode lacks": b"\x1b[1114112u\x1b[99999999999999999999u\x1b[97:65;2u\x1b[50~\x1b[201~",
    "bytes that are no UTF-8": b"\xff\xfe\x80\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80",
}  # fmt: skip
"""Bytes that no person typed."""

HALVES: Final = [b"\x1b[", b"\x1b[M", b"\x1b[M \xf0", b"\x1b[<0;1", b"\x1b]11;rgb:f", b"\x1bP>|x", b"\xe2\x9c"]
"""Beginnings whose rest is lost."""


@pytest.mark.exhaustive
def test_nothing_is_typed_into_a_filter_by_what_is_no_key(tmp_path: Path, noon_service: ScriptedService) -> None:
    with opened(tmp_path, noon_service) as terminal:
        for name, data in NO_KEYS.items():
            terminal.type("/", until="9/9")
            terminal.send(data)
            for half in HALVES:
                # The beginning of the next one ends the half one before it.
                terminal.send(half)
            terminal.send(b"\x1b[I")
            terminal.type("is:live", until=re.compile(r"is:live .*3 of 9|3 of 9.*is:live", re.DOTALL))
            line = next(line for line in terminal.screen.lines if "is:live" in line)
            assert re.search(r"(?<![^\s/│])is:live(?![^\s│])", line), (name, line)
            terminal.press("esc")
            terminal.wait_gone("is:live")
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)
    assert noon_service.requests("POST") == []


def test_nothing_is_done_on_a_list_by_what_is_no_key(tmp_path: Path, noon_service: ScriptedService) -> None:
    with opened(tmp_path, noon_service) as terminal:
        crumbs = terminal.screen.lines[1]
        for data in NO_KEYS.values():
            terminal.send(data)
        for half in HALVES:
            terminal.send(half)
        terminal.send(b"\x1b[I")
        terminal.type("?", until="How the service works")
        terminal.type("q")
        terminal.wait_gone("How the service works")
        terminal.wait_for(LAST_ROW)
        terminal.wait_until(lambda: terminal.screen.lines[1] == crumbs, "the list, and nothing else")
        terminal.type("qq")
        assert terminal.wait_exit() == 0
        assert_whole(terminal, tmp_path)


@pytest.mark.exhaustive
def test_what_is_pasted_is_text_and_never_a_key(tmp_path: Path, noon_service: ScriptedService) -> None:
    with opened(tmp_path, noon_service) as terminal:
        # The list ignores a paste; in a filter it becomes text.
        terminal.paste("X\x1b:quit\rq\x1bq\x1b[Aq" + "q" * 40)
        terminal.type("/", until="9/9")
        for entry in CORPUS[::3]:
            text = entry.text.replace("\x1b[201~", "").encode("utf-8", "replace")[:500]
            terminal.send(b"\x1b[200~" + text + b"\x1b[201~")
        terminal.press("ctrl+u")
        terminal.paste("\x1b[31mis:live\x1b[2J\x1b")
        terminal.wait_for("␛[31mis:live␛[2J␛")
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)
    assert noon_service.requests("POST") == []


class _Growing:
    """A live run that has twenty more events whenever it is asked."""

    def __init__(self) -> None:
        self._had = 0

    def events(self, run_id: str, after: str | None) -> Sequence[Mapping[str, Any]] | None:
        if run_id != noon.LIVE:
            return []
        self._had += 20
        ids = [f"ev_{number}" for number in range(self._had)]
        first = ids.index(after) + 1 if after in ids else 0
        return [
            dict(event(number, "running", execution_id=noon.LIVE, event_id=ids[number], at=noon.at(0)).raw)
            for number in range(first, self._had)
        ]


def storm(terminal: Terminal, times: int) -> None:
    """Resize the window this many times, as fast as the program's output can be read."""
    chance = random.Random(6)
    for _ in range(times):
        terminal.resize(chance.randint(20, 200), chance.randint(5, 50))
        terminal.take_in()


@pytest.mark.exhaustive
def test_a_storm_of_sizes_while_events_come_leaves_the_screen_right(tmp_path: Path) -> None:
    with (
        running_service(noon.service(key=KEY, events=_Growing())) as noon_service,
        opened(tmp_path, noon_service) as terminal,
    ):
        terminal.type("j\r", until="Runs › 8f21")
        terminal.type("?", until=re.compile(r"› Help.*┏━ Help.*screen\.facets.*┗━━.*/ search  > next tab", re.DOTALL))
        expected = _without_bar(terminal)
        terminal.type("q")
        terminal.wait_gone("┏━ Help")
        storm(terminal, 200)
        terminal.resize(120, 30)
        terminal.wait_until(lambda: _is_framed(terminal), "the frame at the last size", timeout=90)
        terminal.type("?")
        terminal.wait_until(lambda: _without_bar(terminal) == expected, "the help as it was before the storm")
        terminal.type("q")
        before = len(noon_service.requests("GET", f"/v1/executions/{noon.LIVE}/events"))
        terminal.wait_until(
            lambda: len(noon_service.requests("GET", f"/v1/executions/{noon.LIVE}/events")) > before,
            "more events",
            poll=True,
        )
        assert terminal.ends("ctrl+c", "ctrl+c") == 130
        assert_whole(terminal, tmp_path)


def _is_framed(terminal: Terminal) -> bool:
    """Whether a frame ends in the last column, and the keys are on the last line."""
    lines = terminal.screen.lines
    return any(len(line) == 120 and line.endswith(("╮", "┓")) for line in lines) and "? help" in lines[-1]


def _without_bar(terminal: Terminal) -> list[str]:
    """What is shown below the bar with the clock, without the bar that says where in a text one is."""
    return [line[:118] for line in terminal.screen.lines[1:]]
