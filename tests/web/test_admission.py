"""Who may use the consoles of a server."""

from __future__ import annotations

import pytest

from runwatch.web.admission import MAX_SESSIONS, Admission


@pytest.mark.parametrize(
    ("listens", "host", "is_own"),
    [
        ("127.0.0.1", "127.0.0.1:80", True),
        ("127.0.0.1", "localhost:9", True),
        ("127.0.0.1", "[::1]", True),
        ("127.0.0.1", "evil.example", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "192.168.1.2", False),
        ("127.0.0.1", "localhost/", False),
        ("127.0.0.1", "", False),
        ("console.example", "Console.Example:8443", True),
        ("console.example", "other.example", False),
        ("0.0.0.0", "192.168.1.2:8443", True),
        ("0.0.0.0", "this-machine", True),
        ("0.0.0.0", "evil.example", False),
    ],
)
def test_only_names_of_this_machine_are_taken(listens: str, host: str, *, is_own: bool) -> None:
    assert Admission(listens, names=["this-machine"]).names_this_server([host]) is is_own


def test_exactly_one_host_is_named() -> None:
    assert not Admission("127.0.0.1").names_this_server([])
    assert not Admission("127.0.0.1").names_this_server(["localhost", "localhost"])


@pytest.mark.parametrize(
    ("origins", "is_own"),
    [
        (["https://localhost:9"], True),
        (["http://localhost:9"], False),
        (["https://localhost"], False),
        (["https://evil.example"], False),
        (["null"], False),
        ([], False),
        (["https://localhost:9", "https://localhost:9"], False),
    ],
)
def test_an_origin_is_compared_as_a_whole(origins: list[str], *, is_own: bool) -> None:
    assert Admission("localhost", is_secure=True).is_same_origin(["localhost:9"], origins) is is_own


def test_a_link_opens_one_session_and_only_in_its_own_path() -> None:
    admission = Admission("127.0.0.1", is_secure=True)
    token = admission.make_link().rpartition("/")[2]
    cookie = admission.begin(token)
    assert cookie is not None
    value, _, rest = cookie.removeprefix("runwatch_web=").partition("; ")
    assert rest == f"Path=/{admission.entry}/; HttpOnly; SameSite=Strict; Secure"
    assert admission.session_of(value) is not None
    assert admission.begin(token) is None
    assert admission.session_of(None) is admission.session_of(token) is None


def test_the_oldest_session_ends_when_there_are_too_many() -> None:
    admission = Admission("127.0.0.1")
    values = []
    for _ in range(MAX_SESSIONS + 1):
        cookie = admission.begin(admission.make_link().rpartition("/")[2])
        assert cookie is not None
        values.append(cookie.removeprefix("runwatch_web=").partition(";")[0])
    assert [admission.session_of(value) is not None for value in values] == [False, *[True] * MAX_SESSIONS]
