"""Whose data it is: by the service's own word, never by its address."""

from __future__ import annotations

import pytest

from runwatch.api.errors import ApiError
from runwatch.store.db.database import Database
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.notes import LocalNotes
from runwatch.store.repositories.outbox import Outbox, WriteRequest
from runwatch.store.repositories.scope import Scope, fingerprint_key, read_scope
from runwatch.store.repositories.watch_list import WatchList
from tests.store.stub import KEY, ORIGIN, StubClient, held, lost, refused, unusable
from tests.support.builders import KEY_ID, RUN_ID, account, event

ACCOUNT = "getAccount"


async def test_the_account_says_who_it_is_and_is_read_once(database: Database) -> None:
    client = StubClient()
    scope = await read_scope(client, database)
    assert scope == Scope("work", "ten_01", KEY_ID)
    assert scope.note is None
    assert await read_scope(client, database) == scope
    assert await read_scope(StubClient(), database) == scope
    assert client.asked == ["account"]


async def test_an_identity_is_known_again_by_the_next_process_without_the_network(database: Database) -> None:
    scope = await read_scope(StubClient(), database)
    offline = StubClient()
    offline.accounts.append(lost("refused", operation=ACCOUNT))
    offline.accounts.popleft()
    other = Database.open(database.path)
    try:
        assert await read_scope(offline, other) == scope
    finally:
        other.close()


async def test_a_service_that_moved_is_the_same_service(database: Database) -> None:
    before = await read_scope(StubClient(origin="https://old.example.com"), database)
    assert await read_scope(StubClient(origin="https://new.example.com"), database) == before


async def test_another_key_is_another_principal(database: Database) -> None:
    first = await read_scope(StubClient(), database)
    other = StubClient(key="solverapi_test_other")
    other.accounts.append(account(authenticated_principal_id="key_2"))
    other.accounts.popleft()
    second = await read_scope(other, database)
    assert (second.service, second.principal) == (first.service, "key_2")


async def test_profiles_are_distinguished(database: Database) -> None:
    await read_scope(StubClient(), database)
    assert await read_scope(StubClient(profile="play"), database) == Scope("play", "ten_01", KEY_ID)


@pytest.mark.parametrize(
    "error",
    [
        lost("refused", operation=ACCOUNT),
        refused("unauthenticated", operation=ACCOUNT),
        refused("not_found", operation=ACCOUNT),
        refused("internal", operation=ACCOUNT),
        held(5, operation=ACCOUNT),
        unusable(operation=ACCOUNT),
    ],
    ids=str,
)
async def test_an_account_that_cannot_be_read_is_stood_in_for(database: Database, error: ApiError) -> None:
    client = StubClient()
    client.accounts.appendleft(error)
    scope = await read_scope(client, database)
    assert scope == Scope("work", ORIGIN, fingerprint_key(client.target))
    assert error.title in str(scope.note)
    assert await read_scope(client, database) == Scope("work", "ten_01", KEY_ID)


@pytest.mark.parametrize("member", ["tenant_id", "authenticated_principal_id"])
@pytest.mark.parametrize("value", [None, "", 5])
async def test_an_account_that_does_not_name_itself_is_stood_in_for(
    database: Database, member: str, value: object
) -> None:
    client = StubClient()
    client.accounts.appendleft(account(**{member: value}))
    scope = await read_scope(client, database)
    assert scope.service == ORIGIN
    assert "names no tenant or no principal" in str(scope.note)


async def test_a_client_without_a_key_has_an_identity_too(database: Database) -> None:
    client = StubClient(key=None)
    client.accounts.appendleft(refused("unauthenticated", operation=ACCOUNT))
    assert (await read_scope(client, database)).principal == "no-key"


def test_a_fingerprint_tells_keys_and_origins_apart_and_shows_neither() -> None:
    targets = [
        StubClient().target, StubClient(key="another").target, StubClient(origin="https://other.example.com").target,
        StubClient(key=None).target,
    ]  # fmt: skip
    prints = {fingerprint_key(target) for target in targets}
    assert len(prints) == 4
    assert fingerprint_key(StubClient().target) == fingerprint_key(StubClient(profile="play").target)
    assert not any(KEY in text or KEY[-6:] in text for text in prints)


async def test_what_was_kept_under_a_stand_in_moves_to_the_identity(database: Database) -> None:
    client = StubClient()
    client.accounts.appendleft(lost(operation=ACCOUNT))
    outbox, watchlist, store = Outbox(database), WatchList(database), EventStore(database)
    stand_in = await read_scope(client, database)
    order = WriteRequest("postExecutions", {}, b"{}", "key-1", "")
    client.answers.append(lost())
    with pytest.raises(ApiError):
        await outbox.deliver(client, stand_in, order)
    await watchlist.add(stand_in, [RUN_ID])
    await store.append(stand_in, RUN_ID, [event(1), event(2)])

    scope = await read_scope(client, database)
    assert scope.service == "ten_01"
    assert [kept.request for kept in await outbox.unconfirmed(scope)] == [order]
    assert [watched.run_id for watched in await watchlist.list(scope)] == [RUN_ID]
    assert await store.count(scope, RUN_ID) == 2
    assert await store.cursor(scope, RUN_ID) == event(2).id
    assert await outbox.unconfirmed(stand_in) == []
    assert await watchlist.list(stand_in) == []
    assert await store.count(stand_in, RUN_ID) == 0


async def test_what_the_identity_has_already_stays_when_a_stand_in_moves(database: Database) -> None:
    client = StubClient()
    client.accounts.appendleft(lost(operation=ACCOUNT))
    watchlist, store = WatchList(database), EventStore(database)
    stand_in = await read_scope(client, database)
    scope = Scope("work", "ten_01", KEY_ID)
    await store.append(scope, RUN_ID, [event(1), event(2), event(3)])
    await store.append(stand_in, RUN_ID, [event(1)])
    notes = LocalNotes(database)
    await watchlist.add(scope, [RUN_ID])
    await watchlist.add(stand_in, [RUN_ID, "ex_2"])
    await notes.write(scope, "run", RUN_ID, "label", "first")
    await notes.write(stand_in, "run", RUN_ID, "label", "second")
    await notes.write(stand_in, "run", "ex_2", "label", "second")

    assert await read_scope(client, database) == scope
    assert await store.count(scope, RUN_ID) == 3
    assert {watched.run_id for watched in await watchlist.list(scope)} == {RUN_ID, "ex_2"}
    labels = {note.record_id: note.text for note in await notes.list_for(scope, "run")}
    assert labels == {RUN_ID: "first", "ex_2": "second"}
    left = await database.read(lambda connection: connection.execute("SELECT count(*) FROM event").fetchone())
    assert left == (3,)
