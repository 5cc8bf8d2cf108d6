"""Records that are printed and have no screen pass what every resource has to pass."""

from __future__ import annotations

import inspect
from typing import Any, Final

import pytest

from runwatch.view.export.text_output import detail_lines
from runwatch.view.resources.applications import APPLICATION, PLAN, SELECTION
from runwatch.view.resources.organization import COMPLIANCE, EVALS, USAGE
from runwatch.view.resources.verifiers import KEY_CONNECTION, VERIFIER_OUTCOME, VERIFIER_TEST
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, UNICODE, Role
from runwatch.view.text.status_format import detail_status, status_cell
from runwatch.view.text.styled_text import with_role
from tests.support import resources
from tests.view import test_resources
from tests.view.strategies import CONTEXT, NOW

# The properties are drawn inside of the tests, where Hypothesis cannot mark them.
pytestmark = pytest.mark.hypothesis

PRINTED: Final = (
    COMPLIANCE, EVALS, USAGE, APPLICATION, PLAN, SELECTION, KEY_CONNECTION, VERIFIER_OUTCOME, VERIFIER_TEST,
)  # fmt: skip
CHECKS: Final = [
    check
    for name, check in inspect.getmembers(test_resources, inspect.isfunction)
    if name.startswith("test_") and list(inspect.signature(check).parameters) == ["spec"]
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("spec", PRINTED, ids=lambda spec: spec.title)
def test_it_passes_what_every_resource_has_to_pass(spec: ResourceSpec[Any], check: Any) -> None:
    check(spec)


def test_there_are_checks_that_every_resource_has_to_pass() -> None:
    assert len(CHECKS) > 8


@pytest.mark.parametrize(
    ("word", "role", "shown"),
    [
        ("ready", Role.GOOD, "✓ ready"),
        ("degraded", Role.WARN, "◷ degraded"),
        ("failed", Role.BAD, "✗ failed"),
        ("disabled", Role.OFF, "⊘ disabled"),
        ("hovering", Role.PLAIN, "hovering"),
        (None, Role.PLAIN, "?"),
    ],
)
def test_a_standing_is_a_glyph_and_a_word_and_unknown_ones_claim_nothing(
    word: str | None, role: Role, shown: str
) -> None:
    drawn = with_role(status_cell(word, RenderContext(NOW, glyphs=UNICODE)))
    assert (drawn.text, drawn.role) == (shown, role)
    assert with_role(status_cell(word, RenderContext(NOW, glyphs=ASCII))).text.isascii()


def test_a_standing_of_a_wrong_type_is_shown_as_it_came() -> None:
    assert with_role(detail_status(3, CONTEXT)).text == "3"


@pytest.mark.parametrize(("reachable", "headline"), [(True, "can be used"), (False, "cannot be used yet")])
def test_a_test_begins_with_whether_the_check_can_be_used(reachable: bool, headline: str) -> None:
    text = "\n".join(detail_lines(VERIFIER_TEST, resources.verifier_test(reachable=reachable), CONTEXT))
    assert headline in text
    # The verdict of a probe looks bad and is right.
    assert ("A probe is never correct" in text) == reachable


def test_a_plan_shows_what_it_does_and_what_it_costs() -> None:
    text = "\n".join(detail_lines(PLAN, resources.plan(), CONTEXT))
    assert "0.15 USD" in text
    assert "Submits a test run." in text
    assert "A plan changes nothing" in text


def test_a_connection_is_usable_by_the_rule_of_the_interface() -> None:
    assert resources.connection().is_usable
    for over in (
        {"status": "disabled"}, {"test_state": "failed"}, {"tested_binding_revision": 1}, {"revoked_at": "now"},
        {"binding_revision": None, "tested_binding_revision": None},
    ):  # fmt: skip
        assert not resources.connection(**over).is_usable
