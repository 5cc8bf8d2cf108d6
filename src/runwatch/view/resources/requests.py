"""HTTP requests sent by this machine, from the local journal."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.run import Run
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.spec.resource import Column, Field, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, byte_size
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import (
    detail_seconds,
    detail_time,
    duration_cell,
    id_cell,
    newest_first_key,
    time_cell,
)
from runwatch.view.text.safe_text import SafeText, line
from runwatch.view.text.styled_text import CellText, StyledText


def _status(entry: RequestEntry, context: RenderContext) -> CellText:
    if entry.error is not None:
        return StyledText(line(f"{context.glyphs.bad} {line(entry.error)}"), Role.BAD)
    if entry.status is None:
        return line(context.glyphs.unknown)
    glyph = context.glyphs.bad if entry.is_problem else context.glyphs.good
    return StyledText(line(f"{glyph} {entry.status}"), Role.BAD if entry.is_problem else Role.GOOD)


def _outcome(entry: RequestEntry) -> object:
    return entry.error if entry.error is not None else entry.status


def _bytes(value: int, _: RenderContext) -> SafeText:
    return byte_size(value)


REQUESTS: Final[ResourceSpec[Any]] = ResourceSpec[RequestEntry](
    record=RequestEntry,
    name="requests",
    singular="request",
    title="Requests",
    columns=(
        Column(
            id="time", title="time", aliases=("age",), value=lambda it: it.time, format=time_cell, never_cut=True,
            min_cells=3, hide_order=8, sort_key=lambda it: newest_first_key(it.time),
        ),
        Column(
            id="status", title="status", aliases=("http",), value=_outcome, cell=_status, min_cells=10, max_cells=24
        ),
        Column(id="method", title="method", value=lambda it: it.method),
        Column(id="path", title="path", value=lambda it: it.path, max_cells=64, min_cells=24),
        Column(
            id="took", title="took", aliases=("elapsed",), value=lambda it: it.elapsed_s, format=duration_cell,
            align="right", hide_order=7, min_cells=5,
        ),
        Column(id="attempt", title="try", value=lambda it: it.attempt, align="right", hide_order=6, min_cells=3),
        Column(
            id="received", title="bytes", value=lambda it: it.received_bytes, format=_bytes, align="right",
            hide_order=5, min_cells=6,
        ),
        Column(
            id="sent", title="sent", value=lambda it: it.sent_bytes, format=_bytes, align="right", hide_order=4,
            min_cells=6,
        ),
        Column(
            id="key", title="key", value=lambda it: it.key, format=id_cell, hide_order=2, min_cells=9,
            elides_middle=True,
        ),
        Column(id="profile", title="profile", value=lambda it: it.profile, hide_order=3),
        Column(id="query", title="query", value=lambda it: it.query, hide_order=1, max_cells=40),
    ),
    fields=(
        Field(id="operation", value=lambda it: it.operation), Field(id="host", value=lambda it: it.host),
        Field(id="code", value=lambda it: it.code), Field(id="error", value=lambda it: it.error),
        Field(id="instance", value=lambda it: it.instance),
    ),
    sections=(
        SectionSpec(
            "Request",
            (
                MemberLine("time", format=detail_time), MemberLine("method"), MemberLine("path"), MemberLine("query"),
                MemberLine("operation"), MemberLine("status"), MemberLine("error"), MemberLine("code"),
                MemberLine("instance"), MemberLine("attempt"), MemberLine("elapsed_s", format=detail_seconds),
                MemberLine("key"), MemberLine("sent_bytes"), MemberLine("received_bytes"), MemberLine("profile"),
                MemberLine("origin"),
            ),
        ),
    ),
    sort=(SortKey("time"),),
    empty="No requests were sent from this machine yet.",
    flags={"problem": lambda it: it.is_problem, "retry": lambda it: (it.attempt or 1) > 1},
    links=(
        RecordLink("problem", ProblemEntry.KIND, lambda it: it.problem_id),
        RecordLink("run", Run.KIND, lambda it: it.run_id),
    ),
)  # fmt: skip
