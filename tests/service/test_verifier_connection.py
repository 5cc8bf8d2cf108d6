"""The protected key of an output check, from the intent to its destruction, by hand and by the official client."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from millwork_solver import AsyncSolver

from runwatch.base.secrets.secret import Secret
from runwatch.service.checks import bindings
from runwatch.service.checks.probe import ProbeReport, probe
from runwatch.service.routes import verifiers as verifier_routes
from runwatch.service.tables import bindings_table
from tests.service.conftest import Json, Local, Serving
from tests.service.test_verifiers import PATH, changed, registered
from tests.support.dock import Dock, dock
from tests.support.problems import check, fields

SECRET = "endpoint-key-4711-do-not-tell"
OTHER = "endpoint-key-4712-do-not-tell"
FOREVER = {"kind": "no_expiration"}
DAY_S = 24 * 3600


@pytest.fixture
async def endpoint() -> AsyncIterator[Dock]:
    """A check on this machine that accepts two keys."""
    async with dock() as made:
        made.keys = {SECRET, OTHER}
        yield made


@pytest.fixture
async def place(near: Local, endpoint: Dock) -> str:
    """The path of that check, registered."""
    return f"{PATH}/{(await registered(near, endpoint.url))['verifier_id']}"


async def ask(near: Local, place: str, **choice: Any) -> Json:
    """A new connection intent."""
    answer = await near.http.post(f"{place}/connection-intents", json={"stop_choice": choice or FOREVER})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def enter(near: Local, intent: Json, secret: str = SECRET) -> Json:
    """Type the key on the private page, as a command line does."""
    answer = await near.http.post(intent["continue_url"], json={"secret": secret})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def stage(near: Local, place: str, secret: str = SECRET, **choice: Any) -> Json:
    """A key that waits for its test, as the body of that test."""
    intent = await ask(near, place, **choice)
    return {**await enter(near, intent, secret), "operation_key": intent["intent_id"]}


async def promote(near: Local, place: str, staged: Json) -> httpx.Response:
    return await near.http.post(f"{place}/connection/test", json=staged)


async def connect(near: Local, place: str, secret: str = SECRET, **choice: Any) -> Json:
    """A key in use, as the connection's view."""
    answer = await promote(near, place, await stage(near, place, secret, **choice))
    assert answer.status_code == 200, answer.text
    return await near.get(f"{place}/connection")


async def revoke(near: Local, place: str, **body: Any) -> httpx.Response:
    """Stop the use of the key."""
    return await near.http.post(f"{place}/connection/revoke", json=body)


def kept_secrets(near: Local) -> int:
    """How many secrets the vault holds."""
    directory = near.running.context.options.data_dir / "secrets"
    return len(list(directory.iterdir())) if directory.exists() else 0


async def test_a_check_without_a_key_is_unbound(near: Local, place: str) -> None:
    view = await near.get(f"{place}/connection")
    assert (view["status"], view["handle"], view["generation"]) == ("unbound", None, 0)
    assert (view["pending_key"], view["last_test"], view["replacement"]) == (None, None, None)
    assert view["retired_keys"] == []
    assert "last_operation" not in view


async def test_an_intent_says_where_the_key_is_typed(near: Local, place: str, endpoint: Dock) -> None:
    intent = await ask(near, place, kind="preset_days", days=30)
    url = urlsplit(intent["continue_url"])
    assert f"{url.scheme}://{url.netloc}" == intent["intake_origin"] == near.running.file.base_url
    assert url.path == "/connect/verifier"
    assert list(parse_qs(url.query)) == ["intent"]
    assert intent["origin"] == endpoint.url.removesuffix("/check")
    assert intent["stop_choice"] == {"kind": "preset_days", "days": 30}
    assert intent["expires_at"] == "2026-11-21T12:30:00.000Z"
    assert re.fullmatch(r"[A-Za-z0-9._:-]{1,256}", intent["intent_id"])


