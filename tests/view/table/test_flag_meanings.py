"""Every ``is:`` of every list says what it keeps, in the filter bar, the help and the manual."""

from __future__ import annotations

import pytest

from runwatch.view.problems.activity import ACTIVITY
from runwatch.view.resources.registry import RESOURCES, resource_named
from runwatch.view.table.flag_meanings import _COMMON, _OWN, flag_meaning, flag_sections, typed_flag_text

LISTS = (*RESOURCES, ACTIVITY)


def test_every_state_has_a_meaning_and_every_meaning_a_state() -> None:
    assert [(spec.name, name) for spec in LISTS for name in spec.flags if not flag_meaning(spec, name)] == []
    flags = {spec.name: spec.flags for spec in LISTS}
    assert [(list_, name) for list_, own in _OWN.items() for name in own if name not in flags[list_]] == []
    assert [name for name in _COMMON if not any(name in spec.flags for spec in LISTS)] == []


def test_the_help_lists_them_and_nothing_for_a_list_without_any() -> None:
    (section,) = flag_sections(resource_named("keys"))
    assert [(str(entry.label), str(entry.text)) for entry in section.lines] == [
        ("is:active", "it can be used"), ("is:off", "revoked"),
    ]  # fmt: skip
    assert flag_sections(resource_named("credentials")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("status=failed !is:te", "is:test: a test run, which calls no model"),
        ("is:broken", "is:broken: it failed or expired"),
        ("is:re", "is:review: its result asks you to review"),
        ("is:c", "is:composer: a run of the Review Composer; or cut"),
        ("is:live cost>1", ""), ("this:live", ""), ("is:nothing", ""), ("", ""),
    ],
)  # fmt: skip
def test_what_is_typed_is_explained_at_the_end_of_the_filter(text: str, words: str) -> None:
    assert typed_flag_text(resource_named("runs"), text) == words
