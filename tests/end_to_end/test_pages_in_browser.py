"""Every private page in a real Chromium: from its link to "done", to each error, for keyboards and screen readers.

``RUNWATCH_PAGE_PICTURES=DIRECTORY`` keeps a picture of every page that is looked at.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from selenium.webdriver.common.by import By

from runwatch.base.clock import SystemClock
from runwatch.service.access import private_entry
from runwatch.service.access.browser_sessions import COOKIE, PAGE_COOKIE, PATH
from runwatch.service.errors import RefusalError
from runwatch.service.tables import entry_intents_table
from runwatch.tui.terminal.redirect_page import write_redirect_page
from tests.service.conftest import Json, Local, serve_in_process
from tests.service.sourcing import begin, post
from tests.support.browser import Browser, browser, chromium
from tests.support.http1 import answer_bytes, read_body, read_head
from tests.support.listening import Listening

__all__ = ["browser", "chromium"]

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.exhaustive]

SECRET: Final = "sk-browser-4711-do-not-tell"
MODELS: Final = "https://models.example.com/v1"
FOREVER: Final = {"stop_choice": {"kind": "no_expiration"}}
PICTURES: Final = os.environ.get("RUNWATCH_PAGE_PICTURES")

OVER: Final = "This address no longer works"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Local]:
    """A service with the sample organization, whose checks, agents and credit have pages."""
    data_dir = tmp_path_factory.mktemp("pages") / "service"
    async with serve_in_process(data_dir, SystemClock(), sample=True, sample_runs=1) as running:
        yield running


async def source(service: Local) -> str:
    """The page of a source's key."""
    return str((await begin(service, MODELS))["continue_url"])


async def check(service: Local) -> str:
    """The page of an output check's key."""
    listed = (await service.get("/v1/verifiers"))["verifiers"]
    kept = next(each for each in listed if each["status"] == "ready")
    return await _intent(service, f"/v1/verifiers/{kept['verifier_id']}/connection-intents", FOREVER)


async def agent(service: Local) -> str:
    """The page of a review agent's key."""
    listed = (await service.get("/v1/review-composer/agents"))["agents"]
    kept = next(each for each in listed if each["status"] == "ready")
    return await _intent(service, f"/v1/review-composer/agents/{kept['arm_id']}/connection/intents", FOREVER)


async def github(service: Local) -> str:
    """The page that records a repository."""
    return await _intent(service, f"{PATH}/intents", {"repository": f"acme/{'widgets-with-a-very-long-name-' * 4}"})


async def credit(service: Local) -> str:
    return await _intent(service, "/v1/account/top-up-intents", {"amount_usd": 5})


async def _intent(service: Local, path: str, body: Json) -> str:
    return str((await post(service, path, body))["continue_url"])


Begin = Callable[[Local], Awaitable[str]]

PAGES: Final[dict[str, tuple[Begin, str, str, bool]]] = {
    "source": (source, "Connect a model source", "The key is kept.", True),
    "check": (check, "Key of an output check", "waits for its test", True),
    "agent": (agent, "Key of a review agent", "waits for its test", True),
    "github": (github, "Connect a GitHub repository", "recorded as connected, unverified", False),
    "credit": (credit, "Sample credit", "5 US dollars of sample credit were added", False),
}
"""What begins each page, its title, what it says when it is done, and whether a secret is typed."""


async def look(page: Browser, name: str, tmp_path: Path) -> None:
    """Check what every page must be: accessible in light and dark, whole on a narrow screen, and quiet."""
    for width, is_dark in ((1024, False), (1024, True), (320, False)):
        await page.resize(width, is_dark=is_dark)
        assert await page.violations() == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        kept = Path(PICTURES or tmp_path) / f"{name}-{width}{'-dark' * is_dark}.png"
        await page.picture(kept)
        assert kept.stat().st_size > 1_000
    assert await page.evaluate("document.documentElement.lang") == "en"
    assert await page.evaluate("document.querySelectorAll('h1').length") == 1
    assert await page.complaints() == []


