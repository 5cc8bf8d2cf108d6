"""Problems met from this machine, from the local journal."""

from __future__ import annotations

from typing import Any, Final

from runwatch.records.run import Run
from runwatch.view.drawn import block, json_block, line
from runwatch.view.entries import ProblemEntry, RequestEntry
from runwatch.view.explain import explain_code, next_step, submit_effect
from runwatch.view.format import Context, duration
from runwatch.view.glyphs import Role
from runwatch.view.resource import At, Column, Field, Link, ResourceSpec, SectionSpec, Shown, SortKey, Styled, Told
from runwatch.view.resources.common import as_moment, as_seconds, newest_first, when


def _code(entry: ProblemEntry, context: Context) -> Shown:
    return Styled(line(f"{context.glyphs.bad} {line(code_of(entry) or 'no code')}"), Role.BAD)


def code_of(entry: ProblemEntry) -> str | None:
    """The error code of a row: the journal's, else that of the Problem's type."""
    return entry.code or entry.problem.code or None


def _head(entry: ProblemEntry, _: object, context: Context) -> Shown:
    """One line that says what went wrong (console-anchors C6)."""
    status = entry.status if entry.status is not None else entry.problem.status
    parts = [line(code_of(entry) or "no code")]
    if status is not None:
        parts.append(line(f"HTTP {status}"))
    if entry.problem.title:
        parts.append(line(entry.problem.title))
    return Styled(line(f"{context.glyphs.bad} " + f" {context.glyphs.dot} ".join(parts)), Role.BAD)


def _instance(entry: ProblemEntry, _: object, __: Context) -> Shown:
    return line(entry.problem.instance or "none: the answer was no Problem of the service")


def _request(entry: ProblemEntry, _: object, context: Context) -> Shown | None:
    parts = [line(entry.request)]
    if entry.elapsed_s is not None:
        parts.append(duration(entry.elapsed_s))
    if entry.attempt is not None:
        parts.append(line(f"attempt {entry.attempt}"))
    return line(f"  {context.glyphs.dot}  ".join(parts)) if entry.request else None


def _effect(entry: ProblemEntry, _: object, __: Context) -> Shown | None:
    if not entry.is_submit:
        return None
    is_problem = entry.problem.conforms(entry.status)
    return line(submit_effect(code_of(entry) or "", entry.status, entry.attempt or 1, is_problem=is_problem))


def _cause(entry: ProblemEntry, _: object, __: Context) -> Shown | None:
    return block(entry.cause) if entry.cause else None


def _fields(entry: ProblemEntry, _: object, __: Context) -> Shown | None:
    errors = entry.problem.errors
    if not errors:
        return None
    return block("\n".join(f"{line(error.field)}  {line(error.message)}" for error in errors))


def _wait(entry: ProblemEntry, _: object, __: Context) -> Shown | None:
    seconds = entry.problem.retry_after_s
    return None if seconds is None else Styled(duration(seconds), Role.WARN)


def _means(entry: ProblemEntry, _: object, __: Context) -> Shown:
    return line(explain_code(code_of(entry) or "").sentence)


def _next(entry: ProblemEntry, _: object, __: Context) -> Shown:
    return line(next_step(code_of(entry) or ""))


def _raw(entry: ProblemEntry, _: object, __: Context) -> Shown | None:
    return None if entry.body is None else json_block(entry.body)


PROBLEMS: Final[ResourceSpec[Any]] = ResourceSpec[ProblemEntry](
    record=ProblemEntry,
    name="problems",
    singular="problem",
    title="Problems",
    columns=(
        Column(
            id="time", title="time", aliases=("age",), value=lambda it: it.time,
            format=when, is_whole=True, least=3, leaves=5, sort_key=lambda it: newest_first(it.time),
        ),
        Column(id="code", title="code", value=code_of, cell=_code, least=14),
        Column(id="http", title="http", aliases=("status",), value=lambda it: it.status, align="right", leaves=4),
        Column(id="request", title="request", value=lambda it: it.request, leaves=3, most=48, least=10),
        Column(id="instance", title="instance", value=lambda it: it.problem.instance, least=36),
        Column(id="profile", title="profile", value=lambda it: it.profile, leaves=2),
        Column(id="title", title="title", value=lambda it: it.problem.title, leaves=1, most=60, least=8),
    ),
    fields=(
        Field(id="path", value=lambda it: it.path),
        Field(id="method", value=lambda it: it.method),
        Field(id="operation", value=lambda it: it.operation),
        Field(id="detail", value=lambda it: it.problem.detail),
        Field(id="cause", value=lambda it: it.cause),
        Field(id="host", value=lambda it: it.host),
        Field(id="key", value=lambda it: it.key),
    ),
    sections=(
        SectionSpec(
            "Problem",
            (
                Told("instance", _instance),
                Told("problem", _head),
                At("detail"),
                Told("cause", _cause, lambda it: "cause" if it.cause else ""),
                Told("request", _request),
                Told("effect", _effect),
                Told("fields", _fields),
                Told("wait", _wait),
                Told("means", _means),
                Told("next", _next),
            ),
        ),
        SectionSpec(
            "Where",
            (
                At("time", format=as_moment), At("profile"), At("origin"), At("method"), At("path"), At("operation"),
                At("status"), At("code"), At("title"), At("instance"), At("elapsed_s", format=as_seconds),
                At("attempt"), At("key"),
            ),
        ),
        SectionSpec("As the service sent it", (Told("raw", _raw, lambda _: "raw"),)),
    ),
    links=(
        Link("request", RequestEntry.KIND, lambda it: it.request_id),
        Link("run", Run.KIND, lambda it: it.run_id),
    ),
    sort=(SortKey("time"),),
    empty="No problems were met from this machine.",
    flags={
        "problem": lambda _: True,
        "submit": lambda it: it.is_submit,
    },
)  # fmt: skip