@pytest.mark.parametrize(
    ("choice", "named"),
    [
        (None, "stop_choice"),
        ({}, "stop_choice.kind"),
        ({"kind": "soon"}, "stop_choice.kind"),
        ({"kind": "no_expiration", "days": 30}, "stop_choice"),
        ({"kind": "preset_days"}, "stop_choice"),
        ({"kind": "preset_days", "days": 31}, "stop_choice.days"),
        ({"kind": "preset_days", "days": None}, "stop_choice"),
        ({"kind": "calendar_date", "date": "2027-01-01"}, "stop_choice"),
        ({"kind": "calendar_date", "date": "2027-1-1", "time_zone": "UTC"}, "stop_choice.date"),
        ({"kind": "calendar_date", "date": "2027-02-30", "time_zone": "UTC"}, "stop_choice.date"),
        ({"kind": "calendar_date", "date": "2026-11-21", "time_zone": "UTC"}, "stop_choice.date"),
        ({"kind": "calendar_date", "date": "2027-01-01", "time_zone": "Nowhere"}, "stop_choice.time_zone"),
        ({"kind": "no_expiration", "note": "x"}, "stop_choice.note"),
    ],
    ids=str,
)
async def test_a_stop_choice_that_cannot_be_is_refused(near: Local, place: str, choice: Any, named: str) -> None:
    answer = await near.http.post(f"{place}/connection-intents", json={"stop_choice": choice})
    assert fields(check(answer, "validation_failed")) == [named]


async def test_the_address_of_the_page_is_reported_once(near: Local, place: str) -> None:
    body, headers = {"stop_choice": FOREVER}, {"Idempotency-Key": "once"}
    first = (await near.http.post(f"{place}/connection-intents", json=body, headers=headers)).json()
    again = (await near.http.post(f"{place}/connection-intents", json=body, headers=headers)).json()
    assert again == {**first, "continue_url": None}


async def test_the_page_shows_a_form_and_keeps_the_key(near: Local, place: str, endpoint: Dock) -> None:
    intent = await ask(near, place, kind="preset_days", days=30)
    browser = {"Accept": "text/html"}
    async with httpx.AsyncClient(headers=browser, timeout=30, follow_redirects=True) as person:
        shown = await person.get(intent["continue_url"])
        assert shown.status_code == 200
        assert "Release notes" in shown.text
        assert endpoint.url.removesuffix("/check") in shown.text
        assert 'type="password"' in shown.text
        taken = await person.post(intent["continue_url"], data={"secret": SECRET})
        assert taken.status_code == 200
        assert SECRET not in taken.text
        check_again = await person.post(intent["continue_url"], data={"secret": SECRET})
        assert check_again.status_code == 409
    pending = (await near.get(f"{place}/connection"))["pending_key"]
    assert re.fullmatch(r"cred_v_[0-9a-f]{32}", pending["handle"])
    assert pending["staged_until"] == "2026-11-22T12:00:00.000Z"


@pytest.mark.parametrize(
    "secret", ["", "  ", "two words", "ü", "a\nb", "k" * 4097, "solverapi_live_abc", "solverapi_test_abc"]
)
async def test_what_is_no_endpoint_key_is_refused_and_the_address_still_works(
    near: Local, place: str, secret: str
) -> None:
    intent = await ask(near, place)
    answer = await near.http.post(intent["continue_url"], json={"secret": secret})
    assert fields(check(answer, "validation_failed")) == ["secret"]
    assert kept_secrets(near) == 0
    await enter(near, intent)


async def test_the_address_works_with_the_key_that_asked_for_it_only(near: Local, place: str) -> None:
    intent = await ask(near, place)
    bearer, _ = await near.add_key()
    answer = await near.http.post(
        intent["continue_url"], json={"secret": SECRET}, headers={"Authorization": f"Bearer {bearer}"}
    )
    check(answer, "permission_denied")
    assert kept_secrets(near) == 0


async def test_an_address_that_is_over_keeps_nothing(near: Local, place: str) -> None:
    intent = await ask(near, place)
    near.fake_clock.advance(31 * 60)
    check(await near.http.post(intent["continue_url"], json={"secret": SECRET}), "invalid_state")
    assert kept_secrets(near) == 0


async def test_an_address_for_an_endpoint_that_moved_keeps_nothing(near: Local, place: str) -> None:
    intent = await ask(near, place)
    await changed(near, place.rpartition("/")[2], endpoint={"url": "https://nowhere.invalid/"})
    check(await near.http.post(intent["continue_url"], json={"secret": SECRET}), "invalid_state")
    assert kept_secrets(near) == 0


