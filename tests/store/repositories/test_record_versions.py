"""Each changed version of a record is kept with the times when it was first and last seen, for 90 days."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runwatch.records.digest import compute_digest
from runwatch.records.template import Template
from runwatch.store.db.database import Database
from runwatch.store.repositories.record_versions import KEPT_FOR, RecordVersions
from runwatch.store.repositories.scope import Scope
from tests.store.stub import SCOPE
from tests.support.clock import START
from tests.support.hostile import CORPUS, Hostile
from tests.support.resources import template

MINUTE = timedelta(minutes=1)
BLOCKED = template("pooled-open-model", eligible=False)
CLEARED = template("pooled-open-model")


@pytest.fixture
def versions(database: Database) -> RecordVersions:
    return RecordVersions(database)


async def of(
    versions: RecordVersions, scope: Scope, record_id: str = BLOCKED.id
) -> list[tuple[Template, object, object]]:
    known = (await versions.of(scope, Template)).get(record_id, [])
    return [(version.record, version.first_seen_at, version.last_seen_at) for version in known]


async def test_what_stays_the_same_is_one_version_that_was_seen_longer(versions: RecordVersions) -> None:
    for minute in range(3):
        await versions.note(SCOPE, [BLOCKED], START + minute * MINUTE)
    assert await of(versions, SCOPE) == [(BLOCKED, START, START + 2 * MINUTE)]


async def test_a_text_that_comes_back_is_a_version_of_its_own(versions: RecordVersions) -> None:
    for minute, record in enumerate((BLOCKED, CLEARED, BLOCKED)):
        await versions.note(SCOPE, [record], START + minute * MINUTE)
    assert [(record, seen) for record, seen, _ in await of(versions, SCOPE)] == [
        (BLOCKED, START + 2 * MINUTE),
        (CLEARED, START + MINUTE),
        (BLOCKED, START),
    ]


async def test_a_console_whose_answer_is_older_does_not_rewrite_history(versions: RecordVersions) -> None:
    await versions.note(SCOPE, [CLEARED], START + MINUTE)
    await versions.note(SCOPE, [BLOCKED], START)
    assert await of(versions, SCOPE) == [(CLEARED, START + MINUTE, START + MINUTE)]
    await versions.note(SCOPE, [CLEARED], START)
    assert await of(versions, SCOPE) == [(CLEARED, START + MINUTE, START + MINUTE)]


async def test_two_profiles_of_one_service_share_nothing(versions: RecordVersions) -> None:
    await versions.note(SCOPE, [BLOCKED], START)
    assert await of(versions, Scope("other", SCOPE.service, SCOPE.principal)) == []


async def test_versions_are_kept_for_ninety_days_after_they_were_last_seen(versions: RecordVersions) -> None:
    await versions.note(SCOPE, [BLOCKED], START)
    await versions.note(SCOPE, [CLEARED], START + MINUTE)
    assert await versions.prune(START + KEPT_FOR) == 0
    assert await versions.prune(START + KEPT_FOR + MINUTE) == 1
    assert [record for record, _, _ in await of(versions, SCOPE)] == [CLEARED]


async def test_what_has_no_id_or_no_end_has_no_versions(versions: RecordVersions) -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    await versions.note(SCOPE, [Template({"eligible": True}), Template({"template_id": "a", "deep": deep})], START)
    assert await versions.of(SCOPE, Template) == {}


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
async def test_any_text_of_the_service_comes_back_exactly(versions: RecordVersions, entry: Hostile) -> None:
    record = Template({"template_id": f"t{entry.text}", entry.text: [entry.text]})
    await versions.note(SCOPE, [record], START)
    assert [kept for kept, _, _ in await of(versions, SCOPE, record.id)] == [record]


def test_the_digest_is_of_what_is_said_and_not_of_its_order() -> None:
    one = Template({"template_id": "a", "inner": {"b": 1, "c": [2, {"d": None, "e": "x"}]}})
    same = Template({"inner": {"c": [2, {"e": "x", "d": None}], "b": 1}, "template_id": "a"})
    other = Template({"template_id": "a", "inner": {"b": 1, "c": [{"d": None, "e": "x"}, 2]}})
    assert compute_digest(one) == compute_digest(same)
    assert compute_digest(one) != compute_digest(other)
    assert compute_digest(one).startswith("sha256:")
