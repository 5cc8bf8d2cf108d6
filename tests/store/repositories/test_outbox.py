"""The outbox: a write is on the disk before it is sent, and there until its outcome is known."""

from __future__ import annotations

import asyncio
import json
import threading
from datetime import timedelta
from typing import Any

import pytest

from runwatch.api.client import Client
from runwatch.api.errors import ApiError, ApiProblem, InvalidRequestError, ReadOnlyError, UnusableResponseError
from runwatch.api.operations import OPERATIONS
from runwatch.api.write_outcome import proves_no_effect
from runwatch.base.errors import DataError, UsageError
from runwatch.base.json import encode_body
from runwatch.base.network.service_target import Target
from runwatch.records.error_codes import CODES
from runwatch.records.misplaced_secrets import find_secrets_in_ids
from runwatch.store.db.database import Database
from runwatch.store.repositories.notes import LocalNotes
from runwatch.store.repositories.outbox import RETRY_WINDOW, Outbox, UnconfirmedWrite, WriteRequest
from runwatch.store.repositories.scope import Scope
from runwatch.store.repositories.watch_list import WatchList
from tests.store.stub import ORIGIN, SCOPE, Sent, StubClient, held, lost, refused, unusable
from tests.support.builders import RUN_ID, request_body, run
from tests.support.clock import START, FakeClock
from tests.support.hostile import CORPUS
from tests.support.scripted import Said, ScriptedService

BODY = encode_body(request_body(task={"objective": "Größe: 0.10"}))
SUBMIT = WriteRequest("postExecutions", {}, BODY, "key-1", "nightly")
CANCEL = WriteRequest("postExecutionsByExecutionIdCancel", {"execution_id": RUN_ID}, None, "key-2", "cancel")
ACCEPTED = {"execution_id": RUN_ID, "status": "accepted"}


@pytest.fixture
def outbox(database: Database, clock: FakeClock) -> Outbox:
    return Outbox(database, clock=clock)


def orders(kept: list[UnconfirmedWrite]) -> list[WriteRequest]:
    return [item.request for item in kept]


async def keep(outbox: Outbox, client: StubClient, scope: Scope, order: WriteRequest = SUBMIT) -> UnconfirmedWrite:
    """Send an order whose answer gets lost."""
    before = list(client.answers)
    client.answers.clear()
    client.answers.append(lost(operation=order.operation))
    with pytest.raises(ApiError):
        await outbox.deliver(client, scope, order)
    client.answers.clear()
    client.answers.extend(before)
    return (await outbox.unconfirmed(scope))[-1]


def files(database: Database) -> list[str]:
    directory = database.path.parent / "outbox"
    return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


async def test_a_write_is_on_the_disk_before_the_first_byte_is_sent(
    outbox: Outbox, database: Database, client: StubClient
) -> None:
    seen: list[tuple[Any, ...]] = []

    class Looking(StubClient):
        async def request(self, *args: Any, **more: Any) -> Any:
            query = "SELECT operation, path, body, key, origin, created_at FROM outbox"
            seen.extend(await database.read(lambda connection: connection.execute(query).fetchall()))
            assert await outbox.unconfirmed(SCOPE) == [], "a write that is being sent is not offered"
            return await super().request(*args, **more)

    looking = Looking()
    looking.answers.append(ACCEPTED)
    answer = await outbox.deliver(looking, SCOPE, SUBMIT)
    assert seen == [("postExecutions", "{}", BODY, "key-1", ORIGIN, "2026-11-21T12:00:00.000Z")]
    assert looking.sent == [Sent("postExecutions", {}, BODY, "key-1")]
    assert answer.value == ACCEPTED


async def test_nothing_is_sent_that_cannot_be_kept(outbox: Outbox, database: Database, client: StubClient) -> None:
    await database.read(lambda connection: connection.execute("PRAGMA query_only = ON").fetchall())
    with pytest.raises(DataError):
        await outbox.deliver(client, SCOPE, SUBMIT)
    assert client.sent == []


async def test_nothing_is_sent_when_its_lock_cannot_be_made(
    outbox: Outbox, database: Database, client: StubClient
) -> None:
    (database.path.parent / "outbox").write_text("in the way")
    with pytest.raises(DataError):
        await outbox.deliver(client, SCOPE, SUBMIT)
    assert client.sent == []
    (database.path.parent / "outbox").unlink()
    assert await outbox.unconfirmed(SCOPE) == []


