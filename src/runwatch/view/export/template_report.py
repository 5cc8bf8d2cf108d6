"""The report on template eligibility: one row per blocker, with its next action and the reviewer's decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from runwatch.base.clock import format_iso
from runwatch.records.template import Blocker
from runwatch.view.export.file_formats import FileFormat, csv_table, markdown_table, markdown_text
from runwatch.view.templates.decisions import CHANGED
from runwatch.view.templates.eligibility import TemplateFacts, eligibility_label
from runwatch.view.text.format import counted

HEADER: Final = (
    "template", "version", "lane", "eligible", "blocker", "detail", "next_action", "what_to_do", "decision", "reason",
    "decided_at", "decided_on",
)  # fmt: skip

MULTI_PROFILE_HEADER: Final = ("profile", *HEADER)

_TEMPLATE: Final = (
    "template",
    "version",
    "lane",
    "eligible",
    "blockers",
    "decision",
    "reason",
    "decided_at",
    "decided_on",
)
_BLOCKER: Final = ("template", "blocker", "detail", "next_action", "what_to_do")


class ProfileTemplates(NamedTuple):
    """One profile in a report on several profiles; with a failure if its templates could not be read."""

    profile: str
    templates: Sequence[TemplateFacts]
    failure: str = ""


def render_report(form: FileFormat, templates: Sequence[TemplateFacts], profile: str, at: datetime) -> Iterator[str]:
    """Yield the report as the text of a file: as CSV one table with a row per blocker, else Markdown with separate
    tables for templates and blockers.
    """
    if form == "csv":
        yield from csv_table(HEADER, report_rows(templates))
        return
    yield "# Eligibility of templates\n\n"
    yield f"Profile {markdown_text(profile)}, {format_iso(at)}: {_count(templates)}.\n\n"
    yield from _tables(templates, "##")


def render_multi_profile_report(form: FileFormat, reports: Sequence[ProfileTemplates], at: datetime) -> Iterator[str]:
    """Yield the report on several profiles: one table with a profile column, or in Markdown a section for each, with
    its read failure if there is one.
    """
    if form == "csv":
        yield from csv_table(MULTI_PROFILE_HEADER, multi_profile_rows(reports))
        return
    yield "# Eligibility of templates\n\n"
    yield f"{counted(len(reports), 'profile')}, {format_iso(at)}.\n"
    for report in reports:
        yield f"\n## Profile {markdown_text(report.profile)}\n\n"
        if report.failure:
            yield f"Not read: {markdown_text(report.failure)}\n"
        else:
            yield f"{_count(report.templates)}.\n\n"
            yield from _tables(report.templates, "###")


def multi_profile_rows(reports: Iterable[ProfileTemplates]) -> Iterator[tuple[str | None, ...]]:
    """Yield the rows of :func:`report_rows` for several profiles, each with its profile first."""
    for report in reports:
        for row in report_rows(report.templates):
            yield report.profile, *row


def _count(templates: Sequence[TemplateFacts]) -> str:
    blocked = sum(facts.template.eligible is False for facts in templates)
    return f"{counted(len(templates), 'template')}, {blocked} blocked"


def _tables(templates: Sequence[TemplateFacts], heading: str) -> Iterator[str]:
    yield from markdown_table(
        _TEMPLATE, ((*_head(facts), ", ".join(facts.codes), *_tail(facts)) for facts in templates)
    )
    blockers = [(facts.id, *_blocker_cells(blocker)) for facts in templates for blocker in facts.blockers]
    if blockers:
        yield f"\n{heading} Blockers and their next actions\n\n"
        yield from markdown_table(_BLOCKER, blockers)


def report_rows(templates: Iterable[TemplateFacts]) -> Iterator[tuple[str | None, ...]]:
    """Yield the rows of the flat table: one for each blocker, and one for a template without blockers."""
    for facts in templates:
        if not facts.blockers:
            yield (*_head(facts), None, None, None, None, *_tail(facts))
        for blocker in facts.blockers:
            yield (*_head(facts), *_blocker_cells(blocker), *_tail(facts))


def _head(facts: TemplateFacts) -> tuple[str | None, ...]:
    template = facts.template
    return facts.id, template.template_version, template.access_lane, eligibility_label(template)


def _blocker_cells(blocker: Blocker) -> tuple[str | None, ...]:
    action = blocker.next_action
    return blocker.code, blocker.detail, *((None, None) if action is None else (action.type, action.detail))


def _tail(facts: TemplateFacts) -> tuple[str | None, ...]:
    decision = facts.decision
    if decision is None:
        return None, None, None, None
    on = decision.digest if decision.holds_for(facts.template) else f"{decision.digest} ({CHANGED})"
    return decision.verdict, decision.reason or None, format_iso(decision.at), on
