"""The journal: cheap to write, bounded, and the place where an instance id is found again."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from runwatch.api.calls import RequestAttempt
from runwatch.base.log import keep_secret
from runwatch.base.secrets.secret import Secret
from runwatch.records.problem import Problem, synthetic_problem
from runwatch.store.db.database import Database
from runwatch.store.repositories import journal as module
from runwatch.store.repositories.journal import Journal, JournalProblem, JournalRequest
from tests.store.stub import ORIGIN, exchange
from tests.support.builders import problem, validation_problem
from tests.support.clock import START
from tests.support.hostile import CORPUS


@pytest.fixture
def journal(database: Database) -> Journal:
    return Journal(database)


def failed(number: int = 1, said: Problem | None = None, **over: Any) -> Any:
    said = said or problem("internal")
    return exchange(number, status=said.status, problem=said, **over)


async def test_a_request_comes_back_as_it_was(journal: Journal) -> None:
    journal.note(
        exchange(
            7, query="after=ev_1", status=None, error="timeout", key="key-1", sent_bytes=12, attempt=3, elapsed_s=30.5
        )
    )
    assert (await journal.sent()).requests == [
        JournalRequest(
            at=START, profile="work", origin=ORIGIN, operation="getExecutionsByExecutionId", method="GET",
            path="/v1/executions/ex_7", query="after=ev_1", status=None, elapsed_s=30.5, attempt=3, key="key-1",
            sent_bytes=12, received_bytes=420, error="timeout",
        ),
    ]  # fmt: skip
    assert await journal.problems() == []


async def test_a_problem_comes_back_as_it_was(journal: Journal) -> None:
    said = validation_problem(task__objective="Required.")
    journal.note(failed(7, said, key="key-1", attempt=2))
    [line] = await journal.problems()
    assert line == JournalProblem(
        at=START, profile="work", origin=ORIGIN, operation="getExecutionsByExecutionId", method="GET",
        path="/v1/executions/ex_7", status=400, code="validation_failed", title=said.title,
        detail="Some fields need attention.", instance=said.instance, key="key-1", attempt=2, raw=said.raw,
    )  # fmt: skip
    assert line.raw == said.raw
    assert len((await journal.sent()).requests) == 1


async def test_each_attempt_is_a_line_with_its_own_instance(journal: Journal) -> None:
    for attempt in (1, 2, 3):
        journal.note(failed(attempt=attempt))
    lines = await journal.problems()
    assert [line.attempt for line in lines] == [3, 2, 1]
    assert len({line.instance for line in lines}) == 3


async def test_a_problem_that_this_client_worded_has_no_instance(journal: Journal) -> None:
    journal.note(
        failed(said=synthetic_problem("not_a_problem", "The answer did not come from the API", 502, "it is HTML"))
    )
    [line] = await journal.problems()
    assert (line.instance, line.status, line.detail) == (None, 502, "it is HTML")
    assert await journal.find("") == []


async def test_lines_come_newest_first_by_profile_and_in_number(journal: Journal) -> None:
    for number in range(6):
        journal.note(failed(number, profile="play" if number % 2 else "work", at=START + timedelta(seconds=number)))
    assert [line.path[-4:] for line in (await journal.sent(limit=3)).requests] == ["ex_5", "ex_4", "ex_3"]
    assert [line.path[-4:] for line in (await journal.sent(profile="work")).requests] == ["ex_4", "ex_2", "ex_0"]
    assert [line.path[-4:] for line in await journal.problems(profile="play", limit=2)] == ["ex_5", "ex_3"]
    assert (await journal.sent(profile="other")).requests == []


@pytest.mark.parametrize(("status", "count"), [(404, 0), (500, 1)])
async def test_a_search_for_a_receipt_that_a_run_has_not_is_no_problem(
    journal: Journal, status: int, count: int
) -> None:
    over: Any = {"operation": "getReceiptsByExecutionId", "path": "/v1/receipts/ex_1"}
    journal.note(failed(said=synthetic_problem("unstated", "No", status, ""), **over))
    assert len(await journal.problems()) == count
    assert len((await journal.sent()).requests) == 1


async def test_what_was_sent_since_comes_with_the_problems_that_it_met(journal: Journal) -> None:
    journal.note(failed(1))
    journal.note(exchange(2))
    before = await journal.sent()
    assert [line.path[-4:] for line in before.requests] == ["ex_2", "ex_1"]
    nothing = await journal.sent(after=before.end)
    assert (nothing.requests, nothing.problems, nothing.end) == ([], [], before.end)
    journal.note(exchange(3))
    since = await journal.sent(after=nothing.end)
    assert ([line.path[-4:] for line in since.requests], since.problems) == (["ex_3"], [])
    journal.note(failed(4))
    last = await journal.sent(after=since.end)
    assert [line.path[-4:] for line in last.requests] == ["ex_4"]
    assert [line.path[-4:] for line in last.problems] == ["ex_4"]


async def test_noting_writes_nothing_by_itself_and_flushing_writes_all_in_one_transaction(
    journal: Journal, database: Database
) -> None:
    begun: list[str] = []
    await database.read(lambda connection: connection.set_trace_callback(begun.append))
    for number in range(module.MAX_QUEUED - 1):
        journal.note(exchange(number))
    await database.read(lambda _: None)
    assert [statement for statement in begun if "INSERT" in statement] == []
    await journal.flush()
    assert begun.count("BEGIN IMMEDIATE") == 1
    await database.read(lambda connection: connection.set_trace_callback(None))
    assert len((await journal.sent(limit=1000)).requests) == module.MAX_QUEUED - 1


async def test_many_lines_and_every_problem_go_to_the_disk_by_themselves(journal: Journal, database: Database) -> None:
    async def count() -> int:
        rows = await database.read(lambda connection: connection.execute("SELECT count(*) FROM request").fetchone())
        return int(rows[0])

    for number in range(module.MAX_QUEUED):
        journal.note(exchange(number))
    assert await count() == module.MAX_QUEUED
    journal.note(exchange())
    journal.note(failed())
    assert await count() == module.MAX_QUEUED + 2


async def test_closing_writes_what_is_queued(journal: Journal, database: Database) -> None:
    journal.note(exchange())
    await journal.close()
    assert len((await Journal(database).sent()).requests) == 1


async def test_lines_that_cannot_be_written_fail_nothing(
    journal: Journal, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await database.read(lambda connection: connection.execute("PRAGMA query_only = ON").fetchall())
    journal.note(failed())
    journal.note(exchange())
    await journal.flush()
    database.close()
    journal.note(exchange())
    journal.note(failed())
    await journal.close()
    assert "journal lines were lost" in caplog.text


async def test_lines_that_cannot_be_written_wait_until_there_is_room(journal: Journal, database: Database) -> None:
    await database.read(lambda connection: connection.execute("PRAGMA query_only = ON").fetchall())
    for number in range(4):
        journal.note(failed(number) if number % 2 else exchange(number))
        await journal.flush()
    assert await journal.problems() == []
    await database.read(lambda connection: connection.execute("PRAGMA query_only = OFF").fetchall())
    assert len(await journal.problems()) == 2
    assert [line.path for line in (await journal.sent()).requests] == [
        f"/v1/executions/ex_{number}" for number in (3, 2, 1, 0)
    ]


async def test_the_journal_is_bounded(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_REQUESTS", 30)
    monkeypatch.setattr(module, "MAX_PROBLEMS", 10)
    for number in range(100):
        journal.note(failed(number))
        if number % 7 == 0:
            await journal.flush()
    requests = (await journal.sent(limit=1000)).requests
    assert [line.path.rpartition("_")[2] for line in requests] == [str(number) for number in range(99, 69, -1)]
    problems = await journal.problems(limit=1000)
    assert [line.path.rpartition("_")[2] for line in problems] == [str(number) for number in range(99, 89, -1)]


def test_the_bounds_are_those_that_readme_may_claim() -> None:
    assert (module.MAX_REQUESTS, module.MAX_PROBLEMS) == (10_000, 5_000)


async def test_what_waits_in_memory_is_bounded(database: Database) -> None:
    await database.read(lambda connection: connection.execute("PRAGMA query_only = ON").fetchall())
    journal = Journal(database)
    database.close()
    for number in range(module.MAX_REQUESTS + 10):
        journal._queue.append(exchange(number))
    assert len(journal._queue) == module.MAX_REQUESTS


# Finding.


async def test_an_instance_is_found_in_any_form_and_newest_first(journal: Journal) -> None:
    first = problem("internal", instance="b71d6a11-1f7c-4b53-8a43-6a0b6f0a7c13")
    second = problem("not_found", instance="0e7f6d9e-6b0e-4d0e-9d55-1b2f0c4d9a12")
    for said in (first, second, *[problem("internal") for _ in range(20)]):
        journal.note(failed(said=said))
    assert [line.instance for line in await journal.find("B71D6A111F7C")] == [first.instance]
    assert [line.code for line in await journal.find(second.instance or "")] == ["not_found"]
    mail = f"Hello, we saw {first.instance} and then …{(second.instance or '')[10:28].upper()}… in the facade."
    assert [line.instance for line in await journal.find(mail)] == [second.instance, first.instance]
    assert await journal.find("nothing of the kind") == []


async def test_every_instance_is_found_by_every_stretch_of_eight_digits(journal: Journal) -> None:
    names = [str(uuid.uuid5(uuid.NAMESPACE_URL, str(number))) for number in range(40)]
    said = [problem("internal", instance=name) for name in names]
    for item in said:
        journal.note(failed(said=item))
    for item in said[::8]:
        plain = (item.instance or "").replace("-", "")
        for start in range(0, 25, 5):
            assert [line.instance for line in await journal.find(plain[start : start + 8])] == [item.instance]


# Secrets and hostile text.


async def test_a_key_that_a_service_repeats_does_not_reach_the_journal(journal: Journal, database: Database) -> None:
    secret = "solverapi_test_journal-canary-77aa01"
    keep_secret(Secret(secret))
    said = problem("internal", detail=f"bad key {secret}", instance=secret, title=secret, extra={"sent": secret})
    journal.note(failed(said=said, path=f"/v1/{secret}", query=f"key={secret}", error=f"sent {secret}", key=secret))
    [line] = await journal.problems()
    assert "[redacted]" in str(line.detail)
    assert line.raw["extra"] == {"sent": "[redacted]"}
    await journal.sent()
    database.close()
    for path in database.path.parent.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert secret.encode() not in content
            assert secret.replace("-", "").encode() not in content


async def test_any_text_in_a_problem_is_kept(journal: Journal) -> None:
    for hostile in CORPUS:
        text = hostile.text
        said = problem("internal", title=text, detail=text, instance=text, extra={text: text})
        journal.note(failed(said=said, path=text, query=text, error=text, profile=text, key=text))
        [line, *_] = await journal.problems(profile=text, limit=1)
        assert line.raw == said.raw, hostile.name
        assert (line.path, line.key, line.title) == (text, text, text), hostile.name
        if text.strip().strip("-"):
            assert line in await journal.find(text), hostile.name


async def test_recent_requests_of_a_service_are_counted_whoever_made_them(journal: Journal, database: Database) -> None:
    journal.note(exchange(1))
    other = Journal(database)
    other.note(exchange(2))
    other.note(exchange(2)._replace(status=None, error="refused"))
    await journal.flush()
    await other.flush()
    minute = timedelta(seconds=60)
    assert await journal.count_between(ORIGIN, START - minute, START) == 2
    assert await journal.count_between(ORIGIN, START + timedelta(seconds=1), START + minute) == 0
    assert await journal.count_between(ORIGIN, START - 2 * minute, START - minute) == 0
    assert await journal.count_between("https://elsewhere.example", START - minute, START) == 0


async def test_reads_wait_to_be_written_together_and_failures_and_writes_do_not(journal: Journal) -> None:
    def is_due(after_s: float, *attempts: RequestAttempt, **waits: bool) -> bool:
        journal._queue.clear()
        journal._queue.extend(attempts)
        return journal.is_due(START + timedelta(seconds=after_s), **waits)

    read = exchange(1)
    assert not is_due(60)
    assert not is_due(4.9, read, read)
    assert is_due(5, read, read)
    assert is_due(-1, read), "the clock was set back"
    assert is_due(0, read, waits=False)
    for urgent in (
        read._replace(method="POST"), read._replace(status=404), read._replace(status=None, error="reset"),
        read._replace(error="unusable"), failed(),
    ):  # fmt: skip
        assert is_due(0, read, urgent), urgent
