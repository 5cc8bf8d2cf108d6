"""Private pages: which address is opened, and how one learns that a secret was entered there."""

from __future__ import annotations

import pytest

from runwatch.base.network.service_target import Target
from runwatch.view.actions.private_page import (
    build_tunnel_command,
    describe_foreign_host,
    explain_browser_refusal,
    find_page_address,
    handoff_progress,
    key_progress,
)
from runwatch.view.actions.sources import SYNC, TEST
from tests.support import resources


@pytest.mark.parametrize(
    "address",
    [
        "https://runs.example.test/connect/verifier?intent=a", "http://127.0.0.1:40213/connect/source?intent=a",
        "http://[::1]:8080/connect/agent?intent=a", "http://localhost:8080/connect/agent?intent=a",
    ],
)  # fmt: skip
def test_a_secure_address_and_one_of_this_machine_are_opened(address: str) -> None:
    assert explain_browser_refusal(address) is None


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://runs.example.test/connect/verifier?intent=a", "it is neither https nor on this machine"),
        ("http://runs.localhost/connect/verifier?intent=a", "it is neither https nor on this machine"),
        ("file:///etc/passwd", "it is not an address"),
        ("javascript:alert(1)", "it is not an address"),
        ("https://user@runs.example.test/", "it carries a user name"),
        ("https://runs.example.test/ --new-window", "it is not an address"),
        ("https://runs.example.test/\x1b[2J", "it is not an address"),
        ("https://[broken", "it is not an address"),
        ("https://xn--\u202eevil.test/", "it is not an address"),
        ("", "it is not an address"),
    ],
)
def test_any_other_address_is_not_opened_from_here(address: str, why: str) -> None:
    assert explain_browser_refusal(address) == why


def test_a_page_of_another_host_is_reported() -> None:
    target = Target("work", "https://api.example.test", None)
    assert describe_foreign_host(target, "https://api.example.test/connect/source?intent=a") is None
    told = describe_foreign_host(target, "https://evil.test/connect/source?intent=a") or ""
    assert told.startswith("The page is on evil.test, the service on https://api.example.test")
    assert describe_foreign_host(target, "https://[broken") is not None


def test_an_address_of_this_machine_can_be_reached_from_another_one_through_a_tunnel() -> None:
    assert build_tunnel_command("http://127.0.0.1:4021/connect/x", "atlas") == "ssh -L 4021:127.0.0.1:4021 atlas"
    assert build_tunnel_command("https://runs.example.test/connect/x", "atlas") is None
    assert build_tunnel_command("http://127.0.0.1:99999/", "atlas") is None


@pytest.mark.parametrize("answer", [None, {}, {"continue_url": None}, {"continue_url": 7}, {"continue_url": ""}, []])
def test_an_answer_without_an_address_names_none(answer: object) -> None:
    assert find_page_address(answer) is None


def test_a_key_is_entered_once_another_one_waits_than_before() -> None:
    pending = {"handle": resources.HANDLE, "captured_generation": 3}
    before = dict(resources.key_connection(pending_key=None).raw)
    assert key_progress(before, before).stage == "waiting"
    now = {**before, "pending_key": pending}
    assert key_progress(before, now).stage == "entered"
    assert key_progress(now, now).stage == "waiting"
    assert key_progress(now, {**now, "pending_key": {"handle": resources.OLD_HANDLE}}).stage == "entered"


@pytest.mark.parametrize(
    ("state", "stage"),
    [("pending", "waiting"), ("completed", "entered"), ("failed", "ended"), ("expired", "ended"), ("odd", "waiting")],
)
def test_a_handoff_says_itself_how_far_it_is(state: str, stage: str) -> None:
    assert handoff_progress({}, dict(resources.handoff(state).raw)).stage == stage


def test_a_handoff_that_failed_says_why() -> None:
    assert handoff_progress({}, {"state": "failed", "failure_code": "refused"}).words == (
        "the entry of the key failed (refused)"
    )


def test_what_a_test_and_a_reading_of_models_do_is_reported_for_named_models_and_for_a_source_without_a_key() -> None:
    named = resources.connection(
        "conn_1", display_name="Tiny", auth_scheme="none", endpoint={"models": ["tiny-1", "tiny-2"]}
    )
    assert SYNC.mutation is not None
    assert TEST.mutation is not None
    said = SYNC.mutation.sentence(named)
    assert "for its models, adds the 2 that were named for it, and keeps the list. No model is run." in said
    assert 'Asks the source of "Tiny" for its models' in SYNC.mutation.sentence(
        resources.connection("conn_1", display_name="Tiny")
    )
    assert TEST.mutation.sentence(named).startswith('Calls the source of "Tiny", which takes no key. Each model')
    assert "with its key" in TEST.mutation.sentence(resources.connection("conn_1", auth_scheme="api_key"))
