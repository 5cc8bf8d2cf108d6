"""Problems met by this machine, from the local journal."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.run import Run
from runwatch.view.problems.explanations import describe_submit_effect, explain_code, next_step
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry
from runwatch.view.spec.members import column, fields, id_column, member_lines, time_column
from runwatch.view.spec.resource import ComputedLine, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, duration
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import block, json_block, line
from runwatch.view.text.shell_commands import ShellService, add_service, profile_options
from runwatch.view.text.styled_text import CellText, StyledText, signed


def _code(entry: ProblemEntry, context: RenderContext) -> CellText:
    return signed(line(find_error_code(entry) or "no code"), Role.BAD, context.glyphs)


def find_error_code(entry: ProblemEntry) -> str | None:
    """Return the error code in the journal, else that of the problem's type."""
    return entry.code or entry.problem.code or None


def _head(entry: ProblemEntry, _: object, context: RenderContext) -> CellText:
    """Describe what went wrong in one line (manual: decisions, "Interface conventions")."""
    status = entry.status if entry.status is not None else entry.problem.status
    parts = [line(find_error_code(entry) or "no code")]
    if status is not None:
        parts.append(line(f"HTTP {status}"))
    if entry.problem.title:
        parts.append(line(entry.problem.title))
    return signed(f" {context.glyphs.dot} ".join(parts), Role.BAD, context.glyphs)


def _instance(entry: ProblemEntry, _: object, __: RenderContext) -> CellText | None:
    if entry.problem.instance is None and entry.status is None and entry.problem.status is None:
        return None
    return line(entry.problem.instance or "none: the answer did not come from the API")


def _request(entry: ProblemEntry, _: object, context: RenderContext) -> CellText | None:
    parts = [line(entry.request)]
    if entry.elapsed_s is not None:
        parts.append(duration(entry.elapsed_s))
    if entry.attempt is not None:
        parts.append(line(f"attempt {entry.attempt}"))
    return line(f"  {context.glyphs.dot}  ".join(parts)) if entry.request else None


def _effect(entry: ProblemEntry, _: object, __: RenderContext) -> CellText | None:
    if not entry.is_submit:
        return None
    is_problem = entry.problem.conforms(entry.status)
    return line(
        describe_submit_effect(find_error_code(entry) or "", entry.status, entry.attempt or 1, is_problem=is_problem)
    )


def _messages(entry: ProblemEntry) -> str | None:
    return (
        "; ".join(f"{error.field or ''} {error.message or ''}".strip() for error in entry.problem.errors or ()) or None
    )


def _fields(entry: ProblemEntry, _: object, __: RenderContext) -> CellText | None:
    errors = entry.problem.errors
    if not errors:
        return None
    return block("\n".join(f"{line(error.field)}  {line(error.message)}" for error in errors))


def _wait(entry: ProblemEntry, _: object, __: RenderContext) -> CellText | None:
    seconds = entry.problem.retry_after_s
    return None if seconds is None else StyledText(duration(seconds), Role.WARN)


def _next(entry: ProblemEntry, _: object, context: RenderContext) -> CellText:
    service = ShellService(profile_options(entry.profile), context.service.program)
    return line(add_service(next_step(find_error_code(entry) or "", entry.status), service))


PROBLEMS: Final[ResourceSpec[Any]] = ResourceSpec[ProblemEntry](
    record=ProblemEntry,
    name="problems",
    singular="problem",
    name_of=find_error_code,
    title="Problems",
    columns=(
        time_column("time|age=time", min_cells=3),
        column("code", find_error_code, cell=_code, min_cells=14, whole_first=True),
        column("http|status", title="status", align="right"),
        column("request", max_cells=48, min_cells=16, whole_first=True),
        id_column("instance=problem.instance"),
        column("profile", hide_order=2, hide_if_empty=True, is_extra=True),
        column("title=problem.title", hide_order=1, max_cells=60, min_cells=8, is_extra=True),
    ),
    fields=(
        *fields("path method operation"),
        # Columns, so that a word finds them.
        column("detail=problem.detail", max_cells=60, searched="value"),
        column("message", _messages, max_cells=60, searched="value"),
        *fields("cause host key"),
    ),
    sections=(
        SectionSpec(
            "Problem",
            (
                ComputedLine("instance", _instance), ComputedLine("problem", _head), MemberLine("detail"),
                ComputedLine(
                    "cause", lambda it, _, __: block(it.cause) if it.cause else None,
                    lambda it: "cause" if it.cause else "",
                ),
                ComputedLine("request", _request), ComputedLine("effect", _effect), ComputedLine("fields", _fields),
                ComputedLine("wait", _wait),
                ComputedLine("means", lambda it, _, __: line(explain_code(find_error_code(it) or "").sentence)),
                ComputedLine("next", _next),
            ),
        ),
        SectionSpec("Where", member_lines(
            "time:time profile origin method path operation status code title instance elapsed_s:s attempt key"
        )),
        SectionSpec("As the service sent it", (ComputedLine(
            "raw", lambda it, _, __: None if it.body is None else json_block(it.body), lambda _: "raw"
        ),)),
    ),
    links=(
        RecordLink("request", RequestEntry.KIND, lambda it: it.request_id),
        RecordLink("run", Run.KIND, lambda it: it.run_id),
    ),
    sort=(SortKey("time"),),
    empty="No problems recorded on this machine. Requests without a response are listed in Requests.",
    flags={"problem": lambda _: True, "submit": lambda it: it.is_submit},
)  # fmt: skip
