"""No text of a service reaches the terminal as more than text, on any screen of the console.

The whole corpus is in every place where a service can put a text: in ids, states and reasons, in member names, in
payloads of events and in every member of a Problem. Each text ends in its own number, so that a list counts as
seen only when every one of its texts has been painted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from runwatch.view.text.format import TimeMode
from tests.support.builders import account, event
from tests.support.cli import Cli
from tests.support.console import KEY, console
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.packed import kinds, packed
from tests.support.screen import foreign_controls
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.terminal import Terminal

Raw = dict[str, Any]

ENDED, LIVE = "ex_ended", "ex_live"
SHORT: Final = 200
"""From this length on a text is not shown whole: its number comes before it, and a member gets its beginning."""

LONG: Final = 1000
"""As much of a text as a list has: more than a line takes, and a Problem with it is short enough to be read as one."""

PROBLEMS: Final = len(CORPUS) // 2
MODES: Final = get_args(TimeMode)
PAGES: Final = 60
WIDE, NARROW = (160, 50), (80, 24)
EVENT_KINDS = [kind for kind in kinds() if "event" in kind]
RECEIPT_KINDS = [kind for kind in kinds() if "receipt" in kind]
MARK: Final = re.compile(r"N(\d{3})(?!\d)")


LURES: Final = ("[@click=app.bell]", "[@click=app.exit", "[link=javascript", "[x](javascript")
"""What the user could be led to click on."""


def mark(number: int) -> str:
    """What the text of this number ends in; as long as what a shortened id keeps of its end."""
    return f"N{number:03}"


TEXTS: Final = [
    # A cell shows only the beginning of a long text; an event has all of it.
    f"{entry.text}{mark(number)}" if len(entry.text) < SHORT else f"{mark(number)}{entry.text[:LONG]}"
    for number, entry in enumerate(CORPUS)
]


def raw_of(kind: str, text: str, *keep: str, **over: Any) -> Raw:
    """A record with the text in every place for a text."""
    return dict(packed(kind, text, keep=keep).raw) | over


def all_in_each(kind: str, *keep: str, **over: Any) -> Raw:
    """A record with all short texts in every string."""
    return raw_of(kind, ALL_AT_ONCE.text, *keep, **over)


def one_in_each(kind: str, **over: Any) -> Raw:
    """A record with one member for each text: in its name, and in its value."""
    members = {text[: SHORT + 4]: text[: SHORT + 4] for text in TEXTS}
    return dict(kinds()[kind].raw) | members | over


def events_of(run_id: str) -> list[Raw]:
    """An event for each text, and the end of the run."""
    listed = [raw_of(EVENT_KINDS[number % len(EVENT_KINDS)], text, slice_id=text) for number, text in enumerate(TEXTS)]
    return [*listed, dict(event(9999, "completed", execution_id=run_id).raw)]


def scripted() -> ScriptedService:
    """A service that says nothing else."""
    service = ScriptedService(
        runs=[
            one_in_each("run", execution_id=LIVE, status="running", created_at="2026-11-20T10:00:02Z"),
            all_in_each("run", execution_id=ENDED, status="completed", created_at="2026-11-20T10:00:01Z"),
            *(raw_of("run", text) for text in TEXTS),
        ],
        events={LIVE: [event(1, execution_id=LIVE)], ENDED: events_of(ENDED)},
        receipts=[
            all_in_each("live receipt", execution_id=ENDED, status="completed"),
            *(raw_of(RECEIPT_KINDS[number % len(RECEIPT_KINDS)], text) for number, text in enumerate(TEXTS)),
        ],
        results={ENDED: all_in_each("result", execution_id=ENDED)},
        account=all_in_each("account", quota=dict(account().raw["quota"]) | {"rate_limit_rpm": 1_000_000}),
        key=KEY,
    )
    # All on one page: the console reads a second one only where a live run is missing from the first.
    service.say("GET", "/v1/executions", Said(200, {"executions": service.runs, "next_cursor": None}))
    for number in range(PROBLEMS):
        service.say("GET", f"/v1/executions/asked{mark(number)}.*/events", Said(400, problem_of(number)))
    return service


def problem_of(number: int) -> Raw:
    """A Problem with one text in every string and another in its title; their numbers are where no column ends."""
    other = number + PROBLEMS
    return raw_of("problem", TEXTS[number], status=400, instance=f"{mark(number)} {TEXTS[number]}") | {
        "title": f"{mark(other)} {TEXTS[other]}"
    }


def asked(number: int) -> str:
    """An id with a text that a command line can carry; the service answers it with the Problem of that number."""
    entry = CORPUS[number]
    can = entry.is_unicode and "\0" not in entry.text and len(entry.text) <= LONG
    return f"asked{mark(number)}.{entry.text if can else ''}"


@pytest.fixture(scope="module")
def service() -> Iterator[ScriptedService]:
    with running_service(scripted()) as running:
        yield running


class Driven:
    """The console on its terminal, with keys that wait for their answer.

    Attributes:
        terminal: The terminal.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.terminal: Final = terminal
        self._modes = cycle((*MODES[1:], MODES[0]))

    def settle(self) -> None:
        """Have everything painted that was typed before: keys are answered in order, and this one by a notice."""
        said = f"Times are shown as {next(self._modes)}"
        self.terminal.type("t")
        self.terminal.wait_until(lambda: said in self.terminal.screen.lines[-1], said)

    def press(self, *keys: str) -> None:
        """Press keys, each once the one before has been answered."""
        for key in keys:
            self.terminal.press(key)
            self.settle()

    def begin(self, *keys: str) -> int:
        """Press keys, and say where in the output what they paint begins."""
        start = len(self.terminal.raw)
        self.press(*keys)
        return start

    def read_through(self, start: int, key: str = "pagedown", texts: int = len(TEXTS)) -> None:
        """Page until every text has been painted, and click on everything that looks like an action or a link.

        Args:
            start: Where in the output the first page begins, which has been painted.
            key: What leads to the next page.
            texts: How many of the texts there are.
        """
        missing = set(range(texts))
        lures = list(LURES)
        for _ in range(PAGES):
            painted = self.terminal.raw[start:].decode("utf-8", "replace")
            missing -= {int(found[1]) for found in MARK.finditer(painted)}
            if not missing:
                return
            for lure in [lure for lure in lures if lure in self.terminal.screen.text]:
                self.terminal.click(lure)
                lures.remove(lure)
            start = self.begin(key)
        pytest.fail(f"never seen: {[CORPUS[number].name for number in sorted(missing)]}")

    def leave(self) -> int:
        """Go back level by level until the console ends; its exit code."""
        while self.terminal.screen.is_alternate:
            self._go_back()
        return self.terminal.wait_exit()

    def _go_back(self) -> None:
        terminal, crumbs = self.terminal, self.terminal.screen.lines[1]
        terminal.type("q")
        terminal.wait_until(
            lambda: terminal.screen.lines[1] != crumbs or "q again quits" in terminal.screen.text, "one level less"
        )
        if "q again quits" in terminal.screen.text:
            terminal.type("q")
            terminal.wait_until(lambda: not terminal.screen.is_alternate, "the end")
        if terminal.screen.is_alternate:
            self.settle()