async def test_an_address_for_a_retired_check_keeps_nothing(near: Local, place: str) -> None:
    intent = await ask(near, place)
    await near.http.delete(place)
    check(await near.http.post(intent["continue_url"], json={"secret": SECRET}), "invalid_state")
    assert kept_secrets(near) == 0


async def test_a_key_that_passes_is_used_and_the_check_becomes_ready(near: Local, place: str, endpoint: Dock) -> None:
    assert (await near.get(place))["status_reason"] == "authentication_failed"
    staged = await stage(near, place, kind="preset_days", days=90)
    answer = await promote(near, place, staged)
    view = await near.get(f"{place}/connection", operation_key=staged["operation_key"])
    assert answer.json() == {"generation": view["generation"], "handle": staged["handle"]}
    assert (view["status"], view["handle"], view["pending_key"]) == ("active", staged["handle"], None)
    assert (view["stop_at"], view["stop_time_zone"]) == ("2027-02-19T00:00:00.000Z", "UTC")
    assert (view["days_remaining"], view["projection_ack"]) == (90, "acknowledged")
    assert view["last_test"]["outcome"] == "passed"
    assert (view["last_operation"]["kind"], view["last_operation"]["phase"]) == ("promote", "committed")
    assert endpoint.authorizations[-1] == f"Bearer {SECRET}"
    shown = await near.get(place)
    assert (shown["status"], shown["revision"], shown["connection"]["status"]) == ("ready", 1, "active")
    assert (await near.http.post(f"{place}/test")).json()["status"] == "ready"
    assert endpoint.authorizations[-1] == f"Bearer {SECRET}"


async def test_a_key_that_fails_changes_nothing_but_the_record_of_it(near: Local, place: str, endpoint: Dock) -> None:
    before = await connect(near, place)
    staged = await stage(near, place, "wrong-key-0000")
    problem = check(await promote(near, place, staged), "invalid_state")
    assert "authentication_failed" in (problem.detail or "")
    view = await near.get(f"{place}/connection")
    assert (view["status"], view["handle"], view["pending_key"]) == ("active", before["handle"], None)
    assert view["last_test"]["outcome"] == "failed"
    assert (view["last_test"]["handle"], view["last_test"]["reason"]) == (staged["handle"], "authentication_failed")
    assert view["replacement"]["status"] == "failed"
    assert (view["retired_keys"][0]["handle"], view["retired_keys"][0]["state"]) == (staged["handle"], "destroyed")
    assert kept_secrets(near) == 1
    assert (await near.get(place))["status"] == "ready"
    check(await promote(near, place, staged), "invalid_state")


@pytest.mark.parametrize(
    ("status", "content", "reason"),
    [(500, b"{}", "http_error"), (200, b"{}", "invalid_response")],
)
async def test_a_test_fails_for_every_answer_that_is_no_verdict(
    near: Local, place: str, endpoint: Dock, status: int, content: bytes, reason: str
) -> None:
    endpoint.status, endpoint.content = status, content
    check(await promote(near, place, await stage(near, place)), "invalid_state")
    view = await near.get(f"{place}/connection")
    assert (view["status"], view["last_test"]["reason"], view["replacement"]) == ("unbound", reason, None)


async def test_a_replaced_key_is_destroyed(near: Local, place: str, endpoint: Dock) -> None:
    first = await connect(near, place)
    waiting = await stage(near, place, OTHER)
    assert (await near.get(f"{place}/connection"))["replacement"]["status"] == "pending"
    assert kept_secrets(near) == 2
    await promote(near, place, waiting)
    view = await near.get(f"{place}/connection", operation_key=waiting["operation_key"])
    assert view["last_operation"]["resulting_state"]["replaced_handle"] == first["handle"]
    (retired,) = view["retired_keys"]
    assert (retired["handle"], retired["state"], retired["reason"]) == (first["handle"], "destroyed", "replaced")
    assert kept_secrets(near) == 1
    assert endpoint.authorizations[-1] == f"Bearer {OTHER}"


@pytest.mark.exhaustive
async def test_an_old_generation_is_refused(near: Local, place: str) -> None:
    old = await stage(near, place)
    new = await stage(near, place, OTHER)
    check(await promote(near, place, old), "invalid_state")
    check(await promote(near, place, {**new, "captured_generation": old["captured_generation"]}), "invalid_state")
    assert (await promote(near, place, new)).status_code == 200


