"""The whole hostile corpus in every string of every record: cells, sections, raw, prints and files for people are safe.

``RUNWATCH_LONG=1`` puts every text into every single string; without it each string gets its share of the corpus, so
that all texts and all strings come by in seconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

from runwatch.base.json import dumps, loads
from runwatch.base.text import is_clean
from runwatch.records.compliance import ComplianceExport
from runwatch.records.template import Template
from runwatch.view.detail.sections import DetailSection, build_sections
from runwatch.view.export import text_output
from runwatch.view.export.file_formats import encode_for_file, export_records
from runwatch.view.export.template_report import render_report
from runwatch.view.reports.compliance import decision_sections, summary_sections
from runwatch.view.resources.organization import COMPLIANCE, EVALS, USAGE
from runwatch.view.resources.registry import RESOURCES
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table import rows as table
from runwatch.view.templates.eligibility import TemplateFacts
from runwatch.view.text.safe_text import SafeText, json_block, line
from tests.support.filled import all_members, one_string_after_another, whole
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.safe_files import assert_safe_csv, assert_safe_markdown
from tests.view.strategies import CONTEXT, CONTEXTS, NOW

IS_LONG = bool(os.environ.get("RUNWATCH_LONG"))
STRING_SHARE = 1 if IS_LONG else 53
"""Every so manieth text goes into a string of a record; which ones, changes from string to string."""
RECORD_SHARE = 1 if IS_LONG else 5
"""The same for all strings of a record at once, from resource to resource; each gets all short texts in one as well."""

SHORT = [entry.text for entry in CORPUS if len(entry.text) < 200]
TEXTS = [entry.text[: 2000 if IS_LONG else 200] for entry in CORPUS]
SPECS: tuple[ResourceSpec[Any], ...] = (*RESOURCES, USAGE, EVALS, COMPLIANCE)

SMALL_FIRST = sorted(SPECS, key=lambda spec: spec.name != "proposals")
"""One that is small stands for all in the short run, where every string of a run would take seconds."""

each_resource = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: str(spec.name))


def assert_drawn(spec: ResourceSpec[Any], raw: dict[str, Any], number: int = 0) -> None:
    """Check that everything a screen or a terminal gets of a record passes the gate; the number picks the form."""
    subject, context = spec.subject(spec.record(raw)), CONTEXTS[number % len(CONTEXTS)]
    rows = table.build_rows(spec, [subject], context)
    assert_lines(rows[0].cell(column).text for column in spec.columns)
    assert_lines(text_output.table_lines(spec, rows, width=80))
    assert_sections(build_sections(spec, subject, context))
    assert_lines(text_output.detail_lines(spec, subject, context))
    assert_lines(text_output.csv_lines(spec.record, [raw]))
    shown = json_block(raw)
    assert isinstance(shown, SafeText)
    assert is_clean(shown)


def assert_lines(texts: Iterable[str]) -> None:
    """Every text is one clean line that the gate made."""
    for text in texts:
        assert isinstance(text, SafeText)
        assert is_clean(text)
        assert "\n" not in text


def assert_sections(made: Iterable[DetailSection]) -> None:
    """Headings, labels, values and notes are clean; what opening a line says too."""
    for section in made:
        assert_lines([section.title])
        for each in section.lines:
            assert_lines([each.label, line(each.note)])
            assert isinstance(each.text, SafeText)
            assert is_clean(each.text)
            assert is_clean(each.does)


@each_resource
def test_every_text_in_all_strings_of_a_record_is_drawn_as_text(spec: ResourceSpec[Any]) -> None:
    for number, text in enumerate(TEXTS[SPECS.index(spec) % RECORD_SHARE :: RECORD_SHARE]):
        assert_drawn(spec, all_members(spec.record, text), number)
    assert_drawn(spec, all_members(spec.record, ALL_AT_ONCE.text))


@pytest.mark.parametrize("spec", SMALL_FIRST, ids=lambda spec: str(spec.name))
def test_every_text_in_one_string_of_an_ordinary_record_is_drawn_as_text(spec: ResourceSpec[Any]) -> None:
    places = list(one_string_after_another(whole(spec)))
    assert places
    for number, (place, with_text) in enumerate(places):
        for text in SHORT[number % STRING_SHARE :: STRING_SHARE]:
            try:
                assert_drawn(spec, with_text(text), number)
            except Exception as error:
                error.add_note(f"{spec.name}.{place} = {text!r}")
                raise


@each_resource
def test_every_file_for_people_is_safe_to_open_and_every_file_for_programs_exact(spec: ResourceSpec[Any]) -> None:
    raws = [all_members(spec.record, text) for text in SHORT]
    subjects = [spec.subject(spec.record(raw)) for raw in raws]
    files = {
        form: encode_for_file("".join(export_records(form, spec, subjects, CONTEXT)))
        for form in ("csv", "md", "json", "ndjson")
    }
    assert_safe_csv(files["csv"].decode("utf-8"))
    markdown = files["md"].decode("utf-8")
    assert_safe_markdown(markdown)
    assert len(markdown.split("\n")) == len(raws) + 3
    assert files["json"].isascii()
    assert dumps(loads(files["json"])) == dumps(raws)
    assert [dumps(loads(one)) for one in files["ndjson"].splitlines()] == [dumps(raw) for raw in raws]


def test_the_report_on_templates_is_safe_to_open() -> None:
    facts = [TemplateFacts(Template(all_members(Template, text)), None, ()) for text in SHORT]
    assert_safe_csv("".join(render_report("csv", facts, SHORT[0], NOW)))
    for text in SHORT:
        told = "".join(render_report("md", facts[:3], text, NOW))
        assert_safe_markdown(told)


def test_the_reports_of_the_organization_are_drawn_as_text() -> None:
    for text in SHORT:
        exported = ComplianceExport(all_members(ComplianceExport, text))
        assert_sections(summary_sections(exported, CONTEXT))
        assert_sections(decision_sections(exported, CONTEXT))