async def test_an_accepted_write_is_forgotten_with_its_lock(
    outbox: Outbox, database: Database, client: StubClient
) -> None:
    client.answers.append(ACCEPTED)
    await outbox.deliver(client, SCOPE, SUBMIT)
    await outbox.deliver(client, SCOPE, CANCEL)
    assert await outbox.unconfirmed(SCOPE) == []
    assert files(database) == []


async def test_an_accepted_submit_comes_onto_the_watch_list_with_its_request(
    outbox: Outbox, watchlist: WatchList, client: StubClient
) -> None:
    client.answers.append(ACCEPTED)
    await outbox.deliver(client, SCOPE, SUBMIT)
    await outbox.deliver(client, SCOPE, CANCEL)
    [watched] = await watchlist.list(SCOPE)
    assert (watched.run_id, watched.source, watched.added_at) == (RUN_ID, "submitted", START)
    # What names a kept write is the beginning of its objective, and no label that the user gave.
    assert await LocalNotes(watchlist._database).list_for(SCOPE, "run") == []
    assert await watchlist.request_of(SCOPE, RUN_ID) == json.loads(BODY)


_UNKNOWN = [
    lost("reset"),
    lost("timeout"),
    refused("internal", known=False),
    refused("upstream_unavailable", known=False),
    refused("x", status=408, known=False),
    unusable(),
]
_KNOWN = [
    *[refused(code) for code, facts in CODES.items() if facts.refuses_run],
    refused("unauthenticated"),
    refused("permission_denied"),
    refused("rate_limited"),
    refused("idempotency_conflict"),
    lost("refused", known=True),
    held(20),
    InvalidRequestError(operation="postExecutions", errors=[{"field": "mode", "message": "Required."}]),
    ReadOnlyError(operation="postExecutions", what="Submit a run"),
]


def _name(error: ApiError) -> str:
    return error.code if isinstance(error, ApiProblem) else type(error).__name__


@pytest.mark.parametrize("error", _UNKNOWN, ids=_name)
async def test_a_first_sending_with_an_unknown_outcome_keeps_the_write(
    outbox: Outbox, client: StubClient, error: ApiError
) -> None:
    client.answers.append(error)
    with pytest.raises(type(error)) as caught:
        await outbox.deliver(client, SCOPE, SUBMIT)
    assert caught.value is error
    assert error.key == "key-1"
    [kept] = await outbox.unconfirmed(SCOPE)
    assert kept == UnconfirmedWrite(kept.id, SUBMIT, SCOPE, ORIGIN, START, error.title, is_offered=True)


@pytest.mark.parametrize("error", _KNOWN, ids=_name)
async def test_a_first_sending_with_a_known_outcome_forgets_the_write(
    outbox: Outbox, database: Database, client: StubClient, error: ApiError
) -> None:
    client.answers.append(error)
    with pytest.raises(type(error)) as caught:
        await outbox.deliver(client, SCOPE, SUBMIT)
    assert caught.value.key == "key-1"
    assert await outbox.unconfirmed(SCOPE) == []
    assert files(database) == []


async def test_asking_again_for_a_cancel_of_a_run_that_has_ended_settles_it(
    outbox: Outbox, database: Database, client: StubClient
) -> None:
    """A final run never changes, so nothing is left to do."""
    kept = await keep(outbox, client, SCOPE, CANCEL)
    client.answers.append(refused("invalid_state", operation=CANCEL.operation))
    with pytest.raises(ApiProblem) as caught:
        await outbox.retry(client, SCOPE, kept)
    assert caught.value.outcome_known
    assert await outbox.unconfirmed(SCOPE) == []
    assert files(database) == []


@pytest.mark.parametrize("code", ["not_found", "permission_denied", "unauthenticated", "rate_limited"])
async def test_any_other_refusal_of_a_cancel_asked_again_keeps_it(
    outbox: Outbox, client: StubClient, code: str
) -> None:
    kept = await keep(outbox, client, SCOPE, CANCEL)
    client.answers.append(refused(code, operation=CANCEL.operation))
    with pytest.raises(ApiProblem) as caught:
        await outbox.retry(client, SCOPE, kept)
    assert not caught.value.outcome_known
    assert orders(await outbox.unconfirmed(SCOPE)) == [CANCEL]


