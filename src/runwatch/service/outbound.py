"""The service's only HTTP client: calls to providers, output checks, review agents and webhooks.

A name is looked up once, every address that it has is judged, and the call goes to an address that was judged, so that
a name cannot point somewhere else in between. Redirects are not followed. The time limit covers everything to the last
byte of the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.request import getproxies, proxy_bypass

import httpx

from runwatch.base.addresses import Address, AddressKind, classify_address
from runwatch.base.errors import RunwatchError
from runwatch.service.address_policy import AddressPolicy

ANSWER_BYTES: Final = 1024 * 1024
"""The largest answer unless a caller says otherwise (wire reference 4.2)."""

CONNECTIONS: Final = 100

LookUp = Callable[[str, int], Awaitable[list[Address]]]


class OutboundError(RunwatchError):
    """A call got no complete answer.

    Attributes:
        kind: ``scheme_rejected`` (no URL that may be called), ``dns_resolution_failed``, ``private_range_rejected``,
            ``timeout``, ``network`` or ``response_too_large``.
        was_sent: Whether the other side may have got the request.
    """

    def __init__(self, kind: str, *, was_sent: bool = False) -> None:
        super().__init__("A call to another server failed", detail=kind)
        self.kind = kind
        self.was_sent = was_sent


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """A complete answer, of any status.

    Attributes:
        status: The HTTP status.
        content: The body.
    """

    status: int
    content: bytes


class OutboundClient:
    """Calls other servers. One for a service; :meth:`close` ends it.

    Args:
        look_up: What finds the addresses of a host and a port.
        verify: What certificates are judged by, where not the usual authorities.
    """

    def __init__(self, look_up: LookUp | None = None, verify: ssl.SSLContext | None = None) -> None:
        self._look_up = look_up or resolve_host
        self._verify = verify or True
        self._clients: dict[str | None, httpx.AsyncClient] = {}

    async def send(
        self,
        method: str,
        url: str,
        *,
        reach: AddressPolicy,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        limit_bytes: int = ANSWER_BYTES,
    ) -> OutboundResponse:
        """Send one request and read its answer whole. Never retried here.

        Args:
            method: The HTTP method.
            url: An absolute http or https URL without user info.
            reach: Where it may go.
            timeout_s: Seconds until the last byte of the answer.
            headers: Request headers.
            body: Request body, as it is sent.
            limit_bytes: The largest answer that is read.

        Raises:
            OutboundError: there is no complete answer.
        """
        sent = False
        try:
            async with asyncio.timeout(timeout_s):
                target, addresses = await self._judged(url, reach)
                for address in addresses:
                    with contextlib.suppress(httpx.ConnectError):
                        sent = True
                        return await self._exchange(method, target, address, dict(headers or {}), body, limit_bytes)
                raise OutboundError("network")
        except TimeoutError:
            raise OutboundError("timeout", was_sent=sent) from None
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError):
            raise OutboundError("network", was_sent=sent) from None

    async def close(self) -> None:
        """Close every connection."""
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            with contextlib.suppress(Exception):
                await client.aclose()

    async def _judged(self, url: str, reach: AddressPolicy) -> tuple[httpx.URL, list[Address]]:
        """The URL and the addresses to call, in the order to try them.

        Raises:
            OutboundError: the URL may not be called.
        """
        try:
            target = httpx.URL(url)
        except httpx.InvalidURL:
            raise OutboundError("scheme_rejected") from None
        if target.scheme not in {"http", "https"} or not target.host or target.userinfo:
            raise OutboundError("scheme_rejected")
        if target.scheme == "http" and not reach.plain_http:
            raise OutboundError("scheme_rejected")
        addresses = await self._look_up(_name_of(target), target.port or (443 if target.scheme == "https" else 80))
        kinds = {classify_address(address) for address in addresses}
        if not kinds <= reach.addresses:
            raise OutboundError("private_range_rejected")
        if target.scheme == "http" and not kinds <= reach.plain_http:
            raise OutboundError("scheme_rejected")
        return target, addresses

    async def _exchange(
        self,
        method: str,
        target: httpx.URL,
        address: Address,
        headers: dict[str, str],
        body: bytes | None,
        limit_bytes: int,
    ) -> OutboundResponse:
        proxy = _proxy_for(target, address)
        extensions = {}
        # Unpacking would let a small answer grow beyond any limit.
        headers["Accept-Encoding"] = "identity"
        if proxy is None:
            # Pinned to the judged address; the name still goes into Host and the certificate check.
            headers["Host"] = target.netloc.decode("ascii")
            extensions["sni_hostname"] = _name_of(target)
            target = target.copy_with(host=str(address))
        request = self._client(proxy).build_request(
            method, target, headers=headers, content=body, extensions=extensions
        )
        response = await self._client(proxy).send(request, stream=True)
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise OutboundError("network", was_sent=True)
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > limit_bytes:
                    raise OutboundError("response_too_large", was_sent=True)
            return OutboundResponse(response.status_code, bytes(content))
        finally:
            await response.aclose()

    def _client(self, proxy: str | None) -> httpx.AsyncClient:
        client = self._clients.get(proxy)
        if client is None:
            # The time limit is the caller's, over everything; httpx's own would start anew with every part.
            client = httpx.AsyncClient(
                timeout=None,  # noqa: S113
                follow_redirects=False,
                trust_env=False,
                verify=self._verify,
                proxy=proxy,
                limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=0),
            )
            self._clients[proxy] = client
        return client


async def resolve_host(host: str, port: int) -> list[Address]:
    """The addresses of a host, as the system finds them.

    Raises:
        OutboundError: there is none.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # A scope (fe80::1%eth0) is no part of what is judged.
        addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    except (OSError, UnicodeError, ValueError):
        raise OutboundError("dns_resolution_failed") from None
    if not addresses:
        raise OutboundError("dns_resolution_failed")
    return addresses


def _name_of(target: httpx.URL) -> str:
    """The host as it is sent, in ASCII.

    ``URL.host`` gives an international name in letters, which the system encodes by an older rule: the name that is
    looked up would be another one than the name in ``Host`` and in the certificate check.
    """
    return target.raw_host.decode("ascii")


def _proxy_for(target: httpx.URL, address: Address) -> str | None:
    """The proxy that the environment names for a public address; a local one is always called directly.

    The proxy looks the name up itself. Plain http never goes there, so that a name that has another address by then
    fails at the certificate check.
    """
    if classify_address(address) is not AddressKind.PUBLIC or proxy_bypass(_name_of(target)):
        return None
    return getproxies().get(target.scheme)
