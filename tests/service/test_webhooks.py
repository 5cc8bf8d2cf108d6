"""Webhooks: final runs are delivered, signed, retried and replayed, and the secret stays secret."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.clock import format_iso
from runwatch.base.json import loads
from runwatch.base.log import REDACTED, redact
from runwatch.records.webhook import Delivery, Webhook
from runwatch.service.access.authentication import local_tenant
from runwatch.service.organization import webhooks
from runwatch.service.organization.webhook_sender import AT_ONCE, PAUSE_S, RECEIVER_AT_ONCE
from runwatch.service.startup import named_handles
from runwatch.service.tables import webhooks_table
from tests.service.conftest import Json, Local, Serving, bearing, capped, keyed, other_tenant
from tests.support.clock import START, FakeClock
from tests.support.master_keys import vault_secrets
from tests.support.problems import check, fields
from tests.support.receiver import HANG, HANG_UP, WAIT_S, Receiver, Taken

EVERY = ["execution.completed", "execution.failed", "execution.cancelled", "execution.expired"]
URL = "https://hooks.example.test/runs"
BODY = {"url": URL, "event_types": EVERY}


async def add(local: Local, url: str, *event_types: str) -> Json:
    answer = await local.http.post("/v1/webhooks", json={"url": url, "event_types": list(event_types or EVERY)})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def done(local: Local, body: Json | None = None) -> str:
    """The id of a run that is final."""
    run_id = str((await local.submit(body))["execution_id"])
    await local.finished(run_id)
    return run_id


async def deliveries(local: Local, webhook_id: str, **query: Any) -> list[Json]:
    return list((await local.get(f"/v1/webhooks/{webhook_id}/deliveries", **query))["deliveries"])


async def settled(local: Local, webhook_id: str, count: int = 1) -> list[Json]:
    """The deliveries to a webhook, once there are this many and none is pending."""
    async with asyncio.timeout(WAIT_S):
        while True:
            rows = await deliveries(local, webhook_id)
            if len(rows) == count and all(row["status"] != "pending" for row in rows):
                return rows


async def attempted(local: Local, webhook_id: str) -> Json:
    """The newest delivery to a webhook once its first attempt has been written down."""
    async with asyncio.timeout(WAIT_S):
        while not (row := (await deliveries(local, webhook_id))[0])["attempts"]:
            pass
    return row


def is_signed(taken: Taken, secret: str) -> bool:
    """Whether a delivery carries a signature under a secret, computed as a receiver would."""
    signed = taken.headers["runwatch-timestamp"].encode() + b"." + taken.body
    return taken.headers["runwatch-signature"] == f"v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


async def test_a_webhook_is_added_with_a_secret_that_is_told_only_then(local: Local) -> None:
    made = (await local.http.post("/v1/webhooks", json={**BODY, "event_types": EVERY[:2]})).json()
    secret = made.pop("secret")
    assert made == {
        "webhook_id": made["webhook_id"], "url": URL, "event_types": EVERY[:2], "status": "active",
        "created_at": format_iso(START), "secret_rotated_at": None,
    }  # fmt: skip
    assert not Webhook(made).flaws()
    assert len(secret) > 40
    shown = await local.http.get("/v1/webhooks")
    assert shown.json() == {"webhooks": [made]}
    assert redact(f"it is {secret}") == f"it is {REDACTED}"


async def test_a_repeated_request_adds_one_webhook_and_the_secret_is_only_in_the_vault(
    local: Local, data_dir: Path
) -> None:
    first = await local.http.post("/v1/webhooks", json=BODY, headers=keyed("k"))
    again = await local.http.post("/v1/webhooks", json=BODY, headers=keyed("k"))
    told = first.json()
    secret = told.pop("secret")
    assert again.json() == {**told, "secret_withheld": True}
    assert len((await local.get("/v1/webhooks"))["webhooks"]) == 1
    assert [file for file in data_dir.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()] == []
    assert vault_secrets(data_dir) == [secret]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({**BODY, "event_types": []}, ["event_types"]),
        ({**BODY, "event_types": ["execution.started"]}, ["event_types[0]"]),
        ({**BODY, "event_types": [EVERY[0], EVERY[0]]}, ["event_types"]),
        ({**BODY, "url": "hooks.example.test"}, ["url"]),
        ({**BODY, "url": "ftp://hooks.example.test"}, ["url"]),
        ({**BODY, "url": "http://hooks.example.test"}, ["url"]),
        ({**BODY, "url": "https://user:word@hooks.example.test"}, ["url"]),
        ({**BODY, "url": "https://hooks.example.test:99999"}, ["url"]),
        ({**BODY, "url": "https://hooks.example.test/ä"}, ["url"]),
        ({**BODY, "url": "https://hooks.example.test/\n"}, ["url"]),
        ({**BODY, "url": f"https://hooks.example.test/{'x' * 2000}"}, ["url"]),
        ({**BODY, "url": "https://127.0.0.1/hook"}, ["url"]),
        ({**BODY, "url": "http://localhost:80/hook"}, ["url"]),
        ({**BODY, "url": "https://localhost./hook"}, ["url"]),
    ],
)
async def test_a_bad_body_adds_nothing(local: Local, data_dir: Path, body: Json, named: list[str]) -> None:
    assert fields(check(await local.http.post("/v1/webhooks", json=body), "validation_failed")) == named
    assert (await local.get("/v1/webhooks"))["webhooks"] == []
    assert not list(data_dir.glob("secrets/*"))


@pytest.mark.parametrize(
    ("allows", "note"),
    [
        (True, "Called only while the service runs with --allow-loopback-checks."),
        (False, "Not called, because the service runs without --allow-loopback-checks."),
    ],
)
async def test_a_webhook_on_this_machine_says_which_option_it_needs(serving: Serving, allows: bool, note: str) -> None:
    async with serving(allow_loopback_checks=True) as service:
        assert "Called only while" in (await add(service, "http://127.0.0.1:9/hook"))["delivery_note"]
        assert "delivery_note" not in await add(service, URL)
    async with serving(allow_loopback_checks=allows) as service:
        told = {hook["url"]: hook.get("delivery_note") for hook in (await service.get("/v1/webhooks"))["webhooks"]}
        assert told == {"http://127.0.0.1:9/hook": note, URL: None}


async def test_the_owner_learns_how_to_allow_a_receiver_on_this_machine(local: Local) -> None:
    refused = await local.http.post("/v1/webhooks", json={**BODY, "url": "http://127.0.0.1:8800/"})
    assert fields(check(refused, "validation_failed")) == ["url"]
    (error,) = refused.json()["errors"]
    told = " ".join(map(str, error.values()))
    for words in (
        "Must not be on this machine.",
        "'runwatch serve --stop'",
        "'runwatch serve --allow-loopback-checks'",
    ):
        assert words in told


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "[::ffff:169.254.169.254]", "10.1.2.3", "0xa9.0xfe.0xa9.0xfe", "2852039166", "[fd00:ec2::254]"],
)
async def test_an_address_that_is_never_called_is_refused_when_it_is_named(local: Local, host: str) -> None:
    body = {"url": f"https://{host}/hook", "event_types": ["execution.completed"]}
    answer = await local.http.post("/v1/webhooks", json=body)
    assert fields(check(answer, "validation_failed")) == ["url"]


@pytest.mark.exhaustive
async def test_an_organization_has_no_more_than_twenty(local: Local, data_dir: Path) -> None:
    for _ in range(20):
        await add(local, URL)
    check(await local.http.post("/v1/webhooks", json=BODY), "invalid_state")
    assert len(list(data_dir.glob("secrets/*"))) == 20


async def test_a_final_run_is_reported_once_with_a_signature_that_holds(near: Local) -> None:
    async with Receiver() as receiver:
        hook = await add(near, receiver.url)
        run_id = await done(near)
        (row,) = await settled(near, hook["webhook_id"])
        (taken,) = receiver.taken
        assert (taken.method, taken.path) == ("POST", "/hook")
        assert is_signed(taken, hook["secret"])
        assert not is_signed(taken, hook["secret"] + "x")
        told = loads(taken.body)
        assert told == {
            "event_id": row["event_id"], "type": "execution.completed", "created_at": row["created_at"],
            "tenant_id": (await near.get("/v1/account"))["tenant_id"],
            "execution": await near.get(f"/v1/executions/{run_id}"),
        }  # fmt: skip
        headers = {
            "content-type": "application/json",
            "runwatch-event": "execution.completed",
            "runwatch-delivery": row["delivery_id"],
        }
        assert {name: taken.headers[name] for name in headers} == headers
        assert "authorization" not in taken.headers
        assert (row["status"], row["attempts"], row["status_code"], row["error"]) == ("delivered", 1, 204, None)
        assert (row["execution_id"], row["event_type"]) == (run_id, "execution.completed")
        assert row["delivered_at"] is not None
        assert row["next_attempt_at"] is None
        assert not Delivery(row).flaws()


async def test_only_the_events_that_were_asked_for_are_reported(near: Local) -> None:
    async with Receiver() as receiver:
        expired = await add(near, receiver.url, "execution.expired")
        completed = await add(near, receiver.url, "execution.completed")
        first, second = await done(near), await done(near, capped(0.001))
        assert [row["execution_id"] for row in await settled(near, completed["webhook_id"])] == [first]
        assert [row["execution_id"] for row in await settled(near, expired["webhook_id"])] == [second]
        assert sorted(taken.headers["runwatch-event"] for taken in receiver.taken) == [EVERY[0], EVERY[3]]


@pytest.mark.exhaustive
async def test_every_webhook_is_told_of_the_same_event(near: Local) -> None:
    async with Receiver() as receiver:
        hooks = [await add(near, receiver.url) for _ in range(2)]
        await done(near)
        (first,), (second,) = [await settled(near, hook["webhook_id"]) for hook in hooks]
        assert first["event_id"] == second["event_id"]
        assert first["delivery_id"] != second["delivery_id"]
        by_delivery = {taken.headers["runwatch-delivery"]: taken for taken in receiver.taken}
        for hook, row in zip(hooks, (first, second), strict=True):
            assert is_signed(by_delivery[row["delivery_id"]], hook["secret"])


@pytest.mark.exhaustive
async def test_a_cancelled_run_is_reported(serving: Serving) -> None:
    async with serving(FakeClock(manual=True), allow_loopback_checks=True) as near, Receiver() as receiver:
        hook = await add(near, receiver.url)
        run_id = (await near.submit())["execution_id"]
        await near.http.post(f"/v1/executions/{run_id}/cancel")
        (row,) = await settled(near, hook["webhook_id"])
        assert (row["event_type"], row["execution_id"]) == ("execution.cancelled", run_id)


async def test_a_refused_delivery_is_tried_again_after_growing_waits(near: Local) -> None:
    clock = near.fake_clock
    async with Receiver(500, HANG_UP, 302, 404) as receiver:
        hook = await add(near, receiver.url)
        await done(near)
        clock.sleeps.clear()
        (row,) = await settled(near, hook["webhook_id"])
        assert (row["status"], row["attempts"], row["status_code"], row["error"]) == ("delivered", 5, 204, None)
        assert len(receiver.taken) == 5
        assert {taken.body for taken in receiver.taken} == {receiver.taken[0].body}
        assert {taken.headers["runwatch-delivery"] for taken in receiver.taken} == {row["delivery_id"]}
        stamps = [int(taken.headers["runwatch-timestamp"]) for taken in receiver.taken]
        waits = [later - earlier for earlier, later in itertools.pairwise(stamps)]
        for wait, least in zip(waits, webhooks.RETRY_WAITS_S, strict=True):
            assert least <= wait <= least + 1
        assert all(is_signed(taken, hook["secret"]) for taken in receiver.taken)


@pytest.mark.parametrize(("status", "shown", "error"), [(503, 503, "http_error"), (HANG_UP, None, "network")])
async def test_a_delivery_that_nobody_takes_fails_after_five_tries(
    near: Local, status: int, shown: int | None, error: str
) -> None:
    async with Receiver(*[status] * 9) as receiver:
        hook = await add(near, receiver.url)
        await done(near)
        (row,) = await settled(near, hook["webhook_id"])
        assert (row["status"], row["attempts"], row["status_code"], row["error"]) == ("failed", 5, shown, error)
        assert (row["next_attempt_at"], row["delivered_at"]) == (None, None)
        assert len(receiver.taken) == 5


@pytest.mark.exhaustive
async def test_between_two_tries_a_delivery_is_pending_with_the_time_of_the_next(serving: Serving) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock, allow_loopback_checks=True) as near, Receiver(500) as receiver:
        hook = await add(near, receiver.url)
        run_id = (await near.submit())["execution_id"]
        await near.http.post(f"/v1/executions/{run_id}/cancel")
        row = await attempted(near, hook["webhook_id"])
        assert (row["status"], row["status_code"], row["error"]) == ("pending", 500, "http_error")
        assert row["next_attempt_at"] == format_iso(clock.now().replace(second=10))
        check(await near.http.post(f"/v1/webhooks/deliveries/{row['delivery_id']}/replay"), "invalid_state")
        assert len(receiver.taken) == 1
        clock.advance(10)
        (row,) = await settled(near, hook["webhook_id"])
        assert (row["status"], row["attempts"]) == ("delivered", 2)


async def test_what_waits_is_sent_after_a_restart(serving: Serving) -> None:
    async with Receiver(500) as receiver:
        async with serving(FakeClock(manual=True), allow_loopback_checks=True) as near:
            hook = await add(near, receiver.url)
            run_id = (await near.submit())["execution_id"]
            await near.http.post(f"/v1/executions/{run_id}/cancel")
            await receiver.wait_for(1)
        async with serving(allow_loopback_checks=True) as near:
            (row,) = await settled(near, hook["webhook_id"])
            assert row["status"] == "delivered"
            assert len(receiver.taken) == 2
            assert is_signed(receiver.taken[1], hook["secret"])


async def test_a_service_that_may_not_reach_this_machine_does_not(serving: Serving) -> None:
    async with Receiver() as receiver:
        async with serving(allow_loopback_checks=True) as near:
            hook = await add(near, receiver.url)
        async with serving() as local:
            await done(local)
            (row,) = await settled(local, hook["webhook_id"])
            assert (row["status"], row["error"]) == ("failed", "scheme_rejected")
            assert receiver.taken == []


@pytest.mark.exhaustive
async def test_a_lost_secret_fails_the_delivery_by_name(near: Local, data_dir: Path) -> None:
    async with Receiver() as receiver:
        hook = await add(near, receiver.url)
        for file in data_dir.glob("secrets/*"):
            file.unlink()
        await done(near)
        (row,) = await settled(near, hook["webhook_id"])
        assert (row["status"], row["error"]) == ("failed", "credential_unavailable")
        assert receiver.taken == []


@pytest.mark.exhaustive
async def test_deliveries_go_on_after_the_database_failed(near: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = near.fake_clock
    record_try = webhooks.record_try
    failures = iter([True])

    def fail_once(*arguments: Any, **more: Any) -> None:
        if next(failures, False):
            raise OSError("the disk is full")
        record_try(*arguments, **more)

    monkeypatch.setattr(webhooks, "record_try", fail_once)
    async with Receiver() as receiver:
        hook = await add(near, receiver.url)
        await done(near)
        (row,) = await settled(near, hook["webhook_id"])
        assert (row["status"], row["attempts"]) == ("delivered", 1)
        assert len(receiver.taken) == 2
        assert PAUSE_S in clock.sleeps


@pytest.mark.exhaustive
async def test_deliveries_are_paged_newest_first(near: Local) -> None:
    async with Receiver() as receiver:
        hook = await add(near, receiver.url)
        runs = [await done(near) for _ in range(3)]
        await settled(near, hook["webhook_id"], 3)
        path = f"/v1/webhooks/{hook['webhook_id']}/deliveries"
        page = await near.get(path, limit=2)
        assert [row["execution_id"] for row in page["deliveries"]] == [runs[2], runs[1]]
        rest = await near.get(path, limit=2, cursor=page["next_cursor"])
        assert [row["execution_id"] for row in rest["deliveries"]] == [runs[0]]
        assert rest["next_cursor"] is None
        assert fields(check(await near.http.get(path, params={"limit": "x"}), "validation_failed")) == ["limit"]


async def test_a_replay_tells_the_same_event_again_as_a_delivery_of_its_own(near: Local) -> None:
    async with Receiver() as receiver:
        hook = await add(near, receiver.url)
        await done(near)
        (row,) = await settled(near, hook["webhook_id"])
        path = f"/v1/webhooks/deliveries/{row['delivery_id']}/replay"
        answer = await near.http.post(path, headers=keyed("k"))
        assert answer.status_code == 200
        assert (await near.http.post(path, headers=keyed("k"))).content == answer.content
        second, first = await settled(near, hook["webhook_id"], 2)
        assert first == row
        assert (second["replay_of"], second["event_id"]) == (row["delivery_id"], row["event_id"])
        assert second["delivery_id"] == answer.json()["delivery_id"] != row["delivery_id"]
        assert [taken.body for taken in receiver.taken] == [receiver.taken[0].body] * 2
        assert is_signed(receiver.taken[1], hook["secret"])


async def test_a_rotated_secret_signs_from_then_on_and_the_old_one_is_gone(near: Local, data_dir: Path) -> None:
    async with Receiver() as receiver:
        hook = await add(near, receiver.url)
        path = f"/v1/webhooks/{hook['webhook_id']}/rotate-secret"
        answer = await near.http.post(path, headers=keyed("k"))
        again = await near.http.post(path, headers=keyed("k"))
        told = answer.json()
        secret = told.pop("secret")
        assert secret != hook["secret"]
        assert told["secret_rotated_at"] is not None
        assert again.json() == {**told, "secret_withheld": True}
        assert (await near.get("/v1/webhooks"))["webhooks"] == [told]
        await done(near)
        await settled(near, hook["webhook_id"])
        assert is_signed(receiver.taken[0], secret)
        assert not is_signed(receiver.taken[0], hook["secret"])
        assert vault_secrets(data_dir) == [secret]
        handles = await near.context.database.read(named_handles)
        assert handles == {file.name for file in data_dir.glob("secrets/*")}


async def test_webhooks_are_one_organizations_own(near: Local, data_dir: Path) -> None:
    bearer, _ = await near.add_key(await other_tenant(near))
    async with Receiver() as receiver:
        hook = await add(near, receiver.url)
        await done(near)
        (row,) = await settled(near, hook["webhook_id"])
        near.http.headers.update(bearing(bearer))
        # Another organization reaches public addresses only; that nobody is there makes no difference here.
        own = await add(near, "https://receiver.invalid/runs")
        assert await deliveries(near, own["webhook_id"]) == []
        await near.submit()
        await near.context.engine.settled()
        (told,) = await settled(near, own["webhook_id"])
        assert told["webhook_id"] == own["webhook_id"]
        near.http.headers.update(bearing(near.key))
        assert await deliveries(near, hook["webhook_id"]) == [row]
    assert len(list(data_dir.glob("secrets/*"))) == 2


async def test_a_webhook_is_stored_with_a_handle_in_place_of_its_secret(local: Local) -> None:
    hook = await add(local, URL)
    row = await local.context.database.read(
        lambda transaction: transaction.one(webhooks_table, {"tenant_id": local_tenant(transaction)})
    )
    assert row is not None
    assert hook["secret"] not in str(dict(row))
    secret = await local.context.vault.get(row["secret_handle"])
    assert secret is not None
    assert secret.reveal() == hook["secret"]


@pytest.mark.exhaustive
async def test_a_receiver_that_hangs_holds_back_no_other(near: Local) -> None:
    bearer, _ = await near.add_key(await other_tenant(near))
    runs = 2 * AT_ONCE // webhooks.WEBHOOKS_EACH + RECEIVER_AT_ONCE
    async with Receiver(*[HANG] * 10_000) as hanging, Receiver() as prompt:
        for _ in range(webhooks.WEBHOOKS_EACH - 1):
            await add(near, hanging.url)
        own = await add(near, prompt.url)
        for _ in range(runs):
            await done(near)
        # Every place is taken by receivers that do not answer within the test.
        assert len(await settled(near, own["webhook_id"], runs)) == runs
        assert len(hanging.taken) <= (webhooks.WEBHOOKS_EACH - 1) * RECEIVER_AT_ONCE
        near.http.headers.update(bearing(bearer))
        # Another organization reaches public addresses only; its tries end at once, because nobody has this name.
        other = await add(near, "https://receiver.invalid/runs")
        await near.submit()
        await near.context.engine.settled()
        (row,) = await settled(near, other["webhook_id"])
        assert (row["status"], row["attempts"]) == ("failed", 5)
        near.http.headers.update(bearing(near.key))
        for hook in (await near.get("/v1/webhooks"))["webhooks"]:
            if hook["url"] == hanging.url:
                rows = await deliveries(near, hook["webhook_id"])
                assert [row["status"] for row in rows] == ["pending"] * runs


async def test_the_queue_of_a_webhook_is_bounded_and_what_finds_it_full_can_be_replayed(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MAX_QUEUED", 2)
    clock = FakeClock(manual=True)
    async with serving(clock, allow_loopback_checks=True) as near, Receiver(500, 500) as receiver:
        hook = await add(near, receiver.url)
        for _ in range(3):
            run_id = (await near.submit())["execution_id"]
            await near.http.post(f"/v1/executions/{run_id}/cancel")
        await receiver.wait_for(2)
        newest = (await deliveries(near, hook["webhook_id"]))[0]
        assert (newest["status"], newest["attempts"], newest["error"]) == ("failed", 0, "queue_full")
        replay = f"/v1/webhooks/deliveries/{newest['delivery_id']}/replay"
        check(await near.http.post(replay), "invalid_state")
        async with asyncio.timeout(WAIT_S):
            while {row["attempts"] for row in (await deliveries(near, hook["webhook_id"]))[1:]} != {1}:
                pass
        clock.advance(10)
        await settled(near, hook["webhook_id"], 3)
        assert (await near.http.post(replay)).status_code == 200
        again = (await settled(near, hook["webhook_id"], 4))[0]
        assert (again["status"], again["execution_id"]) == ("delivered", newest["execution_id"])


async def test_a_removed_webhook_is_gone_with_its_secret_and_what_waited(serving: Serving, data_dir: Path) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock, allow_loopback_checks=True) as near, Receiver(500) as receiver:
        hook, other = [await add(near, receiver.url) for _ in range(2)]
        run_id = (await near.submit())["execution_id"]
        await near.http.post(f"/v1/executions/{run_id}/cancel")
        await receiver.wait_for(2)
        path = f"/v1/webhooks/{hook['webhook_id']}"
        answer = await near.http.delete(path, headers=keyed("k"))
        assert answer.status_code == 200
        told = answer.json()
        assert told.pop("effects") in ({"deliveries_dropped": 0}, {"deliveries_dropped": 1})
        assert told == {"webhook_id": hook["webhook_id"], "status": "removed", "removed_at": format_iso(clock.now())}
        assert (await near.http.delete(path, headers=keyed("k"))).content == answer.content
        check(await near.http.delete(path), "not_found")
        check(await near.http.get(f"{path}/deliveries"), "not_found")
        assert [row["webhook_id"] for row in (await near.get("/v1/webhooks"))["webhooks"]] == [other["webhook_id"]]
        assert len(list(data_dir.glob("secrets/*"))) == 1
        await attempted(near, other["webhook_id"])
        clock.advance(10)
        await settled(near, other["webhook_id"])
        assert all(is_signed(taken, other["secret"]) for taken in receiver.taken[2:])