@pytest.mark.parametrize("error", [*_UNKNOWN, *_KNOWN], ids=_name)
async def test_asking_again_settles_only_what_is_proven(outbox: Outbox, client: StubClient, error: ApiError) -> None:
    """A key that was revoked since, or a gate, says nothing about what the first sending did."""
    kept = await keep(outbox, client, SCOPE)
    client.answers.append(error)
    proven = isinstance(error, ApiProblem) and proves_no_effect(
        OPERATIONS["postExecutions"], error.status, error.code, in_doubt=True
    )
    error.outcome_known = error in _KNOWN
    try:
        with pytest.raises(type(error)) as caught:
            await outbox.retry(client, SCOPE, kept)
        assert caught.value.outcome_known is proven
        assert caught.value.key == "key-1"
        assert orders(await outbox.unconfirmed(SCOPE)) == ([] if proven else [SUBMIT])
    finally:
        error.outcome_known = error in _KNOWN


async def test_asking_again_sends_the_same_key_and_bytes_and_settles_the_write(
    outbox: Outbox, watchlist: WatchList, client: StubClient
) -> None:
    kept = await keep(outbox, client, SCOPE)
    client.answers.append(ACCEPTED)
    answer = await outbox.retry(client, SCOPE, kept)
    assert answer.value == ACCEPTED
    assert client.sent == [Sent("postExecutions", {}, BODY, "key-1")] * 2
    assert await outbox.unconfirmed(SCOPE) == []
    assert [watched.run_id for watched in await watchlist.list(SCOPE)] == [RUN_ID]


async def test_a_submit_whose_answer_names_no_run_is_kept(outbox: Outbox, client: StubClient) -> None:
    values: list[object] = [{"status": "accepted"}, {"execution_id": ""}, {"execution_id": 5}, [], None]
    for value in values:
        client.answers.clear()
        client.answers.append(value)
        with pytest.raises(UnusableResponseError) as caught:
            await outbox.deliver(client, SCOPE, SUBMIT)
        assert not caught.value.outcome_known
    assert orders(await outbox.unconfirmed(SCOPE)) == [SUBMIT]


async def test_a_sending_that_is_cancelled_keeps_the_write(outbox: Outbox, client: StubClient) -> None:
    sending = asyncio.Event()

    class Silent(StubClient):
        async def request(self, *args: Any, **more: Any) -> Any:
            sending.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(outbox.deliver(Silent(), SCOPE, SUBMIT))
    await sending.wait()
    assert await outbox.unconfirmed(SCOPE) == []
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [kept] = await outbox.unconfirmed(SCOPE)
    assert (kept.request, kept.reason) == (SUBMIT, None)


async def test_an_outcome_is_noted_though_the_task_is_cancelled_meanwhile(outbox: Outbox, database: Database) -> None:
    disk = threading.Event()

    class Cancelling(StubClient):
        async def request(self, *args: Any, **more: Any) -> Any:
            answer = await super().request(*args, **more)
            database.write_soon(lambda _: disk.wait(30))
            task.cancel()
            return answer

    cancelling = Cancelling()
    cancelling.answers.append(ACCEPTED)
    task = asyncio.create_task(outbox.deliver(cancelling, SCOPE, SUBMIT))
    with pytest.raises(asyncio.CancelledError):
        await task
    disk.set()
    assert await outbox.unconfirmed(SCOPE) == []


