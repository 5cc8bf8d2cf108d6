"""The compliance export as the user sees it before it becomes a file."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import loads
from runwatch.base.text import is_clean
from runwatch.records.compliance import ComplianceExport
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.reports.compliance import (
    DIGEST_DIFFERS,
    DIGEST_MATCHES,
    count_receipts,
    decision_sections,
    digest_agrees,
    export_text,
    summary_sections,
)
from runwatch.view.text.glyphs import Role
from tests.support import resources
from tests.support.builders import KEY_ID
from tests.view.strategies import CONTEXT, json_values, many


def by_label(section: DetailSection) -> dict[str, DetailLine]:
    return {entry.label: entry for entry in section.lines}


def test_what_is_in_the_export_is_counted_before_it_is_written() -> None:
    shown = by_label(summary_sections(resources.compliance_export(), CONTEXT)[0])
    assert (shown["receipts"].text, shown["decisions"].text, shown["runs"].text) == ("1", "1", "37")
    assert shown["spend"].text == "1.62 USD"
    assert shown["receipts are"].text == "content_free"
    log = [{"kind": "proposal_decision"}] * 12 + [{"kind": "execution_cancellation"}]
    texts = [
        str(entry.text) for entry in summary_sections(resources.compliance_export(decision_log=log), CONTEXT)[0].lines
    ]
    assert {" 1  execution_cancellation", "12  proposal_decision"} <= {*texts}


def test_the_digest_is_checked_here() -> None:
    shown = by_label(summary_sections(resources.compliance_export(), CONTEXT)[0])
    assert (shown[""].text, shown[""].role) == (f"✓ {DIGEST_MATCHES}", Role.GOOD)


@pytest.mark.parametrize(
    ("attestation", "agrees"),
    [
        ({"algorithm": "sha256", "digest": "sha256:" + hashlib.sha256(b"").hexdigest().upper()}, True),
        ({"algorithm": "sha256", "digest": "0" * 64}, False),
        ({"algorithm": "sha512", "digest": "0" * 64}, None),
        ({"algorithm": "sha256", "digest": None}, None),
        (None, None),
    ],
)
def test_a_digest_that_cannot_be_told_is_called_neither_right_nor_wrong(
    attestation: dict[str, str | None] | None, agrees: bool | None
) -> None:
    assert digest_agrees(ComplianceExport({"receipts_ndjson": "", "attestation": attestation})) is agrees


def test_another_digest_is_a_warning_and_no_accusation() -> None:
    exported = resources.compliance_export(attestation={"algorithm": "sha256", "digest": "0" * 64})
    assert by_label(summary_sections(exported, CONTEXT)[0])[""].text == f"◷ {DIGEST_DIFFERS}"


def test_the_log_says_who_decided_what_and_leads_to_it() -> None:
    (section,) = decision_sections(resources.compliance_export(), CONTEXT)
    (entry,) = section.lines
    assert entry.text == f"cancelled run ex_01HXC  by {KEY_ID}"
    assert entry.target == ("run", "ex_01HXC")


def test_the_newest_decision_comes_first_and_unknown_kinds_lead_nowhere() -> None:
    log = [
        {"decision_id": "dec_1", "kind": "registry_action", "action": "disabled", "at": "2026-11-01T00:00:00Z",
         "resource": {"type": "arm", "id": "arm_1"}, "acted_by": None},
        {"decision_id": "dec_2", "kind": "moon_landing", "action": "landed", "at": "2026-11-02T00:00:00Z",
         "resource": {"type": "moon", "id": "m"}, "acted_by": "key_1"},
    ]  # fmt: skip
    (section,) = decision_sections(resources.compliance_export(decision_log=log), CONTEXT)
    assert [entry.text for entry in section.lines] == [
        "landed moon m  by key_1",
        "disabled saved model arm_1  by the service itself",
    ]
    assert [entry.target for entry in section.lines] == [None, ("arm", "arm_1")]


def test_a_period_without_decisions_says_so() -> None:
    (section,) = decision_sections(resources.compliance_export(decision_log=[]), CONTEXT)
    assert section.lines[0].text == "No decisions in this period."


def test_an_export_without_a_decision_log_is_not_one_of_no_decisions() -> None:
    raw = dict(resources.compliance_export().raw)
    del raw["decision_log"]
    exported = ComplianceExport(raw)
    assert by_label(summary_sections(exported, CONTEXT)[0])["decisions"].text == "the answer has no decision log"
    (section,) = decision_sections(exported, CONTEXT)
    assert [entry.text for entry in section.lines] == ["The answer has no decision log."]


def test_the_file_holds_exactly_what_the_service_sent() -> None:
    exported = resources.compliance_export(more={"exact": 1.10})
    assert loads(export_text(exported)) == dict(exported.raw)
    assert export_text(exported).isascii()


def test_receipts_are_lines_that_hold_something() -> None:
    assert count_receipts(ComplianceExport({"receipts_ndjson": '{"a":1}\n\n{"b":2}'})) == 2
    assert count_receipts(ComplianceExport({})) is None


exports = st.builds(
    ComplianceExport,
    st.fixed_dictionaries(
        {},
        optional={
            name: st.one_of(json_values, st.lists(json_values, max_size=4))
            for name in (
                "period", "content_policy", "receipts_ndjson", "usage_totals", "decision_log", "attestation", "more",
            )
        },
    ),
)  # fmt: skip


@many
@given(exports)
def test_any_export_is_drawn_clean(exported: ComplianceExport) -> None:
    for section in (*summary_sections(exported, CONTEXT), *decision_sections(exported, CONTEXT)):
        for entry in section.lines:
            assert is_clean(entry.label)
            assert is_clean(entry.text)
