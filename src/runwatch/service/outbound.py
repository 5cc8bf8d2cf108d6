"""The service's only HTTP client: calls to providers, output checks, review agents and webhooks (manual: security,
"Outbound calls").

A name is resolved once, each of its addresses is checked, and the call goes to a checked address, so that the name
cannot be redirected in between. Redirects are not followed. The time limit covers everything up to the last byte of the
response.
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

from runwatch.base.errors import RunwatchError
from runwatch.base.network.addresses import Address, AddressKind, classify_address
from runwatch.base.network.hidden_modules import hidden_modules
from runwatch.service.address_policy import AddressPolicy

with hidden_modules():
    import httpx

ANSWER_BYTES: Final = 1024 * 1024
"""Default limit of a response in bytes (manual: interface, "Answer of a check")."""

CONNECTIONS: Final = 100

LookUp = Callable[[str, int], Awaitable[list[Address]]]


_CLASSES: Final[Mapping[str, str]] = {
    "scheme_rejected": "egress_rejected",
    "private_range_rejected": "egress_rejected",
    "dns_resolution_failed": "network",
    "tls_failed": "network",
}


class OutboundError(RunwatchError):
    """A call had no complete response.

    Attributes:
        kind: ``scheme_rejected`` (not a URL that may be called), ``dns_resolution_failed``, ``private_range_rejected``,
            ``tls_failed`` (no secure connection, so nothing was sent), ``timeout``, ``network`` or
            ``response_too_large``.
        was_sent: Whether the other side may have received the request.
        received: How much of a response came in a call of the kind ``network``: ``nothing``; ``a part``, then the
            connection ended; or ``encoded``, an encoding that was not asked for and is not read.
    """

    def __init__(self, kind: str, *, was_sent: bool = False, received: str = "nothing") -> None:
        super().__init__("A call to another server failed", detail=kind)
        self.kind = kind
        self.was_sent = was_sent
        self.received = received

    @property
    def failure_class(self) -> str:
        """Return the failure in the words of checks and providers: ``egress_rejected``, ``network``, ``timeout`` or
        ``response_too_large``.
        """
        return _CLASSES.get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """A complete response of any status.

    Attributes:
        content_type: The header as sent; ``None`` without one.
        retry_after: The header as sent; ``None`` without one.
    """

    status: int
    content: bytes
    content_type: str | None = None
    retry_after: str | None = None


class OutboundClient:
    """Client for other servers; one per service, ended by :meth:`close`."""

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
        """Send one request and read its whole response, without retries.

        Args:
            url: An absolute http or https URL without user info.

        Raises:
            OutboundError: No complete response.
        """
        sent, fault = False, "network"
        try:
            async with asyncio.timeout(timeout_s):
                target, addresses = await self._judged(url, reach)
                for address in addresses:
                    try:
                        sent = True
                        return await self._exchange(method, target, address, dict(headers or {}), body, limit_bytes)
                    except httpx.ConnectError as error:
                        fault = "tls_failed" if _is_tls(error) else fault
                raise OutboundError(fault)
        except TimeoutError:
            raise OutboundError("timeout", was_sent=sent) from None
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError, OSError):
            raise OutboundError("network", was_sent=sent) from None

    async def close(self) -> None:
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            with contextlib.suppress(Exception):
                await client.aclose()

    async def _judged(self, url: str, reach: AddressPolicy) -> tuple[httpx.URL, list[Address]]:
        """Return the URL and the allowed addresses, in the order to try them."""
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
        # Decompression would let a small response grow beyond any limit.
        headers["Accept-Encoding"] = "identity"
        if proxy is None:
            # Connect to the checked address; the name still goes into Host and the certificate check.
            headers["Host"] = target.netloc.decode("ascii")
            extensions["sni_hostname"] = _name_of(target)
            target = target.copy_with(host=str(address))
        request = self._client(proxy).build_request(
            method, target, headers=headers, content=body, extensions=extensions
        )
        response = await self._client(proxy).send(request, stream=True)
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise OutboundError("network", was_sent=True, received="encoded")
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > limit_bytes:
                    raise OutboundError("response_too_large", was_sent=True)
            answer_headers = (response.headers.get(name) for name in ("content-type", "retry-after"))
            return OutboundResponse(response.status_code, bytes(content), *answer_headers)
        except (httpx.HTTPError, ssl.SSLError, OSError):
            raise OutboundError("network", was_sent=True, received="a part") from None
        finally:
            await response.aclose()

    def _client(self, proxy: str | None) -> httpx.AsyncClient:
        client = self._clients.get(proxy)
        if client is None:
            # The caller's time limit covers everything; httpx's own would restart with every part.
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
    """Return the addresses that the system resolves for a host. Raises OutboundError if there is none."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # The scope (fe80::1%eth0) is not part of the checked address.
        addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    except (OSError, UnicodeError, ValueError):
        raise OutboundError("dns_resolution_failed") from None
    if not addresses:
        raise OutboundError("dns_resolution_failed")
    return addresses


def _is_tls(error: BaseException | None) -> bool:
    """Whether a connection failed in its TLS handshake."""
    while error is not None and not isinstance(error, ssl.SSLError):
        error = error.__cause__ or error.__context__
    return error is not None


def _name_of(target: httpx.URL) -> str:
    """Return the host in ASCII, as it is sent.

    ``URL.host`` returns an international name in Unicode, which the system encodes by an older rule: the resolved name
    would differ from the name in ``Host`` and in the certificate check.
    """
    return target.raw_host.decode("ascii")


def _proxy_for(target: httpx.URL, address: Address) -> str | None:
    """Return the environment's proxy for a public address; local addresses are always called directly.

    The proxy resolves the name itself. Plain HTTP never uses it, so a name that has moved to another address fails the
    certificate check.
    """
    if classify_address(address) is not AddressKind.PUBLIC or proxy_bypass(_name_of(target)):
        return None
    return getproxies().get(target.scheme)
