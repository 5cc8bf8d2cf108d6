"""Problems by code: number, first and last occurrence, and meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.record import Record, integer, moment, text
from runwatch.store.repositories.activity import CodeCount
from runwatch.view.problems.explanations import explain_code
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.spec.members import column, member_lines, time_column
from runwatch.view.spec.resource import ComputedLine, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import line
from runwatch.view.text.shell_commands import add_service
from runwatch.view.text.styled_text import CellText, signed

NO_CODE: Final = "no code"
"""Shown for responses that were not a problem of the service."""


class ProblemCode(Record):
    """All problems of one code. ``profiles`` and ``paths`` are numbers of distinct values."""

    KIND = "problem_code"

    code = text("code")
    count = integer("count")
    first = moment("first")
    last = moment("last")
    profiles = integer("profiles")
    paths = integer("paths")

    @property
    def id(self) -> str:
        return self.code or NO_CODE

    @property
    def filter(self) -> str:
        """The filter of the problem list for this code."""
        return f"code={self.code}" if self.code else "!has:code"


def record_from_count(counted: CodeCount) -> ProblemCode:
    return _record(counted.code, counted.count, (counted.first, counted.last), counted.profiles, counted.paths)


def count_codes(entries: Iterable[ProblemEntry]) -> list[ProblemCode]:
    """Count the codes of problems outside the journal, such as those of a file; most frequent first."""
    groups: dict[str, list[ProblemEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.code or entry.problem.code, []).append(entry)
    found = []
    for code, members in groups.items():
        times = sorted(entry.time for entry in members if entry.time is not None)
        profiles, paths = {entry.profile for entry in members}, {entry.path for entry in members}
        found.append(_record(code, len(members), times, len(profiles), len(paths)))
    return sorted(found, key=lambda each: -(each.count or 0))


def _record(code: str, count: int, times: Sequence[datetime], profiles: int, paths: int) -> ProblemCode:
    raw: dict[str, Any] = {"code": code} if code else {}
    raw["count"] = count
    raw |= {"first": format_iso(times[0]), "last": format_iso(times[-1])} if times else {}
    return ProblemCode({**raw, "profiles": profiles, "paths": paths})


def _code(it: ProblemCode, context: RenderContext) -> CellText:
    return signed(line(it.code or NO_CODE), Role.BAD, context.glyphs)


PROBLEM_CODES: Final[ResourceSpec[Any]] = ResourceSpec[ProblemCode](
    record=ProblemCode,
    name="codes",
    singular="code",
    title="Problems by code",
    columns=(
        column("code", lambda it: it.code or NO_CODE, cell=_code, min_cells=14),
        column("count", align="right", min_cells=5),
        time_column("first", hide_order=2),
        time_column("last"),
        column("paths", align="right", hide_order=1, min_cells=5),
        column("profiles", align="right", hide_order=1, min_cells=8),
    ),
    sections=(
        SectionSpec(
            "Code",
            (
                *member_lines("code count first:time last:time paths profiles"),
                ComputedLine("means", lambda it, _, __: line(explain_code(it.code or "").sentence)),
                ComputedLine(
                    "next",
                    lambda it, _, context: line(add_service(explain_code(it.code or "").next_step, context.service)),
                ),
            ),
        ),
    ),
    sort=(SortKey("count", descending=True),),
    empty="No problems recorded on this machine.",
)  # fmt: skip