@pytest.mark.parametrize("name", PAGES)
async def test_a_page_is_completed_and_can_be_loaded_again_and_left(
    service: Local, browser: Browser, tmp_path: Path, name: str
) -> None:
    start, title, said, takes_secret = PAGES[name]
    address = await start(service)
    await browser.open(address)
    assert await browser.title() == title
    await look(browser, name, tmp_path)
    if takes_secret:
        assert await browser.focused() == "input secret"
        await browser.type(f" {SECRET} ")
        await browser.enter()
    else:
        await browser.follow("button")
    assert await browser.title() == "Done"
    assert said in await browser.text()
    assert SECRET not in await browser.source()
    await look(browser, f"{name}-done", tmp_path)
    await browser.reload()
    assert await browser.title() == "Done"
    await browser.open(address)
    assert await browser.title() == OVER
    assert "already used" in await browser.text()


async def test_a_form_that_is_gone_back_to_takes_nothing_again(service: Local, browser: Browser) -> None:
    await browser.open(await source(service))
    await browser.type(SECRET)
    await browser.enter()
    await browser.back()
    # A browser may have kept the page as it was, or load it again.
    if await browser.title() != OVER:
        await browser.call(lambda driver: driver.find_element(By.ID, "secret").send_keys("another"))
        await browser.follow("button")
    assert await browser.title() == OVER


async def test_a_sign_in_opens_a_session_that_the_same_page_ends(
    service: Local, browser: Browser, tmp_path: Path
) -> None:
    await browser.open(f"{service.running.file.base_url}/connect/sign-in")
    await look(browser, "sign-in", tmp_path)
    await browser.type("solverapi_test_unknown")
    await browser.enter()
    assert "This key is not known and active here." in await browser.text()
    await look(browser, "sign-in-refused", tmp_path)
    await browser.type(service.key)
    await browser.enter()
    assert await browser.title() == "Signed in"
    await look(browser, "signed-in", tmp_path)
    cookies = (await browser.call(lambda driver: driver.execute_cdp_cmd("Network.getAllCookies", {})))["cookies"]
    kept = {cookie["name"]: (cookie["path"], cookie["httpOnly"], cookie["sameSite"]) for cookie in cookies}
    assert kept == {COOKIE: (PATH, True, "Strict"), PAGE_COOKIE: ("/connect/sign-in", True, "Strict")}
    await browser.follow("button")
    assert await browser.title() == "Signed out"
    await look(browser, "signed-out", tmp_path)
    assert (await browser.call(lambda driver: driver.execute_cdp_cmd("Network.getAllCookies", {})))["cookies"] == []


async def test_a_wrong_entry_is_reported_at_its_field_and_can_be_mended_with_the_keyboard_alone(
    service: Local, browser: Browser, tmp_path: Path
) -> None:
    await browser.open(await check(service))
    await browser.type(service.key)
    await browser.enter()
    assert await browser.title() == "Key of an output check"
    assert "This is an API key of the service." in await browser.text()
    assert "Id of this occurrence" in await browser.text()
    assert service.key not in await browser.source()
    assert (await browser.evaluate("document.title")).startswith("Error: ")
    described = "document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
    assert "This is an API key of the service." in await browser.evaluate(described)
    await look(browser, "check-wrong", tmp_path)
    assert await browser.focused() == "input secret"
    assert (await browser.tab()).startswith("button")
    await browser.call(lambda driver: driver.find_element(By.CSS_SELECTOR, "[role=alert] a").click())
    assert await browser.focused() == "input secret"
    await browser.type("two words")
    await browser.enter()
    assert "without spaces" in await browser.text()
    await browser.type(SECRET)
    await browser.enter()
    assert await browser.title() == "Done"


