"""HTTP requests sent from this machine, from the local journal."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.run import Run
from runwatch.view.drawn import Drawn, line
from runwatch.view.entries import ProblemEntry, RequestEntry
from runwatch.view.format import Context, size
from runwatch.view.glyphs import Role
from runwatch.view.resource import At, Column, Field, Link, ResourceSpec, SectionSpec, Shown, SortKey, Styled
from runwatch.view.resources.common import as_moment, as_seconds, elided, newest_first, span, when


def _status(entry: RequestEntry, context: Context) -> Shown:
    if entry.error is not None:
        return Styled(line(f"{context.glyphs.bad} {line(entry.error)}"), Role.BAD)
    if entry.status is None:
        return line(context.glyphs.unknown)
    glyph = context.glyphs.bad if entry.is_problem else context.glyphs.good
    return Styled(line(f"{glyph} {entry.status}"), Role.BAD if entry.is_problem else Role.GOOD)


def _outcome(entry: RequestEntry) -> object:
    return entry.error if entry.error is not None else entry.status


def _bytes(value: int, _: Context) -> Drawn:
    return size(value)


REQUESTS: Final[ResourceSpec[Any]] = ResourceSpec[RequestEntry](
    record=RequestEntry,
    name="requests",
    singular="request",
    title="Requests",
    columns=(
        Column(
            id="time", title="time", aliases=("age",), value=lambda it: it.time,
            format=when, is_whole=True, least=3, leaves=8, sort_key=lambda it: newest_first(it.time),
        ),
        Column(id="status", title="status", aliases=("http",), value=_outcome, cell=_status, least=10, most=24),
        Column(id="method", title="method", value=lambda it: it.method),
        Column(id="path", title="path", value=lambda it: it.path, most=64, least=24),
        Column(id="took", title="took", aliases=("elapsed",), value=lambda it: it.elapsed_s, format=span,
               align="right", leaves=7, least=5),
        Column(id="attempt", title="try", value=lambda it: it.attempt, align="right", leaves=6, least=3),
        Column(id="received", title="bytes", value=lambda it: it.received_bytes, format=_bytes, align="right",
               leaves=5, least=6),
        Column(id="sent", title="sent", value=lambda it: it.sent_bytes, format=_bytes, align="right", leaves=4,
               least=6),
        Column(id="key", title="key", value=lambda it: it.key, format=elided, leaves=2, least=9,
               keeps_ends=True),
        Column(id="profile", title="profile", value=lambda it: it.profile, leaves=3),
        Column(id="query", title="query", value=lambda it: it.query, leaves=1, most=40),
    ),
    fields=(
        Field(id="operation", value=lambda it: it.operation),
        Field(id="host", value=lambda it: it.host),
        Field(id="code", value=lambda it: it.code),
        Field(id="error", value=lambda it: it.error),
        Field(id="instance", value=lambda it: it.instance),
    ),
    sections=(
        SectionSpec(
            "Request",
            (
                At("time", format=as_moment), At("method"), At("path"), At("query"), At("operation"), At("status"),
                At("error"), At("code"), At("instance"), At("attempt"), At("elapsed_s", format=as_seconds), At("key"),
                At("sent_bytes"), At("received_bytes"), At("profile"), At("origin"),
            ),
        ),
    ),
    sort=(SortKey("time"),),
    empty="No requests were sent from this machine yet.",
    flags={
        "problem": lambda it: it.is_problem,
        "retry": lambda it: (it.attempt or 1) > 1,
    },
    links=(
        Link("problem", ProblemEntry.KIND, lambda it: it.problem_id),
        Link("run", Run.KIND, lambda it: it.run_id),
    ),
)  # fmt: skip
