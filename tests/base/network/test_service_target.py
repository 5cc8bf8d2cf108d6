"""An address has one form, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from runwatch.base.errors import SettingsError
from runwatch.base.network.service_target import (
    Target,
    is_loopback_address,
    is_loopback_host,
    may_be_loopback,
    normalise_base_url,
)
from runwatch.base.secrets.secret import Secret


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://api.example.com", "https://api.example.com"),
        ("https://api.example.com/", "https://api.example.com"),
        ("https://api.example.com/v1", "https://api.example.com"),
        ("  https://API.Example.com:443/v1/ ", "https://api.example.com"),
        ("HTTPS://api.example.com:8443", "https://api.example.com:8443"),
        ("https://münchen.example", "https://münchen.example"),
        ("https://192.0.2.7", "https://192.0.2.7"),
        ("https://[2001:DB8::1]:443", "https://[2001:db8::1]"),
        ("https://api_1.example.com", "https://api_1.example.com"),
        ("http://localhost:80/v1", "http://localhost"),
        ("http://run.localhost:9", "http://run.localhost:9"),
        ("http://127.0.0.1:40213", "http://127.0.0.1:40213"),
        ("http://127.9.9.9:1", "http://127.9.9.9:1"),
        ("http://[::1]:40213/v1", "http://[::1]:40213"),
    ],
)
def test_an_address_is_brought_to_its_origin(given: str, origin: str) -> None:
    assert normalise_base_url(given) == origin
    assert normalise_base_url(origin) == origin


@pytest.mark.parametrize(
    "given",
    [
        "", "api.example.com", "//api.example.com", "ftp://api.example.com", "file:///etc/passwd", "https://",
        "https://:443", "https://api.example.com/v2", "https://api.example.com/v1/v1", "https://api.example.com/v1?x=1",
        "https://api.example.com/#top", "https://api.example.com:99999", "https://api.example.com:port", "https://[::1",
        "https://api example.com", "https://api.example.com\\.evil.example", "https://api.example.com\\@evil.example",
        "https://a\x1b[2Jb", "https://user@api.example.com", "https://user:password@api.example.com",
        "http://api.example.com", "http://127.0.0.1.evil.example", "http://localhost.evil.example", "http://0.0.0.0:80",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_service_is_refused(given: str) -> None:
    with pytest.raises(SettingsError):
        normalise_base_url(given)


@pytest.mark.parametrize(
    "given",
    [
        "https://user:SECRET@api.example.com", "ftp://user:SECRET@api.example.com", "user:SECRET@api.example.com",
        "https://user:SECRET@api.example.com:99999", "https://api.example.com/v1?api_key=SECRET",
        "https://api.example.com/#SECRET", "https://SECRET@[::1",
    ],
)  # fmt: skip
def test_what_people_put_keys_into_is_not_repeated(given: str) -> None:
    with pytest.raises(SettingsError) as caught:
        normalise_base_url(given)
    assert "SECRET" not in f"{caught.value} {caught.value.hint}"


def test_loopback_is_told_without_a_look_up() -> None:
    certain = ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "::ffff:127.0.0.1"]
    foreign = ["", "example.com", "localhost.example.com", "10.0.0.1", "::2", "0.0.0.0", "::ffff:10.0.0.1"]
    assert all(map(is_loopback_host, certain))
    assert all(map(may_be_loopback, certain))
    assert not any(map(is_loopback_host, foreign))
    assert not any(map(may_be_loopback, foreign))


def test_a_name_under_localhost_may_be_this_machine_and_is_not_for_certain() -> None:
    assert not is_loopback_host("a.localhost")
    assert may_be_loopback("A.LOCALHOST")
    assert all(map(may_be_loopback, ["a.localhost.", "localhost."]))


def test_an_address_of_this_machine_is_one_in_digits() -> None:
    assert all(map(is_loopback_address, ["127.0.0.1", "127.1.2.3", "::1", "::1%1", "::ffff:127.0.0.1"]))
    assert not any(map(is_loopback_address, ["localhost", "a.localhost", "", "10.0.0.1", "::ffff:10.0.0.1", "0.0.0.0"]))


def test_a_target_knows_its_host_and_shows_no_key() -> None:
    target = Target("local", "http://[::1]:40213", Secret("rw_secret_value"), "key file")
    assert target.host == "[::1]:40213"
    assert target.is_loopback
    assert "rw_secret" not in repr(target)
    assert not Target("work", "https://api.example.com", None).is_loopback