async def expired(service: Local) -> str:
    """A page whose time is over."""
    address = await source(service)
    await service.context.database.write(
        lambda transaction: transaction.change(
            entry_intents_table, {"used_at": None}, expires_at="2026-01-01T00:00:00.000Z"
        )
    )
    return address


async def revoked(service: Local) -> str:
    """A page that a revoked key has asked for."""
    key, key_id = await service.add_key()
    owner = service.http.headers["Authorization"]
    service.http.headers["Authorization"] = f"Bearer {key}"
    address = await source(service)
    service.http.headers["Authorization"] = owner
    await post(service, f"/v1/api-keys/{key_id}/revoke")
    return address


def path(text: str) -> Begin:
    async def made(service: Local) -> str:
        return f"{service.running.file.base_url}{text}"

    return made


FAILURES: Final[dict[str, tuple[Begin, str, str]]] = {
    "unknown": (path("/connect/source?intent=nothing"), "This address is not valid", "the whole address"),
    "no-token": (path("/connect/source"), "This address is not valid", "the whole address"),
    "no-kind": (path("/connect/nothing?intent=x"), "This address is not valid", "There is no such page"),
    "no-path": (path("/connect/source/more"), "This address is not valid", "There is no such path"),
    "method": (path(f"{PATH}/sign-out"), "The request was refused", "This path takes POST"),
    "expired": (expired, OVER, "This address has expired"),
    "revoked": (revoked, OVER, "The API key that asked for this address is not active"),
}
"""What cannot be opened: its address, and what the page says."""


@pytest.mark.parametrize("name", FAILURES)
async def test_an_address_that_does_not_work_says_why_and_what_to_do(
    service: Local, browser: Browser, tmp_path: Path, name: str
) -> None:
    start, title, said = FAILURES[name]
    await browser.open(await start(service))
    await told_as_page(browser, title, said)
    await look(browser, f"error-{name}", tmp_path)


async def told_as_page(page: Browser, title: str, said: str) -> None:
    """Check that a failure is a page, which says what to do and can be quoted."""
    assert await page.evaluate("document.contentType") == "text/html"
    assert await page.title() == title
    text = await page.text()
    assert said in text
    assert "Id of this occurrence" in text


@pytest.mark.parametrize(
    ("name", "failure", "title", "said"),
    [
        ("rate", RefusalError("rate_limited", retry_after_s=30), "Too many requests", "taken in 30 s"),
        ("internal", RuntimeError("inside"), "The service failed", "in a minute"),
    ],
    ids=["rate", "internal"],
)
async def test_a_failure_of_the_service_is_a_page_that_can_be_opened_again(
    service: Local,
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    failure: Exception,
    title: str,
    said: str,
) -> None:
    address = await source(service)

    def fail(*_: Any) -> None:
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(private_entry, "find", fail)
        await browser.open(address)
        await told_as_page(browser, title, said)
        assert "inside" not in await browser.text()
        await look(browser, f"error-{name}", tmp_path)
    if name == "rate":
        await browser.follow("main a")
    else:
        await browser.reload()
    assert await browser.title() == "Connect a model source"


FORMS: Final = {
    "too-large": ("form.secret.value = 'x'.repeat(2 ** 20)", "Too much was sent"),
    "no-form": ("form.enctype = 'text/plain'", "The request cannot be used"),
    "fields": (
        "for (let i = 0; i < 30; i++) form.append(Object.assign(document.createElement('input'), {name: i}))",
        "The request cannot be used",
    ),
}
"""What is done to a form before it is sent, and the title of the page that refuses it."""


@pytest.mark.parametrize("name", FORMS)
async def test_a_form_that_cannot_be_taken_is_refused_on_a_page_that_leads_back(
    service: Local, browser: Browser, tmp_path: Path, name: str
) -> None:
    change, title = FORMS[name]
    await browser.open(await source(service))
    await browser.type(SECRET)
    await browser.evaluate(f"(() => {{ const form = document.forms[0]; {change} }})()")
    await browser.follow("button")
    await told_as_page(browser, title, "Nothing was changed.")
    assert SECRET not in await browser.source()
    await look(browser, f"error-{name}", tmp_path)
    await browser.follow("main a")
    assert await browser.title() == "Connect a model source"


