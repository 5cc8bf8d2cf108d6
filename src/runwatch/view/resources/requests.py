"""HTTP requests sent by this machine, from the local journal."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.run import Run
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.spec.members import column, fields, id_column, member_lines, time_column
from runwatch.view.spec.resource import Column, ComputedLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, byte_size, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.member_format import duration_cell, id_cell
from runwatch.view.text.safe_text import line
from runwatch.view.text.styled_text import CellText, signed


def _status(entry: RequestEntry, context: RenderContext) -> CellText:
    if entry.error is not None:
        return signed(line(entry.error), Role.OFF if entry.is_given_up else Role.BAD, context.glyphs)
    if entry.status is None:
        return line(context.glyphs.unknown)
    return signed(f"{entry.status}", Role.BAD if entry.is_problem else Role.GOOD, context.glyphs)


def _path(entry: RequestEntry, context: RenderContext) -> CellText:
    """Return the path, or how often nobody was reached, in so few words that a narrow window shows them whole."""
    if entry.tries is None:
        return line(entry.path)
    return line(f"{entry.tries:,} tries since {time_of_day(entry.since, context)}")


def _size_column(names: str, **options: Any) -> Column[Any]:
    return column(names, format=lambda size, _: byte_size(size), align="right", min_cells=6, **options)


REQUESTS: Final[ResourceSpec[Any]] = ResourceSpec[RequestEntry](
    record=RequestEntry,
    name="requests",
    singular="request",
    name_of=lambda it: f"{it.method} {it.path}",
    title="Requests",
    columns=(
        time_column("time|age=time", min_cells=3, hide_order=7),
        column(
            "status|http", lambda it: it.status if it.error is None else it.error, cell=_status, min_cells=10,
            max_cells=24,
        ),
        column("method"),
        column("path", cell=_path, max_cells=64, min_cells=24, elides_middle=True),
        # Requests of all profiles are listed.
        column("profile", hide_order=8, min_cells=7, max_cells=16, hide_if_empty=True),
        column(
            "took|elapsed=elapsed_s", format=duration_cell, align="right", hide_order=6, min_cells=5,
            value_type="seconds",
        ),
        column("attempt", title="try", align="right", hide_order=5, min_cells=3),
        _size_column("received=received_bytes", title="bytes", hide_order=4),
        _size_column("sent=sent_bytes", hide_order=3),
        id_column("key", format=id_cell, hide_order=2),
        column("query", hide_order=1, min_cells=12, max_cells=24),
    ),
    fields=fields("operation host code error instance"),
    sections=(
        SectionSpec("Request", (
            ComputedLine("tries", lambda it, _, context: None if it.tries is None else _path(it, context)),
            *member_lines(
                "time:time method path query operation status error code instance attempt elapsed_s:s key sent_bytes "
                "received_bytes profile origin"
            ),
        )),
    ),
    sort=(SortKey("time"),),
    empty="No requests were sent from this machine yet.",
    flags={"problem": lambda it: it.is_problem, "retry": lambda it: (it.attempt or 1) > 1},
    links=(
        RecordLink("problem", ProblemEntry.KIND, lambda it: it.problem_id),
        RecordLink("run", Run.KIND, lambda it: it.run_id),
    ),
)  # fmt: skip
