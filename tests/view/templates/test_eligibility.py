"""What reviewers read first: the verdict, what changed, what does not fit together, and what was decided."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from runwatch.records.digest import compute_digest
from runwatch.records.template import Template
from runwatch.store.repositories.record_versions import RecordVersion
from runwatch.view.detail.sections import build_sections
from runwatch.view.export.template_report import HEADER, render_report, report_rows
from runwatch.view.query.parser import parse_filter
from runwatch.view.resources.templates import TEMPLATES
from runwatch.view.table.rows import build_rows
from runwatch.view.templates import catalog_consistency
from runwatch.view.templates.decisions import ReviewDecision, parse_decision
from runwatch.view.templates.eligibility import TemplateFacts, describe_changes, eligibility_text
from runwatch.view.text.glyphs import Role
from runwatch.view.text.styled_text import with_role
from tests.support import resources
from tests.support.rows import cells_of
from tests.support.sorting import sort_rows
from tests.view.strategies import CONTEXT, NOW

READY = resources.template()
BLOCKED = resources.template("pooled-open-model", eligible=False)
WITH_ROW = resources.template("byok-open-model", catalog_row=dict(resources.catalog_entry().raw))


def blocked_by(*codes: str) -> Template:
    return Template({**BLOCKED.raw, "blockers": [{"code": code} for code in codes]})


def shown(facts: TemplateFacts) -> dict[str, str]:
    """The lines of the detail by their label; those of the catalog row are left out."""
    found = build_sections(TEMPLATES, facts, CONTEXT)
    return {entry.label: entry.text for section in found[:3] for entry in section.lines}


def seen(template: Template, days: int) -> RecordVersion[Template]:
    return RecordVersion(template, compute_digest(template), NOW - timedelta(days=days), NOW - timedelta(days=days - 1))


@pytest.mark.parametrize(
    ("template", "words", "role"),
    [
        (READY, "Eligible: no blockers.", Role.GOOD),
        (BLOCKED, "Not eligible: 1 blocker.", Role.BAD),
        (blocked_by("a", "b"), "Not eligible: 2 blockers.", Role.BAD),
        (blocked_by(), "Not eligible: the service names no blocker.", Role.BAD),
        (Template({"template_id": "x"}), "The service does not say whether it is eligible.", Role.WARN),
        (Template({"eligible": "yes", "blockers": [{}]}), "The service does not say whether it is eligible: 1 blocker.",
         Role.WARN),
    ],
)  # fmt: skip
def test_the_verdict_is_a_sentence(template: Template, words: str, role: Role) -> None:
    assert eligibility_text(template) == (words, role)


def test_blockers_are_numbered_in_the_detail() -> None:
    titles = [section.title for section in build_sections(TEMPLATES, blocked_by("one", "two"), CONTEXT)]
    assert titles[:3] == ["Eligibility", "Blocker 1 one", "Blocker 2 two"]


def test_the_whole_catalog_row_is_shown() -> None:
    found = build_sections(TEMPLATES, WITH_ROW, CONTEXT)
    tree = next(section for section in found if section.title == "Catalog row")
    assert tree.is_tree
    assert [entry.level for entry in tree.lines if entry.label == "certification_id"] == [2]
    told = {entry.text for section in found for entry in section.lines}
    assert {"evd_resolution_0001", "conn_01HX5", "cert_0001"} <= told


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (READY, Template({**READY.raw, "eligible": False}), ["blocked, was eligible"]),
        (blocked_by("a"), blocked_by("a", "b"), ["blocker 2 b is new"]),
        (blocked_by("a", "b"), blocked_by("b"), ["blocker a is gone"]),
        (blocked_by("a"), Template({**blocked_by("a").raw, "blockers": [{"code": "a", "detail": "x"}]}),
         ["blocker a says something else"]),
        (READY, Template({**READY.raw, "template_version": "2"}), ["1 value of the rest differs"]),
        (READY, Template({**READY.raw, "new": 1, "newer": None}), ["2 values of the rest differ"]),
        (READY, READY, []),
    ],
)  # fmt: skip
def test_what_changed_is_said_by_name(before: Template, now: Template, told: list[str]) -> None:
    assert list(describe_changes(before, now)) == told


def test_a_detail_says_what_changed_since_the_version_before() -> None:
    facts = TemplateFacts(BLOCKED, versions=(seen(BLOCKED, 1), seen(blocked_by("other"), 4)))
    assert facts.before == facts.versions[1]
    told = shown(facts)["changed since"]
    assert "(3d ago)" in told
    assert "blocker 1 pool_not_entitled is new; blocker other is gone" in told


def test_the_present_version_need_not_be_kept_yet() -> None:
    assert TemplateFacts(BLOCKED, versions=(seen(READY, 4),)).before == seen(READY, 4)
    assert TemplateFacts(BLOCKED, versions=(seen(BLOCKED, 4),)).before is None
    assert TemplateFacts(BLOCKED).before is None
    assert "changed since" not in shown(TemplateFacts(BLOCKED))


def decision(record: Template, reason: str = "as agreed") -> ReviewDecision:
    return ReviewDecision("go", reason, compute_digest(record), NOW - timedelta(hours=2))


def test_a_decision_is_kept_as_text_and_read_again() -> None:
    made = decision(READY, 'with "quotes" and a \n line')
    assert parse_decision(made.text, made.at) == made
    for broken in ("", "no JSON", "[]", '{"verdict": "maybe", "reason": "", "digest": ""}', '{"verdict": "go"}'):
        assert parse_decision(broken, NOW) is None


def test_a_decision_on_another_text_says_that_the_record_changed_since() -> None:
    made = decision(READY)
    assert shown(TemplateFacts(READY, made))["decision"] == "✓ go, 2h ago: as agreed"
    after = Template({**READY.raw, "template_version": "2"})
    facts = TemplateFacts(after, made)
    assert shown(facts)["decision"] == "◷ go, 2h ago: as agreed · the record has changed since"
    (row,) = build_rows(TEMPLATES, [facts], CONTEXT)
    assert cells_of(row)["decision"] == "◷ go, old"
    assert (row.flag("decided"), row.flag("changed")) == (True, True)


def test_what_is_not_eligible_comes_first_and_what_nobody_knows_last() -> None:
    unknown = Template({"template_id": "a"})
    found = sort_rows(TEMPLATES, build_rows(TEMPLATES, [READY, unknown, WITH_ROW, BLOCKED], CONTEXT))
    assert [row.id for row in found] == ["pooled-open-model", "byok-open-model", "starter", "a"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("is:eligible", {"starter", "byok-open-model"}),
        ("is:blocked", {"pooled-open-model"}),
        ("blocker:pool_not", {"pooled-open-model"}),
        ("blockers>0", {"pooled-open-model"}),
        ("is:decided", {"starter"}),
        ("standing:conformant", {"byok-open-model"}),
    ],
)
def test_filters_know_eligibility_blockers_and_decisions(text: str, ids: set[str]) -> None:
    found = build_rows(TEMPLATES, [TemplateFacts(READY, decision(READY)), BLOCKED, WITH_ROW], CONTEXT)
    query = parse_filter(text, TEMPLATES)
    assert {row.id for row in found if query.matches(row)} == ids


def row_with(**over: Any) -> Template:
    return resources.template(catalog_row=dict(resources.catalog_entry(**over).raw))


def test_the_parts_of_an_ordinary_catalog_row_fit_together() -> None:
    requested = {
        "model_key": "northwind/ember-7b-instruct", "served_variant_id": "sv_ember7b_default",
        "upstream_ref": "ember-7b-instruct",
    }  # fmt: skip
    whole = row_with(provenance={"requested": requested})
    for check in (catalog_consistency.check_variant, catalog_consistency.check_model):
        told = check(whole, CONTEXT)
        assert told is not None
        assert with_role(told).role is Role.GOOD
    assert catalog_consistency.check_eligibility(whole, CONTEXT) is None
    upstream = catalog_consistency.check_upstream(whole, CONTEXT)
    assert upstream == ("◷ requested ember-7b-instruct, resolved ember-7b-instruct-20260501", Role.WARN)


def test_what_differs_between_the_groups_is_named_with_its_places() -> None:
    told = catalog_consistency.check_variant(row_with(deployment={"served_variant_id": "sv_other"}), CONTEXT)
    assert told is not None
    assert with_role(told).role is Role.WARN
    assert "sv_ember7b_default in offering, certification; sv_other in deployment" in with_role(told).text


def test_a_test_older_than_seven_days_is_called_old() -> None:
    def tested(days: int) -> Role:
        at = (NOW - timedelta(days=days)).isoformat()
        told = catalog_consistency.check_last_test(row_with(deployment={"last_tested_at": at}), CONTEXT)
        assert told is not None
        return with_role(told).role

    assert (tested(7), tested(8)) == (Role.GOOD, Role.WARN)
    assert catalog_consistency.check_last_test(READY, CONTEXT) is None


def test_a_verdict_that_contradicts_the_blockers_is_reported() -> None:
    assert catalog_consistency.check_eligibility(Template({**BLOCKED.raw, "eligible": True}), CONTEXT) is not None
    assert catalog_consistency.check_eligibility(blocked_by(), CONTEXT) is not None
    assert catalog_consistency.check_eligibility(BLOCKED, CONTEXT) is None


def test_the_report_has_a_row_a_blocker_and_one_for_what_has_none() -> None:
    found = list(report_rows([TemplateFacts(READY, decision(READY)), TemplateFacts(blocked_by("a", "b"))]))
    assert [(row[0], row[4], row[8]) for row in found] == [
        ("starter", None, "go"),
        ("pooled-open-model", "a", None),
        ("pooled-open-model", "b", None),
    ]
    assert {len(row) for row in found} == {len(HEADER)}


def test_the_report_says_when_the_record_changed_after_the_decision() -> None:
    (row,) = report_rows([TemplateFacts(READY, decision(WITH_ROW))])
    assert str(row[-1]).endswith("(the record has changed since)")


def test_the_markdown_report_escapes_what_would_be_markup() -> None:
    evil = Template({"template_id": "a|b", "eligible": False, "blockers": [{"code": "<b>", "detail": "[x](y)\n# z"}]})
    text = "".join(render_report("md", [TemplateFacts(evil)], "work", NOW))
    assert text.startswith(
        "# Eligibility of templates\n\nProfile work, 2026-11-21T12:00:00.000Z: 1 template, 1 blocked."
    )
    assert "<b>" not in text
    assert "[x](y)" not in text
    assert all(line.count(" | ") in {4, 8} or not line.startswith("| ") for line in text.splitlines())


def test_the_list_says_what_to_do_without_the_command_and_nothing_of_an_unknown_certification() -> None:
    detail = "Test the connection: runwatch sources test conn_1"
    blocker = {"code": "connection_test_required", "next_action": {"type": "test_connection", "detail": detail}}
    facts = TemplateFacts(Template({**BLOCKED.raw, "blockers": [blocker]}))
    cells = cells_of(build_rows(TEMPLATES, [facts], CONTEXT)[0])
    assert cells["next"] == "Test the connection"
    assert cells["standing"] == CONTEXT.glyphs.nothing
    assert detail in [entry.text for section in build_sections(TEMPLATES, facts, CONTEXT) for entry in section.lines]
