"""GitHub connections, the private page that records one, and the browser session that may start one."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from runwatch.service.access.api_keys import revoke
from runwatch.service.access.browser_sessions import COOKIE, PAGE_COOKIE, PATH
from tests.service.conftest import Local, Serving
from tests.support.clock import FakeClock
from tests.support.problems import check

INTENTS = f"{PATH}/intents"
BROWSER = {"Accept": "text/html,application/xhtml+xml"}


def browser(local: Local) -> httpx.AsyncClient:
    """A browser: no key, pages wanted, cookies kept."""
    return httpx.AsyncClient(base_url=local.http.base_url, headers=BROWSER, follow_redirects=True)


async def started(local: Local, repository: str = "acme/widgets") -> dict[str, Any]:
    answer = await local.http.post(INTENTS, json={"repository": repository})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def listed(local: Local) -> list[tuple[str, str, str]]:
    connections = (await local.get(PATH))["connections"]
    return [(each["repository"], each["status"], each["verification"]) for each in connections]


async def test_a_repository_is_recorded_on_the_page_as_connected_and_unverified(local: Local) -> None:
    intent = await started(local)
    assert set(intent) == {"intent_id", "repository", "continue_url", "expires_at"}
    async with browser(local) as person:
        shown = await person.get(intent["continue_url"])
        assert shown.status_code == 200
        assert "acme/widgets" in shown.text
        assert "No GitHub App is installed" in shown.text
        assert "script" not in shown.text
        assert await listed(local) == []
        done = await person.post(intent["continue_url"], data={"go": "on"})
        assert "recorded as connected, unverified" in done.text
    assert await listed(local) == [("acme/widgets", "connected", "unverified")]


async def test_recording_a_repository_twice_leaves_one_connection(local: Local) -> None:
    for repository in ("acme/widgets", "Acme/Widgets"):
        intent = await started(local, repository)
        assert (await local.http.post(intent["continue_url"], json={"on": "yes"})).status_code == 200
    assert await listed(local) == [("acme/widgets", "connected", "unverified")]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"repository": "ab"}, "repository"),
        ({"repository": "a" * 256}, "repository"),
        ({"repository": "acme/widgets", "branch": "main"}, "branch"),
    ],
)
async def test_the_body_is_closed_and_bounded(local: Local, body: Any, field: str) -> None:
    problem = check(await local.http.post(INTENTS, json=body), "validation_failed")
    assert [error.field for error in problem.errors or ()] == [field]


@pytest.mark.parametrize("length", [3, 255])
async def test_the_bounds_themselves_are_taken(local: Local, length: int) -> None:
    named = f"o/{'r' * (length - 2)}"
    assert (await started(local, named))["repository"] == named


async def test_the_page_works_once(local: Local) -> None:
    intent = await started(local)
    assert (await local.http.post(intent["continue_url"], json={"on": "yes"})).status_code == 200
    check(await local.http.post(intent["continue_url"], json={"on": "yes"}), "invalid_state")
    async with browser(local) as person:
        gone = await person.get(intent["continue_url"])
        assert gone.status_code == 409
        assert "already used" in gone.text
        assert "Id of this occurrence" in gone.text


async def test_the_page_works_for_half_an_hour(serving: Serving) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock) as local:
        intent = await started(local)
        clock.advance(30 * 60)
        check(await local.http.post(intent["continue_url"], json={"on": "yes"}), "invalid_state")
        assert await listed(local) == []


async def test_the_address_belongs_to_the_key_that_asked(local: Local) -> None:
    intent = await started(local)
    bearer, _ = await local.add_key()
    as_second = {"Authorization": f"Bearer {bearer}"}
    check(await local.http.post(intent["continue_url"], json={"on": "yes"}, headers=as_second), "permission_denied")
    for url in ("/connect/github", "/connect/github?intent=", "/connect/github?intent=x", "/connect/nothing?intent=x"):
        check(await local.http.get(url), "not_found")


async def test_the_token_is_in_no_log_and_no_problem(local: Local) -> None:
    intent = await started(local)
    (token,) = parse_qs(urlsplit(intent["continue_url"]).query)["intent"]
    problem = check(await local.http.post(intent["continue_url"], json=[token]), "validation_failed")
    kept = await local.stored_problem(problem.instance or "")
    assert kept is not None
    assert token not in repr(dict(kept))


async def signed_in(local: Local, person: httpx.AsyncClient, key: str | None = None) -> httpx.Response:
    shown = await person.get("/connect/sign-in")
    assert 'type="password"' in shown.text
    return await person.post("/connect/sign-in", data={"key": key or local.key})


async def test_a_session_opens_the_start_of_a_connection_and_nothing_else(local: Local) -> None:
    async with browser(local) as person:
        answer = await signed_in(local, person)
        assert answer.status_code == 200
        assert "Signed in" in answer.text
        (led_on,) = answer.history
        cookie = led_on.headers["set-cookie"]
        for part in ("HttpOnly", "SameSite=Strict", f"Path={PATH}", "Max-Age=43200"):
            assert part in cookie
        assert local.key not in answer.text + cookie
        assert (await person.post(INTENTS, json={"repository": "acme/widgets"})).status_code == 200
        token = person.cookies[COOKIE]
        for path in (PATH, "/v1/account", "/v1/executions"):
            check(await person.get(path, headers={"Cookie": f"{COOKIE}={token}", "Accept": "*/*"}), "unauthenticated")


async def test_behind_a_proxy_pages_are_at_its_address(serving: Serving) -> None:
    public = "https://runs.example"
    async with serving(public_url=public) as local, browser(local) as person:
        local.http.headers["Host"] = person.headers["Host"] = "runs.example"
        intent = await started(local)
        assert intent["continue_url"].startswith(f"{public}/connect/github?intent=")
        page = intent["continue_url"].removeprefix(public)
        for origin, status in (("https://evil.example", 403), ("https://runs.example.evil", 403), (public, 200)):
            sent = await person.post(page, data={"go": "on"}, headers={"Origin": origin})
            assert sent.status_code == status
        signed = await person.post("/connect/sign-in", data={"key": local.key}, follow_redirects=False)
        assert signed.headers["set-cookie"].endswith("Secure")
        foreign = await local.http.get("/v1/account", headers={"Host": "evil.example"})
        check(foreign, "validation_failed")


async def test_a_browser_without_a_session_is_shown_the_form_and_never_that_it_is_signed_in(local: Local) -> None:
    done = "/connect/sign-in?done=yes"
    async with browser(local) as person:
        assert 'type="password"' in (await person.get(done)).text
        unknown = await person.get(done, headers={"Cookie": f"{PAGE_COOKIE}=x"})
        assert 'type="password"' in unknown.text
        await signed_in(local, person)
        assert "Signed in" in (await person.get(done)).text
        assert person.cookies[PAGE_COOKIE] == person.cookies[COOKIE]
        cookie = {"Cookie": f"{PAGE_COOKIE}={person.cookies[COOKIE]}"}
        await person.post(f"{PATH}/sign-out", json={})
        assert 'type="password"' in (await person.get(done)).text
        assert 'type="password"' in (await person.get(done, headers=cookie)).text


async def test_the_cookie_of_the_page_opens_nothing(local: Local) -> None:
    async with browser(local) as person:
        await signed_in(local, person)
        cookie = {"Cookie": f"{PAGE_COOKIE}={person.cookies[COOKIE]}", "Accept": "*/*"}
    async with browser(local) as other:
        check(await other.post(INTENTS, json={"repository": "acme/widgets"}, headers=cookie), "unauthenticated")


async def test_a_session_ends_with_a_sign_out(local: Local) -> None:
    async with browser(local) as person:
        await signed_in(local, person)
        token = person.cookies[COOKIE]
        out = await person.post(f"{PATH}/sign-out", json={})
        assert "Max-Age=0" in out.headers["set-cookie"]
        again = {"Cookie": f"{COOKIE}={token}", "Accept": "*/*"}
        check(await person.post(INTENTS, json={"repository": "acme/widgets"}, headers=again), "unauthenticated")


async def test_a_session_ends_with_its_time_and_with_its_key(serving: Serving) -> None:
    clock = FakeClock(manual=True)
    async with serving(clock) as local:
        bearer, key_id = await local.add_key()
        async with browser(local) as person:
            await signed_in(local, person, bearer)
            start: dict[str, Any] = {"json": {"repository": "acme/widgets"}, "headers": {"Accept": "*/*"}}
            assert (await person.post(INTENTS, **start)).status_code in {200, 403}
            owner = local.context.keys.principal_of([f"Bearer {local.key}"])
            await local.context.database.write(lambda transaction: revoke(transaction, owner, key_id))
            local.context.keys.revoke(key_id)
            check(await person.post(INTENTS, **start), "unauthenticated")
        async with browser(local) as person:
            await signed_in(local, person)
            clock.advance(12 * 3600)
            check(await person.post(INTENTS, **start), "unauthenticated")


@pytest.mark.parametrize(
    ("fields", "status"), [({"key": "solverapi_test_x"}, 401), ({"key": ""}, 400), ({"x": "y"}, 400)]
)
async def test_a_sign_in_without_a_good_key_is_reported_on_a_page(
    local: Local, fields: dict[str, str], status: int
) -> None:
    async with browser(local) as person:
        answer = await person.post("/connect/sign-in", data=fields)
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/html")
        assert "Id of this occurrence" in answer.text
        assert "set-cookie" not in answer.headers


async def test_a_page_of_another_origin_cannot_sign_anybody_in(local: Local) -> None:
    async with browser(local) as person:
        answer = await person.post(
            "/connect/sign-in", data={"key": local.key}, headers={"Origin": "https://evil.example"}
        )
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


async def test_what_is_typed_into_a_page_is_escaped(local: Local) -> None:
    intent = await started(local, "<img/src=x>\"'&")
    async with browser(local) as person:
        shown = await person.get(intent["continue_url"])
    assert "<img" not in shown.text
    assert "&lt;img/src=x&gt;" in shown.text
    policy = shown.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert shown.headers["referrer-policy"] == "same-origin"
    assert shown.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("body", ["a=b&" * 30, "%ff=1\xff", "no form"])
async def test_what_is_no_form_is_refused(local: Local, body: str) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await local.http.post("/connect/sign-in", content=body.encode("latin-1"), headers=headers)
    check(answer, "validation_failed")