@contextmanager
def opened(home: Path, service: ScriptedService, *words: str, size: tuple[int, int] = WIDE) -> Iterator[Driven]:
    """The console; at the block's end it still has to answer, and to have written nothing but its renderer's own."""
    settings = home / "settings.toml"
    settings.write_text("[refresh]\nruns_s = 15\nlists_s = 3600\n", "utf-8")
    settings.chmod(0o600)
    with console(home, *words, base_url=service.base_url, columns=size[0], rows=size[1]) as terminal:
        driven = Driven(terminal)
        terminal.wait_for("● live")
        yield driven
        terminal.type("?", until="How the service works")
        terminal.type("q")
        terminal.wait_gone("How the service works")
        assert driven.leave() == 0
        assert foreign_controls(bytes(terminal.raw), renderer=True) == []
        assert b"\x1b]8;" not in terminal.raw
        assert terminal.screen.bells == 0
    log = home / "runwatch-data" / "log" / "runwatch.log"
    assert not log.exists() or "Traceback" not in log.read_text("utf-8")
    assert service.requests("POST") == []


@pytest.mark.exhaustive
def test_rows_of_runs_their_events_and_their_members_are_only_text(tmp_path: Path, service: ScriptedService) -> None:
    with opened(tmp_path, service) as driven:
        driven.terminal.wait_for(f"Runs   {len(service.runs)}")
        driven.read_through(driven.begin("z"))
        driven.press("G", "z", "enter")
        driven.terminal.wait_for(f"{len(TEXTS) + 1} events")
        driven.read_through(driven.begin("z"), "pageup")
        driven.press("q", "g")
        driven.terminal.wait_for("─ ex_live")
        driven.press("<", "enter")
        driven.read_through(driven.begin("z"))


@pytest.mark.exhaustive
def test_rows_of_receipts_problems_and_requests_are_only_text(tmp_path: Path, service: ScriptedService) -> None:
    cli = Cli(tmp_path, base_url=service.base_url, api_key=KEY)
    assert cli("runs", "watch", *map(asked, range(PROBLEMS))).code == 1
    with opened(tmp_path, service, "--open", "receipts") as driven:
        driven.terminal.wait_for(f"Receipts   {len(service.receipts)}")
        driven.read_through(driven.begin("z"))
        driven.press("z", "enter", "G", "v", "G", "q")
        driven.terminal.type("0")
        driven.terminal.wait_for(f"Problems   {PROBLEMS}")
        driven.read_through(driven.begin("z"))
        driven.press("z", "enter", "G", "v", "G", "q")
        driven.terminal.type("H")
        driven.terminal.wait_for(re.compile(r"Requests   \d"))
        driven.read_through(driven.begin("z"), texts=PROBLEMS)
        driven.press("z", "enter", "G", "v", "G", "q")


@pytest.mark.exhaustive
def test_every_view_of_a_record_and_all_that_opens_over_it_is_only_text(
    tmp_path: Path, service: ScriptedService
) -> None:
    with opened(tmp_path, service, "--open", f"runs/{ENDED}", size=NARROW) as driven:
        terminal = driven.terminal
        terminal.wait_for(f"{len(TEXTS) + 1} events")
        driven.press("up", "w", "left", "g", "w", "G", "enter")
        terminal.wait_for("y copy  esc back")
        driven.press("G", "q")
        for sign in (
            "execution_id",
            "  slice ",
            "data_classes",
            "final_text",
            "Receipts hold neither",
            '"execution_id"',
        ):
            terminal.type(">", until=sign)
            driven.press("pagedown", "G")
        for key, sign in (("Y", "Copy   run"), (".", "Actions   run")):
            terminal.type(key, until=sign)
            terminal.press("down", "esc")
            terminal.wait_gone(sign)
        driven.press("q", "g")
        for keys, sign in (
            (("space", "down", "V", "X"), "Keep them running"),
            (("A",), "New run"),
            (("+",), "New run"),
        ):
            terminal.press(*keys, until=sign)
            terminal.press("tab", "esc")
            terminal.wait_gone(sign)
        terminal.type(":", until="Go to Runs")
        terminal.type("account\r", until="Account and usage")
        driven.press("G", "v", "G")
        terminal.type("[", until="━ Runs ")
        terminal.type(",", until="Settings")
        driven.press("G")
