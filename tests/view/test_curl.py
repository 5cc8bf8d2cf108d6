"""A request as a command that a shell reads as one request and nothing else."""

from __future__ import annotations

import shlex
from typing import Any

from runwatch.base.text import is_clean
from runwatch.view.curl import curl
from runwatch.view.entries import RequestEntry
from tests.support.hostile import ALL_AT_ONCE


def request(**over: Any) -> RequestEntry:
    return RequestEntry({"method": "GET", "origin": "https://api.example.test", "path": "/v1/account", **over})


def test_a_read_needs_nothing_but_the_key() -> None:
    expected = 'curl -sS -X GET https://api.example.test/v1/account -H "Authorization: Bearer $RUNWATCH_API_KEY"'
    assert curl(request()) == expected


def test_a_write_names_its_idempotency_key_and_takes_its_body_from_stdin() -> None:
    words = shlex.split(curl(request(method="POST", path="/v1/executions", key="k 1", sent_bytes=20)))
    assert words[:4] == ["curl", "-sS", "-X", "POST"]
    assert "Idempotency-Key: k 1" in words
    assert words[-2:] == ["--data-binary", "@-"]


def test_a_query_is_quoted() -> None:
    words = shlex.split(curl(request(query="status=it's&limit=1")))
    assert "https://api.example.test/v1/account?status=it's&limit=1" in words


def test_hostile_text_stays_one_word_and_clean() -> None:
    command = curl(request(path=f"/v1/executions/{ALL_AT_ONCE.text}; rm -rf ~"))
    assert is_clean(command)
    assert len(shlex.split(command)) == 7
