"""Private pages as bytes: a browser gets each failure as a page, a program as a Problem, and no text becomes markup."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any, Final

import httpx
import pytest

from runwatch.service.http.html_pages import PAGE_PATHS
from runwatch.service.routes import ENDPOINTS
from tests.service.conftest import Local
from tests.service.models.test_github import BROWSER, started
from tests.service.sourcing import begin
from tests.support.problems import check

URL: Final = "https://models.example.com/v1"
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}

FAILURES: Final[dict[str, tuple[str, str, dict[str, Any], str]]] = {
    "no page": ("GET", "/connect/nothing", {}, "not_found"),
    "no path": ("GET", "/connect/source/more", {}, "not_found"),
    "method": ("DELETE", "/connect/source", {}, "method_not_allowed"),
    "sign-out by a link": ("GET", "/v1/github-connections/sign-out", {}, "method_not_allowed"),
    "host": ("GET", "/connect/sign-in", {"headers": {"Host": "evil.example"}}, "validation_failed"),
    "origin": ("POST", "{page}", {"headers": {"Origin": "https://evil.example"}}, "permission_denied"),
    "no origin": ("POST", "{page}", {"headers": {"Origin": "null"}}, "permission_denied"),
    "type": (
        "POST", "{page}", {"content": b"secret=x", "headers": {"Content-Type": "text/plain"}}, "unsupported_media_type",
    ),
    "form": ("POST", "{page}", {"content": b"no form", "headers": FORM}, "validation_failed"),
    "size": ("POST", "{page}", {"content": b"secret=" + b"x" * 2**20, "headers": FORM}, "request_too_large"),
    "entry": ("POST", "{page}", {"data": {"secret": "two words"}}, "validation_failed"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_is_a_page_for_a_browser_and_a_problem_for_a_program(local: Local, name: str) -> None:
    method, path, sent, code = FAILURES[name]
    page = str((await begin(local, URL))["continue_url"])
    async with httpx.AsyncClient(base_url=local.http.base_url) as person:
        headers = sent.get("headers", {})
        address = path.replace("{page}", page)
        shown = await person.request(method, address, **{**sent, "headers": {**headers, **BROWSER}})
        key = local.http.headers["Authorization"] if "{page}" not in path else ""
        with_key = {**headers, **({"Authorization": key} if key else {})}
        problem = check(await person.request(method, address, **{**sent, "headers": with_key}), code)
    assert shown.status_code == problem.status
    assert shown.headers["content-type"] == "text/html; charset=utf-8"
    assert "Id of this occurrence: " in shown.text
    assert '<html lang="en">' in shown.text
    assert "two words" not in shown.text


def test_every_page_is_where_failures_are_pages() -> None:
    pages = [endpoint.path for endpoint in ENDPOINTS if endpoint.is_page]
    assert len(pages) >= 4
    assert [path for path in pages if not path.startswith(PAGE_PATHS)] == []


async def test_a_page_lets_nothing_in_and_nothing_out(local: Local) -> None:
    shown = await local.http.get("/connect/sign-in", headers=BROWSER)
    (style,) = re.findall(r"<style>(.*)</style>", shown.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert shown.headers["content-security-policy"] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    named = {
        "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }  # fmt: skip
    assert {name: shown.headers.get(name) for name in named} == named


async def test_what_leads_on_to_done_names_a_path_of_the_service_alone(local: Local) -> None:
    page = str((await begin(local, URL))["continue_url"])
    async with httpx.AsyncClient(headers=BROWSER) as person:
        answer = await person.post(page, data={"secret": "sk-1"})
        assert answer.status_code == 303
        assert answer.headers["location"] == page.removeprefix(str(local.running.file.base_url)) + "&done=yes"
        assert (await person.get(f"{page}&done=yes")).status_code == 200
        assert (await person.get(page)).status_code == 409


async def test_done_is_reported_for_nothing_that_was_not_done(local: Local) -> None:
    page = str((await begin(local, URL))["continue_url"])
    async with httpx.AsyncClient(headers=BROWSER) as person:
        assert "<form" in (await person.get(f"{page}&done=yes")).text
        unknown = f"{local.running.file.base_url}/connect/source?intent=x&done=yes"
        assert (await person.get(unknown)).status_code == 404


async def test_a_name_cannot_turn_the_line_of_a_page_around(local: Local) -> None:
    intent = await started(local, "acme/\u202egnidael\u200b")
    shown = await local.http.get(intent["continue_url"], headers=BROWSER)
    assert "acme/\\u202egnidael\\u200b" in shown.text
