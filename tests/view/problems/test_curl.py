"""A request as a command that a shell reads as one request and nothing else, and whose key stays with its service."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from runwatch.base.errors import RunwatchError
from runwatch.base.json import dumps, encode_body, loads
from runwatch.base.text import clean_line, is_clean
from runwatch.view.problems.copy_options import MAX_BODY_CHARACTERS, METHODS, build_curl_command
from runwatch.view.problems.journal_entries import RequestEntry
from tests.support.hostile import ALL_AT_ONCE, CORPUS
from tests.support.shells import SHELL_PARAMETERS, ShellBox

ORIGIN = "https://api.example.test"
SOCKET = Path("/run/user/1000/it's/s.sock")


def request(**over: Any) -> RequestEntry:
    return RequestEntry({"method": "GET", "origin": ORIGIN, "path": "/v1/account", "profile": "prod", **over})


def test_the_key_comes_through_a_pipe_from_the_profile_and_its_address() -> None:
    assert build_curl_command(request()) == (
        f"runwatch config header --profile prod --base-url {ORIGIN} | curl -sS -H @- -X GET --url {ORIGIN}/v1/account"
    )
    assert build_curl_command(request(profile="environment")).startswith(
        f"runwatch config header --base-url {ORIGIN} | "
    )


def test_a_write_whose_body_is_not_known_takes_it_from_a_file() -> None:
    words = shlex.split(build_curl_command(request(method="POST", path="/v1/executions", key="k 1", sent_bytes=20)))
    assert words[words.index("-X") + 1] == "POST"
    assert "Idempotency-Key: k 1" in words
    assert words[-2:] == ["--data-binary", "@body.json"]


def test_a_known_body_is_part_of_the_command() -> None:
    entry = request(method="POST", path="/v1/executions", key="k 1", sent_bytes=20)
    for body in (b'{"task":{"objective":"it\'s \\\\ $HOME"}}', b"@/etc/passwd"):
        words = shlex.split(build_curl_command(entry, body))
        assert words[-2:] == ["--data-raw", body.decode()]
    assert shlex.split(build_curl_command(entry, '{\n"a": "\u202e"}'.encode()))[-1] == r'{"a":"\u202e"}'
    for odd in (b"\xff", b"a\n", b"", b"x" * (MAX_BODY_CHARACTERS + 1)):
        assert shlex.split(build_curl_command(entry, odd))[-1] == "@body.json"


def test_an_entry_of_a_file_never_gets_a_key_whatever_it_calls_itself() -> None:
    for profile in ("prod", "local", "environment", None):
        command = build_curl_command(request(profile=profile), is_foreign=True, socket=SOCKET)
        assert command == f"curl -sS -X GET --url {ORIGIN}/v1/account"


def test_the_local_service_gets_its_key_through_its_socket_alone() -> None:
    entry = request(profile="local", origin="http://127.0.0.1:8899")
    assert build_curl_command(entry) == "curl -sS -X GET --url http://127.0.0.1:8899/v1/account"
    assert shlex.split(build_curl_command(entry, socket=SOCKET)) == [
        "runwatch", "config", "header", "--local", "|", "curl", "-sS", "-H", "@-",
        "--unix-socket", str(SOCKET), "-X", "GET", "--url", "http://localhost/v1/account",
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["GET;touch pwned;#", "get", "TRACE", "", None, "-K", "GET\n", ALL_AT_ONCE.text])
def test_a_method_that_is_not_on_the_list_has_no_command(method: str | None) -> None:
    with pytest.raises(RunwatchError, match="not one of DELETE, GET"):
        build_curl_command(request(method=method), is_foreign=True)


def test_every_method_of_the_list_has_one() -> None:
    for method in METHODS - {"HEAD"}:
        assert f" -X {method} " in build_curl_command(request(method=method))
    assert " --head " in build_curl_command(request(method="HEAD"))


@pytest.mark.parametrize(
    "over",
    [
        {"origin": "file:///etc/passwd"},
        {"origin": "-o /etc/passwd"},
        {"origin": "https://user@evil.example"},
        {"origin": "http://evil.example"},
        {"origin": "https://evil.example/v1/x"},
        {"origin": "https://a\u115fb.example"},
        {"origin": None},
        {"path": "@evil.example/"},
        {"path": ".evil.example/"},
        {"key": "k\r\nAuthorization: Bearer x"},
        {"key": ""},
    ],
)
def test_what_is_no_request_of_a_service_has_no_command(over: dict[str, Any]) -> None:
    for is_foreign in (False, True):
        with pytest.raises(RunwatchError, match="No command can repeat this request"):
            build_curl_command(request(**over), is_foreign=is_foreign)


def test_curl_expands_and_shortens_nothing_of_an_address() -> None:
    assert "%5Ba-z%5D%7Bb,c%7D" in build_curl_command(request(path="/v1/[a-z]{b,c}"))
    assert "--path-as-is" in build_curl_command(request(path="/v1/../admin"))
    assert "--globoff" in build_curl_command(request(profile="p", origin="http://[::1]:8080"))
    assert build_curl_command(request(path="/v1/a?b#c", query="d=?#")).endswith(
        "'" + f"{ORIGIN}/v1/a%3Fb%23c?d=?%23" + "'"
    )


def body_with(text: str) -> bytes:
    """A body with a text: as runwatch sends it, or in ASCII where that cannot be sent."""
    body = {"task": {"objective": text}}
    try:
        return encode_body(body)
    except ValueError:
        return dumps(body).encode()


def hostile_requests(texts: list[str]) -> list[tuple[RequestEntry, str]]:
    """Requests with a text in every place that has a command, each with its idempotency key."""
    found = []
    for text in texts:
        key = text if text.isascii() and text.isprintable() and 0 < len(text) < 200 else "k"
        found.append((request(path=f"/v1/{text}", query=text, key=key, profile=text, sent_bytes=1, method="POST"), key))
    return found


def check_that_exactly_one_request_is_sent(shell: str, home: Path, texts: list[str]) -> None:
    box = ShellBox(home)
    entries = hostile_requests(texts)
    for is_foreign in (False, True):
        commands = [
            build_curl_command(entry, body_with(text), is_foreign=is_foreign)
            for (entry, _), text in zip(entries, texts, strict=True)
        ]
        assert all(is_clean(command) and clean_line(command) == command for command in commands)
        for (entry, key), text, calls in zip(entries, texts, box.run(shell, commands), strict=True):
            sent = calls[0]
            assert sent[0] == "curl"
            assert f"Idempotency-Key: {key}" in sent
            if len(dumps(text)) < MAX_BODY_CHARACTERS - 100:
                assert loads(sent[sent.index("--data-raw") + 1]) == {"task": {"objective": text}}
            url = sent[sent.index("--url") + 1]
            assert url.startswith(f"{ORIGIN}/v1/")
            assert url.isascii()
            if is_foreign:
                assert len(calls) == 1
                assert "@-" not in sent
                assert not [word for word in sent if word.startswith("Authorization")]
            else:
                (header,) = calls[1:]
                assert header[:3] == ["runwatch", "config", "header"]
                assert header[-2:] == ["--base-url", ORIGIN]
                name = clean_line(entry.profile or "")
                assert header[3:-2] in (["--profile", name], [f"--profile={name}"])
                assert sent[2:4] == ["-H", "@-"]
    assert box.made() == []


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_a_hostile_request_sends_exactly_one_request(shell: str, tmp_path: Path) -> None:
    texts = ["$(touch pwned)", "`touch pwned`", "; touch pwned", "a'b\\", "--yes", "!!", "~", ALL_AT_ONCE.text]
    check_that_exactly_one_request_is_sent(shell, tmp_path, texts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_the_whole_corpus_sends_exactly_one_request(shell: str, tmp_path: Path) -> None:
    check_that_exactly_one_request_is_sent(shell, tmp_path, [hostile.text for hostile in CORPUS])