class Elsewhere(Listening):
    """A web site of another origin.

    Attributes:
        page: What it shows, as HTML.
        referrers: The ``Referer`` of each request; empty where there was none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.page = "elsewhere"
        self.referrers: list[str] = []

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        if head is None:
            return
        await read_body(reader, head)
        self.referrers.append(head.header("referer") or "")
        html = f"<!doctype html><title>Elsewhere</title><body><h1>{self.page}</h1>".encode()
        writer.write(answer_bytes(200, html, content_type="text/html", headers=[("Connection", "close")]))
        await writer.drain()


@pytest.mark.parametrize("policy", ["origin", "no-referrer"])
async def test_a_form_on_a_page_of_another_origin_is_refused(
    service: Local, browser: Browser, tmp_path: Path, policy: str
) -> None:
    address = await github(service)
    async with Elsewhere() as elsewhere:
        elsewhere.page = (
            f'<meta name="referrer" content="{policy}"><form method="post" action="{address}"><button>x</button></form>'
        )
        await browser.open(elsewhere.origin)
        await browser.follow("button")
        await told_as_page(browser, "The request was refused", "takes no requests from pages of other origins")
        await look(browser, f"error-origin-{policy}", tmp_path)
    await browser.open(address)
    assert await browser.title() == "Connect a GitHub repository"


async def test_a_page_of_another_origin_cannot_frame_a_page_or_learn_its_address(
    service: Local, browser: Browser
) -> None:
    address = await source(service)
    async with Elsewhere() as elsewhere:
        elsewhere.page = f'<iframe src="{address}"></iframe>'
        await browser.open(elsewhere.origin)

        def framed(driver: Any) -> str:
            driver.switch_to.frame(0)
            text = str(driver.find_element(By.TAG_NAME, "body").text)
            driver.switch_to.default_content()
            return text

        assert "API key" not in await browser.call(framed)
        elsewhere.referrers.clear()
        await browser.open(address)
        link = f"Object.assign(document.createElement('a'), {{href: '{elsewhere.origin}', textContent: 'away'}})"
        await browser.evaluate(f"document.querySelector('main').append({link})")
        await browser.follow("main > a")
        assert elsewhere.referrers[0] == ""


async def test_a_redirect_page_leads_to_the_private_page_and_tells_nobody_where_it_was(
    service: Local, browser: Browser, tmp_path: Path
) -> None:
    address = await source(service)
    await browser.open(write_redirect_page(address, tmp_path).as_uri())
    await browser.until(lambda driver: driver.current_url == address)
    assert await browser.title() == "Connect a model source"
    async with Elsewhere() as elsewhere:
        await browser.open(write_redirect_page(f"{elsewhere.origin}/?q=%22'&lt=<>", tmp_path).as_uri())
        await browser.until(lambda driver: bool(driver.current_url.startswith(elsewhere.origin)))
        assert await browser.title() == "elsewhere"
        assert elsewhere.referrers[0] == ""


async def test_a_token_is_in_no_log_and_in_no_file(
    service: Local, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = await source(service)
    (token,) = parse_qs(urlsplit(address).query)["intent"]
    await browser.open(address)
    await browser.type("two words")
    await browser.enter()
    await browser.type(SECRET)
    await browser.enter()
    await browser.open(address)
    assert await browser.title() == OVER
    # The log of uvicorn's requests is off, but pytest still gets it.
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("runwatch")]
    assert any("/connect/source" in line for line in logged)
    assert [line for line in logged if token in line or SECRET in line] == []
    files = [each for each in service.context.options.data_dir.rglob("*") if each.is_file()]
    assert files
    assert [each for each in files if token.encode() in each.read_bytes()] == []