async def test_a_promotion_whose_answer_was_lost_is_answered_again(near: Local, place: str, endpoint: Dock) -> None:
    staged = await stage(near, place)
    first = await promote(near, place, staged)
    calls = len(endpoint.heads)
    again = await promote(near, place, staged)
    assert (again.status_code, again.json()) == (200, first.json())
    assert len(endpoint.heads) == calls


@pytest.mark.exhaustive
async def test_two_tests_at_once_take_the_key_into_use_once(near: Local, place: str) -> None:
    staged = await stage(near, place)
    answers = await asyncio.gather(*(promote(near, place, staged) for _ in range(4)))
    assert 200 in {answer.status_code for answer in answers}
    assert {answer.status_code for answer in answers} <= {200, 409}
    view = await near.get(f"{place}/connection")
    assert (view["status"], view["handle"], view["retired_keys"]) == ("active", staged["handle"], [])


@pytest.mark.parametrize(
    ("over", "named"),
    [
        ({"handle": 1}, "handle"),
        ({"handle": ""}, "handle"),
        ({"captured_generation": "1"}, "captured_generation"),
        ({"captured_generation": None}, "captured_generation"),
        ({"operation_key": "a b"}, "operation_key"),
        ({"operation_key": "k" * 257}, "operation_key"),
    ],
)
async def test_a_test_that_is_asked_for_wrongly_is_refused(near: Local, place: str, over: Json, named: str) -> None:
    staged = await stage(near, place)
    assert fields(check(await promote(near, place, {**staged, **over}), "validation_failed")) == [named]


@pytest.mark.exhaustive
async def test_operations_are_looked_up_by_their_key(near: Local, place: str) -> None:
    async def last(key: str) -> Any:
        return (await near.get(f"{place}/connection", operation_key=key))["last_operation"]

    assert await last("nobody") == {"status": "unknown"}
    intent = await ask(near, place)
    assert await last(intent["intent_id"]) is None
    staged = await enter(near, intent)
    step = await last(intent["intent_id"])
    assert (step["kind"], step["phase"], step["resulting_state"]["handle"]) == ("stage", "admitted", staged["handle"])
    await promote(near, place, {**staged, "operation_key": "mine"})
    for key in ("mine", intent["intent_id"]):
        assert ((await last(key))["kind"], (await last(key))["phase"]) == ("promote", "committed")
    check(await near.http.get(f"{place}/connection", params={"operation_key": "a b"}), "validation_failed")


async def test_a_revoked_key_is_destroyed_and_the_check_is_degraded(near: Local, place: str, endpoint: Dock) -> None:
    before = await connect(near, place)
    answer = await revoke(near, place, operation_key="stop.1")
    view = await near.get(f"{place}/connection", operation_key="stop.1")
    assert answer.json() == {"generation": view["generation"]}
    assert view["generation"] > before["generation"]
    assert (view["status"], view["stop_reason"], view["handle"]) == ("revoked", "revoked", None)
    assert (view["last_operation"]["kind"], view["last_operation"]["phase"]) == ("revoke", "committed")
    assert [key["state"] for key in view["retired_keys"]] == ["destroyed"]
    assert kept_secrets(near) == 0
    shown = await near.get(place)
    assert (shown["status"], shown["status_reason"]) == ("degraded", "connection_revoked")
    report = (await near.http.post(f"{place}/test")).json()
    assert report["status_reason"] == "connection_revoked"
    assert endpoint.authorizations[-1] is None


@pytest.mark.exhaustive
async def test_a_lost_revocation_that_is_sent_again_spares_the_key_that_came_since(near: Local, place: str) -> None:
    await connect(near, place)
    await revoke(near, place, operation_key="stop.1")
    restored = await connect(near, place, OTHER)
    assert restored["status"] == "active"
    assert (await revoke(near, place, operation_key="stop.1")).status_code == 200
    assert (await near.get(f"{place}/connection"))["status"] == "active"


