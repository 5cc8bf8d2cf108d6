"""Long lists are sent in parts, with the same bytes as in one piece, and read only as far as the client takes them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import httpx
import pytest

from runwatch.base.json import dumps, loads
from runwatch.service.access.authentication import Principal, local_tenant
from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.lists.streamed_lists import PART_ROWS, stream_texts
from runwatch.service.http.responses import ServiceResponse
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.routes import ENDPOINTS
from runwatch.service.routes.receipts import list_receipts
from runwatch.service.tables import events_table, receipts_table, runs_table
from runwatch.service.transaction import Row, Transaction
from tests.service.conftest import Local, Serving

AT = "2026-11-20T00:00:00.000Z"
PATIENCE_S = 60.0


def receipt_text(number: int) -> str:
    return f'{{"execution_id":"ex_{number}","status":"completed","completed_at":"{AT}"}}'


async def keep(local: Local, numbers: range) -> None:
    """Give the local organization a final run with its receipt for each number; every tenth of them has failed."""

    def effect(transaction: Transaction) -> None:
        tenant_id = local_tenant(transaction)
        for number in numbers:
            status = "failed" if number % 10 == 0 else "completed"
            mine = {"execution_id": f"ex_{number}", "tenant_id": tenant_id, "status": status, "completed_at": AT}
            transaction.add(
                runs_table,
                **mine,
                mode="echo",
                policy="{}",
                max_runtime_s=60.0,
                slices=[],
                spend_usd="0",
                created_at=AT,
            )
            transaction.add(receipts_table, **mine, body=receipt_text(number))

    await local.context.database.write(effect)


async def owner_call(local: Local) -> ServiceCall:
    """A call of the owner, as a handler gets it."""
    tenant_id = await local.context.database.read(local_tenant)
    return ServiceCall(context=local.context, principal=Principal(tenant_id, "key_1", "owner"), ids={}, query={})


async def whole(answer: ServiceResponse) -> str:
    """The body of an answer, taken to its end."""
    parts = [answer.body]
    if answer.further_parts is not None:
        parts += [part async for part in answer.further_parts]
    return b"".join(parts).decode("ascii")


@pytest.mark.parametrize("count", [0, 1, PART_ROWS - 1, PART_ROWS, PART_ROWS + 1, 2 * PART_ROWS, 2 * PART_ROWS + 1])
async def test_a_list_holds_every_row_once_whatever_its_length(local: Local, count: int) -> None:
    await keep(local, range(count))
    answer = await local.http.get("/v1/receipts")
    assert answer.text == f'{{"receipts":[{",".join(receipt_text(n) for n in reversed(range(count)))}]}}'
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert ("content-length" in answer.headers) == (count < PART_ROWS)


async def test_filters_hold_in_every_part(local: Local) -> None:
    await keep(local, range(10 * PART_ROWS + 20))
    found = (await local.get("/v1/receipts", status="failed"))["receipts"]
    assert [receipt["execution_id"] for receipt in found] == [f"ex_{n * 10}" for n in reversed(range(PART_ROWS + 2))]


async def test_a_receipt_that_comes_while_the_list_is_sent_is_not_in_it(local: Local) -> None:
    await keep(local, range(PART_ROWS + 3))
    answer = await list_receipts(await owner_call(local))
    await keep(local, range(PART_ROWS + 3, PART_ROWS + 5))
    listed = loads(await whole(answer))["receipts"]
    assert [raw["execution_id"] for raw in listed] == [f"ex_{n}" for n in reversed(range(PART_ROWS + 3))]


async def test_the_events_of_a_run_come_in_order_and_behind_the_one_that_is_named(local: Local) -> None:
    await keep(local, range(2))
    count = 2 * PART_ROWS + 7

    def effect(transaction: Transaction) -> None:
        for number in range(count):
            for name in ("ex_0", "ex_1"):
                event_id = f"ev_{name}_{number}"
                body = dumps({"event_id": event_id, "execution_id": name})
                transaction.add(events_table, event_id=event_id, execution_id=name, body=body)

    await local.context.database.write(effect)

    async def found(after: str) -> list[str]:
        answer = await local.get("/v1/executions/ex_1/events", after=after)
        return [event["event_id"] for event in answer["events"]]

    everything = [f"ev_ex_1_{number}" for number in range(count)]
    assert await found("") == everything
    assert await found("ev_ex_1_3") == everything[4:]
    assert await found(everything[-PART_ROWS - 1]) == everything[-PART_ROWS:]
    assert await found(everything[-1]) == []
    assert await found("ev_ex_0_3") == everything


async def test_nothing_is_read_ahead_of_who_takes_the_list(local: Local) -> None:
    await keep(local, range(3 * PART_ROWS))
    read: list[int | None] = []

    def read_part(transaction: Transaction, edge: int | None) -> Sequence[Row]:
        read.append(edge)
        return transaction.oldest(receipts_table, {}, after=edge or 0, limit=PART_ROWS)

    answer = await stream_texts(await owner_call(local), "receipts", read_part)
    assert len(read) == 1
    assert answer.further_parts is not None
    await anext(answer.further_parts)
    assert len(read) == 2
    assert len([part async for part in answer.further_parts]) == 2
    assert len(read) == 4


async def test_the_head_of_a_long_list_is_answered_without_its_body(local: Local) -> None:
    await keep(local, range(PART_ROWS))
    answer = await local.http.head("/v1/receipts")
    assert (answer.status_code, answer.content) == (200, b"")
    assert len((await local.get("/v1/receipts"))["receipts"]) == PART_ROWS


class Endless:
    """An endpoint whose answer goes on until something ends it."""

    def __init__(self, parts: int | None = None) -> None:
        self._parts = parts
        self.made = 0
        self.ended = asyncio.Event()

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint("GET", "/v1/endless", self._answer)

    async def _answer(self, call: ServiceCall) -> ServiceResponse:
        return ServiceResponse(200, b"{", further_parts=self._make_parts())

    async def _make_parts(self) -> AsyncGenerator[bytes, None]:
        try:
            while self.made != self._parts:
                self.made += 1
                # Where a list reads its next part from the database.
                await asyncio.sleep(0)
                yield b" " * 65_536
            raise OSError("the disk is gone")
        finally:
            self.ended.set()


@contextlib.asynccontextmanager
async def offering(endless: Endless, serving: Serving, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Local]:
    """A service that offers this endpoint too."""
    monkeypatch.setattr("runwatch.service.server.ENDPOINTS", (*ENDPOINTS, endless.endpoint))
    async with serving() as service:
        yield service


async def test_a_list_ends_when_its_caller_leaves(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless()
    async with offering(endless, serving, monkeypatch) as service:
        async with service.http.stream("GET", "/v1/endless") as answer:
            assert await anext(answer.aiter_raw()) == b"{"
        async with asyncio.timeout(PATIENCE_S):
            await endless.ended.wait()
        assert (await service.get("/v1/receipts")) == {"receipts": []}


async def test_a_list_that_cannot_be_read_on_is_cut_short_and_says_so(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Endless(parts=3)
    async with offering(endless, serving, monkeypatch) as service:
        with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
            await service.http.get("/v1/endless")
        assert endless.made == 3
        assert (await service.get("/v1/receipts")) == {"receipts": []}