async def test_an_outcome_that_cannot_be_noted_is_reported_all_the_same(
    outbox: Outbox, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    class Filling(StubClient):
        async def request(self, *args: Any, **more: Any) -> Any:
            await database.read(lambda connection: connection.execute("PRAGMA query_only = ON").fetchall())
            return await super().request(*args, **more)

    filling = Filling()
    filling.answers.append(ACCEPTED)
    assert (await outbox.deliver(filling, SCOPE, SUBMIT)).value == ACCEPTED
    assert "could not be noted" in caplog.text
    await database.read(lambda connection: connection.execute("PRAGMA query_only = OFF").fetchall())
    assert orders(await outbox.unconfirmed(SCOPE)) == [SUBMIT]


async def test_kept_writes_are_offered_to_the_same_service_and_principal_only(
    outbox: Outbox, client: StubClient
) -> None:
    kept = await keep(outbox, client, SCOPE)
    same = Scope("another profile", SCOPE.service, SCOPE.principal)
    assert orders(await outbox.unconfirmed(same)) == [SUBMIT]
    for other in (Scope("work", "ten_02", SCOPE.principal), Scope("work", SCOPE.service, "key_2")):
        assert await outbox.unconfirmed(other) == []
        with pytest.raises(UsageError, match="another service or key"):
            await outbox.retry(client, other, kept)
    assert len(client.sent) == 1


async def test_a_write_is_offered_for_twelve_hours_and_then_only_listed(
    outbox: Outbox, client: StubClient, clock: FakeClock
) -> None:
    kept = await keep(outbox, client, SCOPE)
    clock.advance(RETRY_WINDOW.total_seconds() - 1)
    assert [item.is_offered for item in await outbox.unconfirmed(SCOPE)] == [True]
    clock.advance(1)
    [late] = await outbox.unconfirmed(SCOPE)
    assert not late.is_offered
    assert late.created_at + RETRY_WINDOW == clock.now()
    with pytest.raises(UsageError, match="too old") as caught:
        await outbox.retry(client, SCOPE, kept)
    assert "list" in str(caught.value.hint)
    with pytest.raises(UsageError, match="too old"):
        await outbox.deliver(client, SCOPE, SUBMIT)
    assert len(client.sent) == 1


async def test_asking_again_does_not_make_a_write_younger(outbox: Outbox, client: StubClient, clock: FakeClock) -> None:
    kept = await keep(outbox, client, SCOPE)
    clock.advance(RETRY_WINDOW.total_seconds() - 1)
    client.answers.append(lost())
    with pytest.raises(ApiError):
        await outbox.retry(client, SCOPE, kept)
    clock.advance(2)
    assert [item.is_offered for item in await outbox.unconfirmed(SCOPE)] == [False]


async def test_a_clock_that_was_set_back_by_a_day_proves_nothing(
    database: Database, outbox: Outbox, client: StubClient
) -> None:
    await keep(outbox, client, SCOPE)
    earlier = Outbox(database, clock=FakeClock(START - timedelta(days=1)))
    assert [item.is_offered for item in await earlier.unconfirmed(SCOPE)] == [False]


async def test_a_dropped_write_is_gone(outbox: Outbox, database: Database, client: StubClient) -> None:
    kept = await keep(outbox, client, SCOPE)
    await outbox.discard(kept)
    assert await outbox.unconfirmed(SCOPE) == []
    assert files(database) == []
    with pytest.raises(UsageError, match="settled"):
        await outbox.retry(client, SCOPE, kept)


async def test_a_write_that_is_being_sent_is_neither_sent_twice_nor_dropped(
    outbox: Outbox, database: Database, client: StubClient, clock: FakeClock
) -> None:
    kept = await keep(outbox, client, SCOPE)
    other = Database.open(database.path)
    try:
        elsewhere = Outbox(other, clock=clock)
        refusals = []

        class Meanwhile(StubClient):
            async def request(self, *args: Any, **more: Any) -> Any:
                for attempt in (
                    elsewhere.retry(client, SCOPE, kept),
                    elsewhere.deliver(client, SCOPE, SUBMIT),
                    elsewhere.discard(kept),
                    outbox.retry(client, SCOPE, kept),
                ):
                    with pytest.raises(UsageError, match="being sent"):
                        await attempt
                    refusals.append(await elsewhere.unconfirmed(SCOPE))
                return await super().request(*args, **more)

        meanwhile = Meanwhile()
        meanwhile.answers.append(ACCEPTED)
        await outbox.retry(meanwhile, SCOPE, kept)
        assert refusals == [[]] * 4
        assert len(client.sent) == 1
    finally:
        other.close()


async def test_the_same_order_again_asks_again(outbox: Outbox, client: StubClient) -> None:
    await keep(outbox, client, SCOPE)
    client.answers.append(refused("unauthenticated"))
    with pytest.raises(ApiProblem) as caught:
        await outbox.deliver(client, SCOPE, SUBMIT)
    assert not caught.value.outcome_known
    client.answers.clear()
    client.answers.append(ACCEPTED)
    await outbox.deliver(client, SCOPE, SUBMIT)
    assert await outbox.unconfirmed(SCOPE) == []


async def test_a_kept_key_is_not_used_for_another_body(outbox: Outbox, client: StubClient) -> None:
    await keep(outbox, client, SCOPE)
    with pytest.raises(UsageError, match="taken"):
        await outbox.deliver(client, SCOPE, WriteRequest("postExecutions", {}, b"{}", "key-1", ""))
    assert len(client.sent) == 1
    other_path = WriteRequest(CANCEL.operation, {"execution_id": "ex_2"}, None, "key-1", "")
    client.answers.append({})
    await outbox.deliver(client, SCOPE, other_path)


async def test_a_write_without_a_key_is_not_sent(outbox: Outbox, client: StubClient) -> None:
    with pytest.raises(UsageError, match="blank"):
        await outbox.deliver(client, SCOPE, WriteRequest("postExecutions", {}, BODY, "  ", ""))
    assert client.sent == []


async def test_kept_writes_come_oldest_first_with_all_they_were(
    outbox: Outbox, client: StubClient, clock: FakeClock
) -> None:
    await keep(outbox, client, SCOPE, SUBMIT)
    clock.advance(60)
    await keep(outbox, client, SCOPE, CANCEL)
    kept = await outbox.unconfirmed(SCOPE)
    assert orders(kept) == [SUBMIT, CANCEL]
    assert [item.created_at for item in kept] == [START, START + timedelta(seconds=60)]


async def test_any_text_and_any_bytes_are_kept_exactly(outbox: Outbox, client: StubClient) -> None:
    for hostile in CORPUS:
        text = hostile.text
        scope = Scope(text, hostile.name, text)
        body = text.encode("utf-8", "surrogatepass") + b"\x00\xff"
        if find_secrets_in_ids({"execution_id": text}, None):
            continue
        order = WriteRequest(CANCEL.operation, {"execution_id": text}, body, f"key {text}", text)
        kept = await keep(outbox, client, scope, order)
        assert (kept.request, kept.scope) == (order, scope), hostile.name


async def test_a_real_client_and_a_service_that_loses_an_answer(
    outbox: Outbox, watchlist: WatchList, clock: FakeClock
) -> None:
    service = ScriptedService(runs=[run()])
    broken = Said(502, b"<html>bad gateway</html>", content_type="text/html")
    service.say("POST", "/v1/executions", broken, broken, broken, Said(201, ACCEPTED))
    async with service, Client(Target("work", service.base_url, None), clock=clock) as client:
        with pytest.raises(ApiProblem) as caught:
            await outbox.deliver(client, SCOPE, SUBMIT)
        assert (caught.value.outcome_known, caught.value.attempts, caught.value.key) == (False, 3, "key-1")
        [kept] = await outbox.unconfirmed(SCOPE)
        answer = await outbox.retry(client, SCOPE, kept)
    assert answer.value == ACCEPTED
    assert {heard.body for heard in service.heard} == {BODY}
    assert {heard.head.header("idempotency-key") for heard in service.heard} == {"key-1"}
    assert await outbox.unconfirmed(SCOPE) == []
    assert await watchlist.request_of(SCOPE, RUN_ID) == json.loads(BODY)


SECRET = "sk-ant-api03-canary-5f1e7c2b9d40"


@pytest.mark.parametrize(
    "body",
    [
        encode_body({"endpoint": {"auth_ref": SECRET}}),
        encode_body({"task": {"inputs_ref": {"kind": "url", "url": f"https://a.test/?token={SECRET}"}}}),
        f'{{"auth_\\u0072ef": "{SECRET}"}}'.encode(),
        encode_body({"routing": {"required_arm_id": SECRET}}),
    ],
)
async def test_a_secret_in_a_reference_is_refused_before_the_disk_has_it(
    outbox: Outbox, database: Database, client: StubClient, body: bytes
) -> None:
    with pytest.raises(InvalidRequestError, match="Looks like") as caught:
        await outbox.deliver(client, SCOPE, WriteRequest("postVerifiers", {}, body, "key-1", "a check"))
    assert SECRET not in f"{caught.value} {caught.value.errors} {caught.value.hint}"
    assert client.sent == []
    assert await outbox.unconfirmed(SCOPE) == []
    with pytest.raises(InvalidRequestError, match="Looks like"):
        await outbox.deliver(client, SCOPE, WriteRequest("postExecutions", {}, None, SECRET))
    for file in database.path.parent.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


async def test_the_same_secret_in_the_text_of_a_task_is_kept_and_sent(outbox: Outbox, client: StubClient) -> None:
    body = encode_body(request_body(task={"objective": SECRET}))
    kept = await keep(outbox, client, SCOPE, WriteRequest("postExecutions", {}, body, "key-1"))
    assert kept.request.body == body