@pytest.mark.exhaustive
async def test_revoking_takes_no_body_and_needs_a_key_to_stop(near: Local, place: str) -> None:
    check(await near.http.post(f"{place}/connection/revoke"), "invalid_state")
    await connect(near, place)
    assert (await near.http.post(f"{place}/connection/revoke")).status_code == 200
    check(await revoke(near, place, operation_key="a b"), "validation_failed")


async def test_a_key_stops_at_its_date_and_is_destroyed(near: Local, place: str, endpoint: Dock) -> None:
    await connect(near, place, kind="preset_days", days=30)
    near.fake_clock.advance(29 * DAY_S)
    assert (await near.get(place))["connection"]["days_remaining"] == 1
    near.fake_clock.advance(DAY_S)
    shown = await near.get(place)
    assert (shown["status"], shown["status_reason"]) == ("degraded", "connection_expired")
    assert (shown["connection"]["status"], shown["connection"]["days_remaining"]) == ("expired", None)
    await near.http.post(f"{place}/test")
    assert endpoint.authorizations[-1] is None
    view = await near.get(f"{place}/connection")
    assert (view["status"], view["stop_reason"], view["stopped_at"]) == ("expired", "stop_date", view["stop_at"])
    assert view["retired_keys"][0]["state"] == "destroyed"
    assert kept_secrets(near) == 0
    assert (await connect(near, place, OTHER))["status"] == "active"


async def test_a_new_origin_takes_no_key_along(near: Local, place: str, endpoint: Dock) -> None:
    await connect(near, place)
    async with dock() as other:
        moved = await changed(near, place.rpartition("/")[2], endpoint={"url": other.url})
        assert (moved["connection"]["status"], moved["connection"]["stop_reason"]) == ("revoked", "origin_invalidated")
        assert other.authorizations == [None]
    assert kept_secrets(near) == 0


@pytest.mark.exhaustive
async def test_a_new_path_at_the_same_origin_keeps_the_key(near: Local, place: str, endpoint: Dock) -> None:
    await connect(near, place)
    moved = await changed(near, place.rpartition("/")[2], endpoint={"url": f"{endpoint.url}/two"})
    assert (moved["connection"]["status"], moved["status"]) == ("active", "ready")
    assert endpoint.heads[-1].path == "/check/two"
    assert endpoint.authorizations[-1] == f"Bearer {SECRET}"


@pytest.mark.exhaustive
async def test_a_retired_check_leaves_no_key_behind(near: Local, place: str) -> None:
    await connect(near, place)
    await stage(near, place, OTHER)
    assert kept_secrets(near) == 2
    await near.http.delete(place)
    assert kept_secrets(near) == 0


@pytest.mark.exhaustive
async def test_what_a_crash_left_to_destroy_is_destroyed_at_the_next_start(serving: Serving, endpoint: Dock) -> None:
    async with serving(allow_loopback_checks=True) as first:
        place = f"{PATH}/{(await registered(first, endpoint.url))['verifier_id']}"
        await connect(first, place)
        await first.context.database.write(lambda transaction: bindings.revoke(transaction, place.rpartition("/")[2]))
        assert kept_secrets(first) == 1
    async with serving(allow_loopback_checks=True) as second:
        assert kept_secrets(second) == 0
        view = await second.get(f"{place}/connection")
        assert view["retired_keys"][0]["state"] == "destroyed"


async def test_a_key_that_a_crash_left_without_a_row_is_gone_after_the_next_start(serving: Serving) -> None:
    async with serving() as first:
        await first.context.vault.put(Secret(SECRET))
        assert kept_secrets(first) == 1
    async with serving() as second:
        assert kept_secrets(second) == 0


@pytest.mark.exhaustive
async def test_a_key_in_use_survives_a_restart(serving: Serving, endpoint: Dock) -> None:
    async with serving(allow_loopback_checks=True) as first:
        place = f"{PATH}/{(await registered(first, endpoint.url))['verifier_id']}"
        before = await connect(first, place)
    async with serving(allow_loopback_checks=True) as second:
        assert await second.get(f"{place}/connection") == before
        assert (await second.http.post(f"{place}/test")).json()["status"] == "ready"
        named = await second.context.database.read(bindings.named_handles)
        assert named == {before["handle"]}


def meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], Awaitable[object]]) -> None:
    """Have something happen while the next probe is under way."""
    left = [happens]

    async def probe_with_company(*given: Any) -> ProbeReport:
        report = await probe(*given)
        if left:
            await left.pop()()
        return report

    monkeypatch.setattr(verifier_routes, "probe", probe_with_company)


