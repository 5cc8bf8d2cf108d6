"""No key of a service reaches the disk."""

from __future__ import annotations

import contextlib

from runwatch.api.client import Client
from runwatch.api.errors import ApiError
from runwatch.base.network.service_target import Target
from runwatch.base.secrets.secret import Secret
from runwatch.store.db.database import Database
from runwatch.store.live.stored_run_tail import follow_run
from runwatch.store.repositories.event_store import EventStore
from runwatch.store.repositories.journal import Journal
from runwatch.store.repositories.outbox import Outbox, WriteRequest
from runwatch.store.repositories.scope import read_scope
from runwatch.store.repositories.watch_list import WatchList
from tests.support.builders import RUN_ID, account, echo_events, problem, run
from tests.support.clock import FakeClock
from tests.support.scripted import Said, ScriptedService

CANARY = "solverapi_test_canary-9d1f55e0c2"


async def test_a_session_with_everything_in_it_leaves_no_trace_of_the_key(database: Database, clock: FakeClock) -> None:
    service = ScriptedService(runs=[run()], events={RUN_ID: echo_events()}, account=account(), key=CANARY)
    repeats = Said(500, problem("internal", detail=f"could not use Bearer {CANARY}"))
    service.say("GET", "/v1/receipts", repeats)
    service.say("POST", "/v1/executions/.*/cancel", Said(502, f"<p>{CANARY}</p>".encode(), content_type="text/html"))
    journal, outbox, watchlist = Journal(database), Outbox(database, clock=clock), WatchList(database, clock=clock)
    async with service:
        target = Target("work", service.base_url, Secret(CANARY))
        async with Client(target, clock=clock, observe=journal.note) as client:
            scope = await read_scope(client, database)
            await outbox.deliver(
                client, scope, WriteRequest("postExecutions", {}, b'{"mode":"echo"}', "key-1", "nightly")
            )
            cancel = WriteRequest("postExecutionsByExecutionIdCancel", {"execution_id": RUN_ID}, None, "key-2")
            with contextlib.suppress(ApiError):
                await outbox.deliver(client, scope, cancel)
            with contextlib.suppress(ApiError):
                await client.page("getReceipts")
            events = EventStore(database)
            followed = follow_run(client, scope, events, RUN_ID, clock=clock, patience_s=60, on_failure=lambda *_: None)
            assert [event async for event in followed] == echo_events()
    assert len(await outbox.unconfirmed(scope)) == 1
    assert len(await watchlist.list(scope)) == 1
    assert len(await journal.problems()) == 6
    await journal.close()
    content = b"".join(path.read_bytes() for path in database.path.parent.rglob("*") if path.is_file())
    assert b"key-2" in content, "what was written is looked at"
    assert CANARY.encode() not in content
    assert CANARY.rpartition("-")[2].encode() not in content
