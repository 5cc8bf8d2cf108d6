"""The client's methods: what each sends and gives, pages, and following a run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from runwatch.api import client as client_module
from runwatch.api.client import MAX_EMPTY_PAGES, Client
from runwatch.api.errors import ApiProblem, InvalidRequestError, NoResponseError, UnusableResponseError
from runwatch.api.operations import OPERATIONS, Operation
from runwatch.base.json import ExactNumber, dumps
from runwatch.records.account import Account
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.records.run import Run, RunResult
from tests.api.conftest import RawServer, json_answer, problem_answer, then_reset
from tests.support.builders import ABSENT, account, echo_events, echo_receipt, event, result, run
from tests.support.client_calls import follow
from tests.support.clock import FakeClock
from tests.support.http1 import answer_bytes, answer_head

Call = Callable[[Client], Awaitable[Any]]


def plain(record: Record) -> dict[str, Any]:
    return dict(record.raw)


async def collect(source: AsyncIterator[Any], into: list[Any]) -> None:
    """Collect items until the end or an error; items before the error are kept."""
    async for each in source:
        into.append(each)  # noqa: PERF401


METHODS: list[tuple[Call, str, str, Record]] = [
    (lambda c: c.get_run("ex/1"), "GET", "/v1/executions/ex%2F1", run("ex/1")),
    (lambda c: c.get_result("ex_1"), "GET", "/v1/executions/ex_1/result", result()),
    (lambda c: c.get_receipt("ex_1"), "GET", "/v1/receipts/ex_1", echo_receipt("ex_1")),
    (lambda c: c.get_account(), "GET", "/v1/account", account()),
]


@pytest.mark.parametrize(("call", "method", "path", "record"), METHODS, ids=[path for _, _, path, _ in METHODS])
async def test_each_method_sends_its_operation_and_gives_its_record(
    server: RawServer, client: Client, call: Call, method: str, path: str, record: Record
) -> None:
    server.script(json_answer(plain(record)))
    assert await call(client) == record
    head = server.heard[0].head
    assert head.start[:2] == (method, path)
    assert head.header("idempotency-key") is None


@pytest.mark.parametrize("kind", [Run, RunResult, Receipt, Account])
def test_every_record_that_is_read_has_an_operation(kind: type[Record]) -> None:
    assert any(operation.record is kind for operation in OPERATIONS.values())


def test_every_list_is_where_its_record_says() -> None:
    for operation in OPERATIONS.values():
        if operation.lists and operation.method == "GET":
            assert operation.record is not None
            assert operation.record.WIRE is not None
            assert operation.path == operation.record.WIRE.path


async def test_an_id_that_cannot_be_sent_is_refused_before_anything_is(server: RawServer, client: Client) -> None:
    with pytest.raises(InvalidRequestError):
        await client.get_run("..")
    assert not server.heard


async def test_numbers_come_exactly_as_they_were_sent(server: RawServer, client: Client) -> None:
    server.script(answer_bytes(200, b'{"execution_id": "ex_1", "spend_usd": 0.10}'))
    found = await client.get_run("ex_1")
    assert isinstance(found.raw["spend_usd"], ExactNumber)
    assert dumps(dict(found.raw)) == '{"execution_id":"ex_1","spend_usd":0.10}'


async def test_a_list_sends_its_filters_and_leaves_out_what_is_not_given(server: RawServer, client: Client) -> None:
    server.script(json_answer({"executions": [plain(run("ex_1"))], "next_cursor": "a/b="}))
    page = await client.page(
        "getExecutions", query={"status": "running", "cursor": "x+y/z=", "limit": 5, "since": None}
    )
    assert server.paths == ["/v1/executions?status=running&cursor=x%2By%2Fz%3D&limit=5"]
    assert ([each.id for each in page.records], page.next_cursor, page.end_is_proven) == (["ex_1"], "a/b=", False)


async def test_events_come_with_their_text(server: RawServer, client: Client) -> None:
    server.script(answer_bytes(200, b'{"events": [{ "event_id":"ev_1" , "n":1.0 }]}'))
    page = await client.list_events("ex_1")
    assert server.paths == ["/v1/executions/ex_1/events"]
    assert page.records[0].wire_text == '{ "event_id":"ev_1" , "n":1.0 }'


async def test_a_big_page_is_decoded_in_slices(
    server: RawServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "SLICED_DECODE_BYTES", 100)
    monkeypatch.delattr(client_module, "decode_page")
    server.script(json_answer({"executions": [plain(run(f"ex_{number}")) for number in range(9)]}))
    assert len((await client.page("getExecutions")).records) == 9


class TestRequest:
    async def test_an_operation_of_the_callers_own_is_called(self, server: RawServer, client: Client) -> None:
        server.script(json_answer({"ok": 1}))
        patch = Operation("patchThing", "PATCH", "/v1/things/{thing_id}", "Change a thing", mutates=True)
        answer = await client.request(patch, path={"thing_id": "a b"}, query={"dry": True}, body=b"{}", key="k")
        assert (answer.value, answer.attempts, answer.response.status) == ({"ok": 1}, 1, 200)
        assert server.heard[0].head.start[:2] == ("PATCH", "/v1/things/a%20b?dry=true")

    async def test_no_body_is_none_where_nobody_declares_a_record(self, server: RawServer, client: Client) -> None:
        gone = Operation("deleteThing", "DELETE", "/v1/things/1", "Delete a thing", mutates=True)
        server.script(answer_head(204, []), answer_bytes(200))
        assert (await client.request(gone, key="k")).value is None
        assert (await client.request(gone, key="k")).value is None

    async def test_a_204_is_none_also_for_a_declared_record(self, server: RawServer, client: Client) -> None:
        server.script(answer_head(204, []))
        assert (await client.request("getAccount")).value is None

    async def test_an_empty_200_is_unusable_where_a_record_is_declared(self, server: RawServer, client: Client) -> None:
        server.script(answer_bytes(200))
        with pytest.raises(UnusableResponseError, match="no body"):
            await client.request("getAccount")

    async def test_a_head_has_no_body(self, server: RawServer, client: Client) -> None:
        server.script(answer_head(200, [("Content-Length", "50")]))
        assert (await client.request(Operation("headThing", "HEAD", "/v1/things", "Look"))).value is None

    async def test_an_unknown_operation_is_refused(self, client: Client) -> None:
        with pytest.raises(InvalidRequestError, match="postNothing"):
            await client.request("postNothing")

    @pytest.mark.parametrize("status", [200, 201, 202, 299])
    async def test_every_2xx_is_a_success(self, server: RawServer, client: Client, status: int) -> None:
        server.script(json_answer({"a": 1}, status))
        assert (await client.request("getAccount")).value == {"a": 1}


def runs(*numbers: int) -> list[dict[str, Any]]:
    return [plain(run(f"ex_{number}")) for number in numbers]


class TestPages:
    """Pages up to the end, or up to a limit."""

    async def test_pages_follow_cursors_exactly_and_repeat_the_filters(self, server: RawServer, client: Client) -> None:
        server.script(
            json_answer({"executions": runs(1, 2), "next_cursor": "c/1="}),
            json_answer({"executions": [], "next_cursor": "c+2"}),
            json_answer({"executions": runs(3), "next_cursor": None}),
        )
        pages = [page async for page in client.pages("getExecutions", query={"status": "failed"})]
        assert [[each.id for each in page.records] for page in pages] == [["ex_1", "ex_2"], [], ["ex_3"]]
        assert pages[-1].end_is_proven
        assert server.paths == [
            "/v1/executions?status=failed&limit=100",
            "/v1/executions?status=failed&limit=100&cursor=c%2F1%3D",
            "/v1/executions?status=failed&limit=100&cursor=c%2B2",
        ]

    @pytest.mark.parametrize("cursors", [["a", "a"], ["a", "b", "a"]])
    async def test_a_cursor_that_comes_back_ends_the_list_with_an_error(
        self, server: RawServer, client: Client, cursors: list[str]
    ) -> None:
        server.script(*[json_answer({"executions": runs(1), "next_cursor": cursor}) for cursor in cursors])
        seen: list[Any] = []
        with pytest.raises(UnusableResponseError, match="next_cursor twice"):
            await collect(client.pages("getExecutions"), seen)
        assert len(seen) == len(cursors)

    async def test_the_cursor_begun_with_counts_too(self, server: RawServer, client: Client) -> None:
        server.script(json_answer({"executions": runs(1), "next_cursor": "a"}))
        with pytest.raises(UnusableResponseError):
            _ = [page async for page in client.pages("getExecutions", query={"cursor": "a"})]
        assert len(server.heard) == 1

    @pytest.mark.parametrize("limit", [None, 5])
    async def test_pages_that_stay_empty_end_the_list_with_an_error(
        self, server: RawServer, client: Client, limit: int | None
    ) -> None:
        met = MAX_EMPTY_PAGES - 1
        pages = [runs(1) if number == met else [] for number in range(2 * MAX_EMPTY_PAGES)]
        answers = [json_answer({"executions": page, "next_cursor": f"c{n}"}) for n, page in enumerate(pages)]
        server.script(*answers, json_answer({"executions": runs(2), "next_cursor": None}))
        seen: list[Any] = []
        with pytest.raises(UnusableResponseError, match="100 pages in a row were empty"):
            await collect(client.pages("getExecutions", limit=limit), seen)
        assert len(seen) == len(server.heard) == 2 * MAX_EMPTY_PAGES

    async def test_a_limit_is_asked_for_and_kept(self, server: RawServer, client: Client) -> None:
        server.script(
            json_answer({"executions": runs(*range(100)), "next_cursor": "c"}),
            json_answer({"executions": runs(*range(100, 200)), "next_cursor": "d"}),
        )
        pages = [page async for page in client.pages("getExecutions", limit=120)]
        assert [len(page.records) for page in pages] == [100, 20]
        assert server.paths == ["/v1/executions?limit=100", "/v1/executions?limit=20&cursor=c"]
        assert (pages[-1].next_cursor, pages[-1].end_is_proven) == (None, False)

    async def test_a_limit_that_a_page_meets_exactly_ends_there(self, server: RawServer, client: Client) -> None:
        server.script(json_answer({"executions": runs(1, 2), "next_cursor": "c"}))
        pages = [page async for page in client.pages("getExecutions", limit=2)]
        assert [page.next_cursor for page in pages] == ["c"]

    async def test_a_cut_page_keeps_values_and_records_together(self, server: RawServer, client: Client) -> None:
        server.script(json_answer({"executions": [5, *runs(1), None, *runs(2)], "next_cursor": None}))
        [page] = [page async for page in client.pages("getExecutions", limit=3)]
        assert (len(page.values), [each.id for each in page.records], page.misfits) == (3, ["ex_1"], 2)
        assert not page.end_is_proven

    async def test_the_callers_page_size_is_kept(self, server: RawServer, client: Client) -> None:
        server.script(json_answer({"executions": [], "next_cursor": None}))
        _ = [page async for page in client.pages("getExecutions", query={"limit": 7})]
        assert server.paths == ["/v1/executions?limit=7"]

    async def test_a_list_that_is_not_paged_is_asked_for_without_a_size(
        self, server: RawServer, client: Client
    ) -> None:
        server.script(json_answer({"receipts": [plain(echo_receipt("ex_1"))]}))
        pages = [page async for page in client.pages("getReceipts")]
        assert (len(pages), pages[0].end_is_proven) == (1, True)
        assert server.paths == ["/v1/receipts"]

    async def test_what_lists_nothing_has_no_pages(self, client: Client) -> None:
        with pytest.raises(InvalidRequestError):
            _ = [page async for page in client.pages("getAccount")]


def events(*records: RunEvent) -> bytes:
    return json_answer({"events": [plain(record) for record in records]})


class TestFollow:
    """``async for`` over the tail."""

    async def test_events_come_once_each_until_the_final_one(
        self, server: RawServer, client: Client, clock: FakeClock
    ) -> None:
        log = echo_events()
        server.script(events(*log[:3]), events(), events(*log[2:5]), events(*log[5:]))
        got = [each async for each in follow(client, "ex_1")]
        assert got == log
        assert clock.sleeps == [1.0]
        assert [path.partition("?")[2] for path in server.paths] == [
            "", f"after={log[2].id}", f"after={log[2].id}", f"after={log[4].id}",
        ]  # fmt: skip

    async def test_a_run_that_is_final_without_a_final_event_ends_after_two_empty_reads(
        self, server: RawServer, client: Client, clock: FakeClock
    ) -> None:
        server.script(events(), json_answer(plain(run("ex_1", "failed"))), events(event(1)), events(), events())
        got = [each async for each in follow(client, "ex_1")]
        assert len(got) == 1
        assert clock.sleeps == [1.0]
        assert len(server.heard) == 5

    @pytest.mark.parametrize("status", [403, 405, 501])
    async def test_a_service_that_does_not_tell_the_status_is_followed_by_its_events_alone(
        self, server: RawServer, connect: Callable[..., Client], status: int
    ) -> None:
        server.script(events(), problem_answer("permission_denied", status), events(event(1, "completed")))
        assert len([each async for each in follow(connect(retries=0), "ex_1")]) == 1

    @pytest.mark.parametrize("status", [400, 404, 410, 422])
    async def test_an_event_that_the_service_refuses_to_know_leads_to_all_events_again(
        self, server: RawServer, client: Client, status: int
    ) -> None:
        log = echo_events()
        server.script(events(*log[:3]), problem_answer("not_found", status), events(*log))
        assert [each async for each in follow(client, "ex_1")] == log
        assert server.paths[2] == "/v1/executions/ex_1/events"

    async def test_an_event_id_that_cannot_be_sent_leads_to_all_events_again(
        self, server: RawServer, client: Client
    ) -> None:
        odd, last = event(1, event_id="\ud800"), event(2, "completed")
        server.script(events(odd), events(odd, last))
        assert [each.id async for each in follow(client, "ex_1")] == ["\ud800", last.id]

    async def test_an_unknown_run_is_an_error(self, server: RawServer, client: Client) -> None:
        server.script(problem_answer("not_found"))
        with pytest.raises(ApiProblem) as caught:
            _ = [each async for each in follow(client, "ex_1")]
        assert caught.value.code == "not_found"
        assert len(server.heard) == 1

    async def test_a_failure_after_the_retries_is_the_callers(self, server: RawServer, client: Client) -> None:
        server.script(events(event(1)), then_reset())
        got: list[RunEvent] = []
        with pytest.raises(NoResponseError) as caught:
            await collect(follow(client, "ex_1"), got)
        assert (len(got), caught.value.attempts) == (1, 3)

    async def test_a_service_that_always_answers_everything_is_asked_with_pauses(
        self, server: RawServer, client: Client, clock: FakeClock
    ) -> None:
        live = events(event(1), event(2))
        server.script(live, live, live, live, events(event(1), event(2), event(3, "expired")))
        assert len([each async for each in follow(client, "ex_1")]) == 3
        assert clock.sleeps == [1.0, 1.5, 2.25]

    async def test_events_without_an_id_are_given_once(self, server: RawServer, client: Client) -> None:
        nameless = event(1, event_id=ABSENT)
        server.script(events(nameless), events(nameless, event(2, "completed")))
        assert len([each async for each in follow(client, "ex_1")]) == 2