@pytest.mark.exhaustive
async def test_an_endpoint_that_changes_during_the_test_leaves_the_key_waiting(
    near: Local, place: str, endpoint: Dock, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = await stage(near, place)
    patch = {"endpoint": {"url": f"{endpoint.url}/two"}}
    meanwhile(monkeypatch, lambda: near.http.patch(place, json=patch))
    check(await promote(near, place, staged), "invalid_state")
    view = await near.get(f"{place}/connection")
    assert (view["status"], view["pending_key"]["handle"]) == ("unbound", staged["handle"])
    assert (await promote(near, place, staged)).status_code == 200


@pytest.mark.exhaustive
async def test_a_connection_that_is_revoked_during_the_test_stays_revoked(
    near: Local, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await connect(near, place)
    staged = await stage(near, place, OTHER)
    meanwhile(monkeypatch, lambda: revoke(near, place))
    check(await promote(near, place, staged), "invalid_state")
    assert (await near.get(f"{place}/connection"))["status"] == "revoked"
    assert kept_secrets(near) == 0


async def test_what_was_found_of_an_endpoint_that_was_replaced_is_not_kept(
    near: Local, place: str, endpoint: Dock, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.keys = None
    patch = {"endpoint": {"url": "https://nowhere.invalid/"}}
    meanwhile(monkeypatch, lambda: near.http.patch(place, json=patch))
    report = (await near.http.post(f"{place}/test")).json()
    assert report["probe"]["contract"]["validated"] is True
    assert (await near.get(place))["status_reason"] == "endpoint_unreachable"


@pytest.mark.exhaustive
async def test_a_staged_key_that_was_lost_fails_its_test(near: Local, place: str) -> None:
    staged = await stage(near, place)
    await near.context.vault.remove(staged["handle"])
    check(await promote(near, place, staged), "invalid_state")
    assert (await near.get(f"{place}/connection"))["last_test"]["reason"] == "credential_unavailable"


@pytest.mark.parametrize("role", ["reader", "runner"])
async def test_only_who_manages_options_touches_a_key(near: Local, place: str, role: str) -> None:
    bearer, _ = await near.add_key(role=role)
    headers = {"Authorization": f"Bearer {bearer}"}
    assert (await near.http.get(f"{place}/connection", headers=headers)).status_code == 200
    for path in ("connection-intents", "connection/test", "connection/revoke", "test"):
        check(await near.http.post(f"{place}/{path}", json={}, headers=headers), "permission_denied")
    check(await near.http.delete(place, headers=headers), "permission_denied")


async def test_the_key_is_nowhere_but_in_the_vault(
    serving: Serving, endpoint: Dock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    answers: list[str] = []
    async with serving(allow_loopback_checks=True) as near:
        near.http.event_hooks["response"] = [lambda answer: collect(answer, answers)]
        place = f"{PATH}/{(await registered(near, endpoint.url))['verifier_id']}"
        intent = await ask(near, place)
        staged = await enter(near, intent)
        await promote(near, place, {**staged, "operation_key": intent["intent_id"]})
        await promote(near, place, await stage(near, place, "wrong-key-0000"))
        await near.http.post(intent["continue_url"], json={"secret": SECRET})
        await near.get(f"{place}/connection")
        data_dir = near.context.options.data_dir
        rows = await near.context.database.read(lambda transaction: transaction.list_all(bindings_table, {}))
        assert SECRET not in repr(rows)
    files = [file for file in data_dir.rglob("*") if file.is_file()]
    token = parse_qs(urlsplit(intent["continue_url"]).query)["intent"][0]
    assert files
    for secret in (SECRET, "wrong-key-0000"):
        assert all(secret.encode() not in file.read_bytes() for file in files)
        assert all(secret not in answer for answer in answers)
        assert secret not in caplog.text
    assert all(token.encode() not in file.read_bytes() for file in files)
    assert all((file.stat().st_mode & 0o077) == 0 for file in (data_dir / "secrets").iterdir())


async def collect(answer: httpx.Response, into: list[str]) -> None:
    into.append((await answer.aread()).decode())


@pytest.fixture
async def solver(near: Local) -> AsyncIterator[Any]:
    async with AsyncSolver(api_key=near.key, base_url=near.running.file.base_url) as client:
        yield client


async def test_the_official_client_goes_through_the_whole_life_of_a_key(
    near: Local, endpoint: Dock, place: str, solver: Any
) -> None:
    connection, verifier_id = solver.verifier_connection, place.rpartition("/")[2]

    async def go_on(intent: Json, name: str) -> Any:
        return await connection.continue_connection(
            verifier_id, operation_key=intent["intent_id"], idempotency_key=name
        )

    intent = await connection.create_intent(verifier_id, {"kind": "preset_days", "days": 30}, idempotency_key="i1")
    assert ((await go_on(intent, "c0")).state, (await go_on(intent, "c0")).next_action) == (
        "action_required",
        "enter_key",
    )
    await enter(near, intent)
    done = await go_on(intent, "c1")
    assert (done.state, done.next_action, done.connection["status"]) == ("done", None, "active")
    assert (await go_on(intent, "c2")).state == "done"

    wrong = await connection.create_intent(verifier_id, {"kind": "no_expiration"}, idempotency_key="i2")
    await enter(near, wrong, "wrong-key-0000")
    failed = await go_on(wrong, "c3")
    assert (failed.state, failed.next_action, failed.connection["status"]) == ("test_failed", "start_again", "active")
    assert (await go_on(wrong, "c4")).state == "test_failed"

    zone = {"kind": "calendar_date", "date": "2027-03-01", "time_zone": "Europe/Vienna"}
    rotated = await connection.create_intent(verifier_id, zone, idempotency_key="i3")
    await enter(near, rotated, OTHER)
    assert (await go_on(rotated, "c5")).state == "done"
    view = await connection.inspect(verifier_id)
    assert (view["stop_at"], view["stop_time_zone"]) == ("2027-02-28T23:00:00.000Z", "Europe/Vienna")

    stopped = await connection.disconnect(verifier_id, operation_key="stop", idempotency_key="d1", confirmed=True)
    assert (stopped.state, stopped.connection["status"]) == ("done", "revoked")
    again = await connection.disconnect(verifier_id, operation_key="stop", idempotency_key="d1", confirmed=True)
    assert again.state == "done"

    back = await connection.create_intent(verifier_id, {"kind": "no_expiration"}, idempotency_key="i4")
    await enter(near, back)
    assert (await go_on(back, "c6")).connection["status"] == "active"


@pytest.mark.exhaustive
async def test_the_official_client_sees_that_a_staged_key_was_overtaken(near: Local, place: str, solver: Any) -> None:
    connection, verifier_id = solver.verifier_connection, place.rpartition("/")[2]
    old = await connection.create_intent(verifier_id, FOREVER, idempotency_key="i1")
    await enter(near, old)
    new = await connection.create_intent(verifier_id, FOREVER, idempotency_key="i2")
    await enter(near, new, OTHER)
    outcome = await connection.continue_connection(verifier_id, operation_key=old["intent_id"], idempotency_key="c1")
    assert (outcome.state, outcome.next_action) == ("changed", "inspect")


async def test_the_official_client_is_refused_where_there_is_nothing_to_disconnect(place: str, solver: Any) -> None:
    outcome = await solver.verifier_connection.disconnect(
        place.rpartition("/")[2], operation_key="stop", idempotency_key="d1", confirmed=True
    )
    assert outcome.state == "refused"


async def test_the_official_client_registers_pages_tests_and_retires(near: Local, endpoint: Dock, solver: Any) -> None:
    endpoint.keys = None
    for number in range(3):
        await registered(near, endpoint.url, display_name=f"check {number}")
    pages = [page async for page in solver.pages("getVerifiers", item_field="verifiers", query={"limit": 2})]
    found = [entry["verifier_id"] for page in pages for entry in page.items]
    assert len(set(found)) == 3
    where = {"verifierId": found[0]}
    report = await solver.request("postVerifiersByVerifierIdTest", path_parameters=where)
    assert report["probe"]["contract"]["validated"] is True
    assert await solver.request("deleteVerifiersByVerifierId", path_parameters=where) is None
    assert len((await solver.request("getVerifiers"))["verifiers"]) == 2
