"""Classification of IP addresses as public, loopback, private or refused, by one table.

The properties of :mod:`ipaddress` (``is_global``, ``is_private``, ``is_loopback``) differ between Python versions and
are not used. No name is looked up (manual: security, "Outbound calls").
"""

from __future__ import annotations

import ipaddress
import re
import socket
from enum import Enum
from functools import cache
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressKind(Enum):
    """Kind of an address.

    ``REFUSED`` addresses are never called: metadata services of clouds, link-local, site-local, unspecified, multicast,
    documentation and reserved addresses.
    """

    PUBLIC = "public"
    LOOPBACK = "loopback"
    PRIVATE = "private"
    REFUSED = "refused"


_Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_NETWORKS: Final = (
    # Metadata services outside of link-local: Azure, Alibaba Cloud, Oracle Cloud; then AWS, Google, Oracle, Scaleway.
    ("168.63.129.16/32", AddressKind.REFUSED),
    ("100.100.100.200/32", AddressKind.REFUSED),
    ("192.0.0.192/32", AddressKind.REFUSED),
    ("fd00:ec2::/32", AddressKind.REFUSED),
    ("fd20:ce::/32", AddressKind.REFUSED),
    ("fd00:c1::/32", AddressKind.REFUSED),
    ("fd00:42::/32", AddressKind.REFUSED),
    # IPv4, IANA special-purpose registry.
    ("0.0.0.0/8", AddressKind.REFUSED),  # this network, unspecified
    ("10.0.0.0/8", AddressKind.PRIVATE),
    ("100.64.0.0/10", AddressKind.REFUSED),  # carrier-grade NAT
    ("127.0.0.0/8", AddressKind.LOOPBACK),
    ("169.254.0.0/16", AddressKind.REFUSED),  # link-local; most metadata services
    ("172.16.0.0/12", AddressKind.PRIVATE),
    ("192.0.0.0/24", AddressKind.REFUSED),  # protocol assignments
    ("192.0.2.0/24", AddressKind.REFUSED),  # documentation
    ("192.88.99.0/24", AddressKind.REFUSED),  # 6to4 relays
    ("192.168.0.0/16", AddressKind.PRIVATE),
    ("198.18.0.0/15", AddressKind.REFUSED),  # benchmarks
    ("198.51.100.0/24", AddressKind.REFUSED),  # documentation
    ("203.0.113.0/24", AddressKind.REFUSED),  # documentation
    ("224.0.0.0/4", AddressKind.REFUSED),  # multicast
    ("240.0.0.0/4", AddressKind.REFUSED),  # reserved, broadcast
    ("0.0.0.0/0", AddressKind.PUBLIC),
    # IPv6: only 2000::/3 is assigned as public, so the rest is listed or refused.
    ("::1/128", AddressKind.LOOPBACK),
    ("fc00::/7", AddressKind.PRIVATE),  # unique local
    ("fe80::/10", AddressKind.REFUSED),  # link-local
    ("fec0::/10", AddressKind.REFUSED),  # site-local
    ("ff00::/8", AddressKind.REFUSED),  # multicast
    ("2001::/23", AddressKind.REFUSED),  # protocol assignments; Teredo, whose server may be anywhere
    ("2001:db8::/32", AddressKind.REFUSED),  # documentation
    ("3fff::/20", AddressKind.REFUSED),  # documentation
    ("2000::/3", AddressKind.PUBLIC),
    ("::/0", AddressKind.REFUSED),  # unspecified, IPv4-compatible, reserved
)
"""Networks with their kinds; the first that contains an address decides."""

_V4_MAPPED: Final = 0xFFFF
"""The first 96 bits of ``::ffff:0:0/96``."""

_NAT64: Final = 0x0064_FF9B << 64
"""The first 96 bits of ``64:ff9b::/96``."""

_NAT64_LOCAL: Final = 0x0064_FF9B_0001
"""The first 48 bits of ``64:ff9b:1::/48``."""

_6TO4: Final = 0x2002
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)
"""Bits before the IPv4 address in the interface part of an ISATAP address."""

_V4_BITS: Final = 0xFFFF_FFFF

_OLD_SPELLING: Final = re.compile(r"(?i)[0-9a-fx]+(?:\.[0-9a-fx]+){0,3}")


def classify_address(address: Address) -> AddressKind:
    """Return the kind of an address.

    An IPv4-mapped IPv6 address counts as the IPv4 address inside. An address of a tunnel or a translator (6to4, NAT64,
    ISATAP) is public only if the IPv4 address inside is public, and is refused otherwise, because the other end decides
    what ``127.0.0.1`` or ``10.0.0.1`` means.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return _find(address)
    bits = int(address)
    if bits >> 32 == _V4_MAPPED:
        return _find(ipaddress.IPv4Address(bits & _V4_BITS))
    inside = _translated(bits)
    if inside is None:
        return _find(address)
    is_public = _find(ipaddress.IPv4Address(inside)) is AddressKind.PUBLIC
    return AddressKind.PUBLIC if is_public and _is_translator_or_public(address, bits) else AddressKind.REFUSED


def parse_address(host: str) -> Address | None:
    """Parse a host as an address, with or without brackets and a scope; return ``None`` for a name.

    An IPv4 address may have every spelling that the system's resolver accepts: ``127.1``, ``0x7f.1`` and
    ``2130706433``.
    """
    host = host.strip("[]").partition("%")[0]
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host)) if _OLD_SPELLING.fullmatch(host) else None
    except OSError:
        return None


def _translated(bits: int) -> int | None:
    """Return the IPv4 address inside an address of a tunnel or a translator, or ``None``."""
    if bits >> 112 == _6TO4:
        return bits >> 80 & _V4_BITS
    if bits >> 32 == _NAT64:
        return bits & _V4_BITS
    if bits >> 80 == _NAT64_LOCAL:
        # The IPv4 address is at the end of a 96-bit prefix. In shorter prefixes it begins earlier and leaves bits set
        # here; those count as 0.0.0.0, which is refused.
        return 0 if bits >> 32 & _V4_BITS else bits & _V4_BITS
    if bits >> 32 & _V4_BITS in _ISATAP:
        return bits & _V4_BITS
    return None


def _is_translator_or_public(address: ipaddress.IPv6Address, bits: int) -> bool:
    """Return whether the outer address may be called: a NAT64 prefix, or a public network."""
    is_nat64 = bits >> 32 == _NAT64 or bits >> 80 == _NAT64_LOCAL
    return is_nat64 or _find(address) is AddressKind.PUBLIC


def _find(address: Address) -> AddressKind:
    return next(kind for network, kind in _table()[address.version] if address in network)


@cache
def _table() -> dict[int, list[tuple[_Network, AddressKind]]]:
    """Return the networks by IP version; built at first use, because the console's start does not need them."""
    table: dict[int, list[tuple[_Network, AddressKind]]] = {4: [], 6: []}
    for text, kind in _NETWORKS:
        network = ipaddress.ip_network(text)
        table[network.version].append((network, kind))
    return table
