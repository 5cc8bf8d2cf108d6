"""What the widgets of the console show in their tests and in the gallery: the screens of an ordinary noon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

from runwatch.records.problem import Problem
from runwatch.tui.core.rendering import label_span
from runwatch.tui.widgets.bars.header_bar import HeaderInfo
from runwatch.tui.widgets.panes.confirm_dialog import DialogRow, DialogText, TypedConfirmation
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.runs.event_lines import EventLine
from runwatch.view.spec.resource import Column
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, block, line
from runwatch.view.text.styled_text import StyledText
from tests.support.problems import entry_from_problem

NOON: Final = datetime(2026, 11, 21, 12, 4, 31, tzinfo=UTC)


def column(id: str, title: str, align: Literal["left", "right"] = "left", **more: Any) -> Column[Any]:
    """A column whose cells come from :class:`Row`."""
    return Column(id=id, title=title, value=lambda _: None, align=align, **more)


@dataclass(frozen=True)
class Row:
    key: str
    cells: dict[str, StyledText] = field(default_factory=dict)

    def cell(self, column: Column[Any]) -> StyledText:
        return self.cells.get(column.id, StyledText(line("–")))

    def draw_with(self, context: RenderContext) -> None:
        """Nothing here depends on it."""


COLUMNS: Final = (
    column("status", "status", min_cells=11, max_cells=16),
    column("run", "run", min_cells=9, max_cells=12, elides_middle=True),
    column("age", "age", "right", hide_order=4),
    column("cost", "cost / cap", hide_order=2, min_cells=10, max_cells=16),
    column("last", "last", hide_order=5, min_cells=8, max_cells=20),
    column("model", "model", hide_order=1, min_cells=8, max_cells=24),
)


def row(key: str, *cells: tuple[str, str]) -> Row:
    """A row from texts and roles, in the order of :data:`COLUMNS`."""
    return Row(
        key,
        {column.id: StyledText(line(text), Role(role)) for column, (text, role) in zip(COLUMNS, cells, strict=False)},
    )


def runs() -> list[Row]:
    """Nine runs in every state, an unknown one among them."""
    facts = (
        ("8f21…9b7e", "● running", "live", "0:42", "▕█░░░░▏ 0.014", "good", "check 2s"),
        ("77ab…02d1", "● queued", "live", "0:05", "▕░░░░░▏ 0.000", "good", "queued 5s"),
        ("90cc…1f00", "● hovering", "live", "3:18", "▕███░░▏ 0.161", "good", "step 1s"),
        ("5c9d…77aa", "✗ failed", "bad", "0:08", "0.009", "plain", "no arm 8s"),
        ("5c9d…80b1", "✗ failed", "bad", "0:09", "0.009", "plain", "no arm 8s"),
        ("41e0…c2d4", "✓ completed", "good", "0:00", "test run", "test", "4m"),
        ("3fd2…9911", "✓ completed", "good", "0:31", "0.022", "plain", "6m"),
        ("2b07…55e3", "⊘ cancelled", "off", "1:12", "0.004", "plain", "by key 9m"),
        ("19aa…0c42", "◷ expired", "warn", "1:00", "0.000", "plain", "limit 14m"),
    )
    return [
        row(
            run,
            (state, role),
            (run, "plain"),
            (age, "quiet"),
            (cost, cost_role),
            (last, "quiet"),
            ("ember-7b", "plain"),
        )
        for run, state, role, age, cost, cost_role, last in facts
    ]


def many(count: int) -> list[Row]:
    """This many rows with keys ``r0``, ``r1``, …"""
    status, plain = StyledText(line("● running"), Role.LIVE), StyledText(line("0:42"))
    return [Row(f"r{n}", {"status": status, "run": StyledText(line(f"run {n}")), "age": plain}) for n in range(count)]


class Lines:
    """A source of event lines that are all at hand, or not yet."""

    def __init__(self, lines: Iterable[EventLine] = ()) -> None:
        self.lines: list[EventLine | None] = list(lines)
        self.asked: list[tuple[int, int]] = []

    def count(self) -> int:
        """How many there are."""
        return len(self.lines)

    def end(self) -> int:
        return len(self.lines)

    def added_since(self, end: int) -> int:
        """How many came after it."""
        return len(self.lines) - end

    def window(self, start: int, count: int) -> Sequence[EventLine | None]:
        self.asked.append((start, count))
        return self.lines[start : start + count]

    def searched_texts(self, index: int) -> Sequence[SafeText]:
        """What a filter also searches."""
        return (line(f'{{"number":{index},"reason":"because of {index}"}}'),)


def event(number: int = 0, summary: str = "running", *, kind: str = "lifecycle", role: Role = Role.PLAIN) -> EventLine:
    time = f"{12 + number // 3600 % 12:02}:{number // 60 % 60:02}:{number % 60:02}"
    return EventLine(line(time), line(kind), line("sl_1"), line(summary), role, says_kind=kind == "lifecycle")


def gap() -> EventLine:
    """A stretch without an answer."""
    text = "┄┄┄┄ no answer 12:04:10 – 12:04:18, nothing lost ┄┄┄┄"
    return EventLine(line("┄┄┄┄"), line(""), line(""), line(text), Role.QUIET)


def tail() -> Lines:
    """The events of one run, a gap among them."""
    said = (
        ("12:03:51", "lifecycle", "", "accepted", Role.PLAIN),
        ("12:03:51", "lifecycle", "", "queued", Role.PLAIN),
        ("12:03:52", "lifecycle", "", "running", Role.PLAIN),
        ("12:03:52", "lifecycle", "sl_1", "running  arm_id=atlas-12b", Role.PLAIN),
        ("12:04:02", "check", "sl_1", "✗ rejected  0.31  attempt 1", Role.BAD),
        ("12:04:02", "lifecycle", "sl_1", "progress  arm_id=ember-7b", Role.PLAIN),
        ("12:04:19", "check", "sl_1", "✓ accepted  0.86  attempt 2", Role.GOOD),
        ("12:04:31", "recorded", "sl_1", "your check accepted the output  0.86", Role.GOOD),
    )
    lines = [
        EventLine(line(at), line(kind), line(part), line(text), role, says_kind=kind == "lifecycle")
        for at, kind, part, text, role in said
    ]
    lines.insert(6, gap())
    return Lines(lines)


def requests(number: int, words: str = "") -> tuple[SafeText, ...]:
    """The forms of a number of requests in the header."""
    words = words or f"{number}"
    return line(f"{words} requests/min"), line(f"{words} req/min"), line(f"{number}/min")


def header(*, read_only: bool = False) -> HeaderInfo:
    """A connection to the local service."""
    return HeaderInfo(
        line("local"), read_only=read_only, host=line("127.0.0.1:40213"), key=line("key file key_A1b2"),
        connection=(label_span("● live", Role.LIVE),), key_id=line("key_A1b2"),
        requests=requests(18, "18 of 60"),
    )  # fmt: skip


def sections() -> list[DetailSection]:
    return [
        DetailSection(
            line("Slice sl_1"),
            (
                DetailLine(line("capability"), line("text.summarize")),
                DetailLine(line("route"), line("2 ranked, 1 fallback")),
                DetailLine(line("selected"), line("ember-7b · northwind_direct · byok")),
                DetailLine(line("check"), line("✓ accepted  0.86"), Role.GOOD),
                DetailLine(line("attempts"), line("1 ✗ 0.31 atlas-12b   2 ✓ 0.86 ember-7b")),
                DetailLine(line("calls"), line('"three"'), Role.WARN, "not of the expected type"),
            ),
        ),
        DetailSection(
            line("Totals"),
            (
                DetailLine(line("usd"), line("0.0142 USD")),
                DetailLine(line("runtime_s"), line("9.8 s of 60")),
                DetailLine(line("note"), line("a value that is much longer than the window is wide and goes on " * 3)),
            ),
        ),
    ]


def refused() -> ProblemEntry:
    """A submit that was refused for two fields."""
    problem = Problem(
        {
            "type": "https://runwatch.invalid/problems/validation_failed", "title": "The request is invalid.",
            "status": 400, "instance": "0b1f6c1e-8a34-4f0e-9f5d-2d0a9c5c7e11",
            "errors": [
                {"field": "policy.budget.max_cost_usd", "message": "Must be greater than 0."},
                {"field": "task.objective", "message": "Required."},
            ],
        },
    )  # fmt: skip
    return entry_from_problem(
        problem, time=NOON, profile="local", origin="http://127.0.0.1:40213", method="POST", path="/v1/executions",
        operation="postExecutions", key="7c1e9f30", attempt=1, elapsed_s=0.143,
    )  # fmt: skip


def cancel_six() -> DialogText:
    """Cancelling six runs on a production profile."""
    rows = [
        DialogRow(
            item.key, (*(item.cells[name] for name in ("run",)), line("  "), item.cells["status"], line("   0:42"))
        )
        for item in runs()[:6]
    ]
    return DialogText(
        title=line("Cancel 6 runs on prod-eu"),
        sentence=line(
            "Cancels 6 live runs. A provider call already under way is not reversed; a run that has ended in the"
            " meantime stays as it is."
        ),
        request=(
            line("POST /v1/executions/{id}/cancel"),
            label_span("   6 × one key each   within 42 requests left this minute"),
        ),
        keep=line("Keep them running"),
        confirm=line("Cancel 6 runs"),
        profile=(label_span("prod-eu", Role.BAD), label_span("  write", Role.PLAIN)),
        rows=tuple(rows),
        typed=TypedConfirmation(line("the number of runs"), "6"),
        age=line("data is 2s old"),
    )


def start_one() -> DialogText:
    return DialogText(
        title=line("Start a test run"), sentence=line("Starts one test run. It calls no model and costs nothing."),
        request=line("POST /v1/executions"), keep=line("Do not start"), confirm=line("Start the run"),
        profile=(label_span("local  write", Role.PLAIN),), key=line("7c1e9f30-0000-4000-8000-000000000000"),
        body=block('{\n  "mode": "echo",\n  "task": {\n    "objective": "hello"\n  }\n}'),
    )  # fmt: skip
