"""Records as nobody has described them, on every screen: shown, never a crash, and nothing of them hidden."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from runwatch.records.record import Record
from runwatch.store.freshness import LoadState
from runwatch.tui.screens.resource import ResourceScreen
from tests.tui import noon
from tests.tui.console import WIDE, console
from tests.tui.every_screen import SCREENS, Scene, keep_still, records_of, settle_drawn

Raw = dict[str, Any]

UNKNOWN: Final[Raw] = {"unheard_of": {"deep": [1, None, "two"]}, "unheard_text": "said by a newer service"}


@pytest.fixture(autouse=True)
def _nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_still(monkeypatch)


def other_type(value: object) -> object:
    """A value of a type that nobody expects there."""
    if isinstance(value, str):
        return {"was": value}
    return 7 if isinstance(value, (list, Mapping)) else f"{value} as text"


def odd(change: Callable[[Raw, str], Raw]) -> Callable[[str], Sequence[Record]]:
    """The sample records of a kind, each changed except for its id."""

    def given(kind: str) -> Sequence[Record]:
        return [type(it)(change(dict(it.raw), it.id)) for it in records_of(kind)]

    return given


def _kept(raw: Raw, id: str) -> Raw:
    return {name: value for name, value in raw.items() if value == id}


ODD: Final[dict[str, Callable[[Raw, str], Raw]]] = {
    "unknown members": lambda raw, id: raw | UNKNOWN,
    "nothing but the id": _kept,
    "nulls": lambda raw, id: dict.fromkeys(raw) | _kept(raw, id) | UNKNOWN,
    "wrong types": lambda raw, id: {name: other_type(value) for name, value in raw.items()} | _kept(raw, id) | UNKNOWN,
    "a new status": lambda raw, id: raw | {"status": "hovering", "state": "hovering"} | UNKNOWN,
}


@pytest.mark.parametrize("name", SCREENS)
async def test_odd_records_are_shown_whole(tmp_path: Path, name: str) -> None:
    async with console(noon.service(), tmp_path, size=WIDE, open_at=name) as driven:
        for what, change in ODD.items():
            Scene(driven, odd(change)).enter(LoadState.FRESH)
            await settle_drawn(driven)
            screen = driven.app.screen
            if not isinstance(screen, ResourceScreen) or screen.spec.is_local or name == "runs":
                # Pages draw what they know of the records; the detail of a run stands in views of its own.
                continue
            assert screen.table.line_count(), what
            if what != "nothing but the id":
                for view in screen.query("#detail DetailView"):
                    view.focus()
                await driven.press("end")
                assert "unheard_text" in driven.text, (what, driven.text)
                screen.table.focus()
