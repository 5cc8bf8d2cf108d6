"""Target of calls: a service's normalized address, and the key that belongs to it."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from runwatch.base.errors import SettingsError
from runwatch.base.network.addresses import AddressKind, classify_address, parse_address
from runwatch.base.secrets.secret import Secret

# A name or an IPv4 address, or an IPv6 address; letters of every script, because names may be international.
_HOST: Final = re.compile(r"(?:[\w.-]+|[0-9a-f:.]*:[0-9a-f:.]*)\Z")

_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "::1")
"""The usual names of one server on this machine."""


def normalise_base_url(text: str, name: str = "The base URL") -> str:
    """Return the origin of a base URL given with or without ``/v1``: only scheme, host and port.

    Errors call the address by the ``name``.

    Raises:
        SettingsError: It is not an http(s) URL, has user info, a query, a fragment or another path, or uses plain http
            to a host that is not this machine.
    """
    hint = "Give an address such as https://api.example.com or https://api.example.com/v1."
    detail = _without_secrets(text)
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise SettingsError(f"{name} is not an address", detail=detail, hint=hint) from None
    if parts.scheme not in {"http", "https"} or not host:
        raise SettingsError(f"{name} is not an http or https address", detail=detail, hint=hint)
    if parts.username is not None or parts.password is not None:
        raise SettingsError(f"{name} contains a user name or password", hint="Keys do not belong in an address.")
    if parts.query or parts.fragment or parts.path.rstrip("/") not in {"", "/v1"}:
        raise SettingsError(f"{name} has more than an origin and /v1", detail=detail, hint=hint)
    if not _HOST.match(host):
        raise SettingsError(f"{name} has no host", detail=detail, hint=hint)
    if parts.scheme == "http" and not may_be_loopback(host):
        raise SettingsError(
            "Plain http is only for this machine",
            detail=detail,
            hint="Use https; with http the key would be readable on the network.",
        )
    shown = f"[{host}]" if ":" in host else host
    default = 443 if parts.scheme == "https" else 80
    return f"{parts.scheme}://{shown}" + (f":{port}" if port is not None and port != default else "")


def server_identity(base_url: str) -> str:
    """Return one spelling for all base URLs of a model server: without default port, trailing slash or ``/v1``.

    ``localhost``, ``127.0.0.1`` and ``[::1]`` are one host. Every other host is compared as written.
    """
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return base_url
    own = {"http": 80, "https": 443}.get(parts.scheme)
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    host = "localhost" if host in _THIS_MACHINE else host
    return f"{parts.scheme}://{host}:{own if port is None else port}{path}"


def _without_secrets(text: str) -> str:
    """Return an invalid address without the parts where users put keys: user info, query, fragment."""
    shown = re.split(r"[?#]", text.strip(), maxsplit=1)[0]
    scheme, mark, rest = shown.rpartition("//")
    return scheme + mark + rest.rpartition("@")[2]


def is_loopback_host(host: str) -> bool:
    """Return whether a host is certainly this machine: ``localhost`` or a loopback address, but no other name."""
    host = host.strip("[]").lower()
    return host == "localhost" or is_loopback_address(host)


def may_be_loopback(host: str) -> bool:
    """Return whether a host may be this machine, as every name under ``localhost`` should.

    The name is not looked up here. The caller checks its address before anything is sent.
    """
    name = host.strip("[]").lower().removesuffix(".")
    return is_loopback_host(name) or name.endswith(".localhost")


@lru_cache(256)  # asked of the caller and of the Host header of every request
def is_loopback_address(address: str) -> bool:
    """Return whether an IP address, with or without a scope, is a loopback address; False for a name."""
    found = parse_address(address)
    return found is not None and classify_address(found) is AddressKind.LOOPBACK


class Target(NamedTuple):
    """One service as one profile calls it.

    Attributes:
        profile: The name on screen and in the scope of stored data; ``local`` for the local service.
        origin: Scheme, host and port, from :func:`normalise_base_url`.
        key: The bearer key, or ``None`` without one. Sent to this origin only.
        key_source: The source of the key in words, never the key.
        ca_file: A certificate bundle that replaces the default ones.
        production: Whether destroying actions ask for more.
        socket: The Unix socket of a local service; then nothing goes to the origin's port. ``None`` for a service
            called over the network.
        start_hint: How the user starts a local service again; empty for the usual way.
    """

    profile: str
    origin: str
    key: Secret | None
    key_source: str = ""
    ca_file: Path | None = None
    production: bool = False
    socket: Path | None = None
    start_hint: str = ""

    @property
    def host(self) -> str:
        """Host and port, for the screen."""
        return urlsplit(self.origin).netloc

    @property
    def is_loopback(self) -> bool:
        """Whether the service is called on this machine; proxies are ignored then."""
        return may_be_loopback(urlsplit(self.origin).hostname or "")

    @property
    def place(self) -> str:
        """Where connections go: the path of the socket, else the origin."""
        return self.origin if self.socket is None else str(self.socket)
