"""One table sorts every address, the same on every Python (manual: security, "Outbound calls")."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.network import addresses
from runwatch.base.network.addresses import AddressKind, classify_address, parse_address

KINDS: dict[str, list[str]] = {
    "public": [
        "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1",
        "198.17.255.255", "198.20.0.1", "223.255.255.255", "192.31.196.1", "2606:4700:4700::1111", "2a00:1450::1",
        "2001:4860:4860::8888", "2001:200::1", "::ffff:8.8.8.8", "2002:808:808::1", "64:ff9b::8.8.8.8",
        "64:ff9b:1:fffe::8.8.8.8", "2a00::5efe:8.8.8.8", "2a00::200:5efe:8.8.8.8",
    ],
    "loopback": ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
    "refused": [
        # metadata services
        "169.254.169.254", "169.254.170.2", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "2002:a9fe:a9fe::",
        "64:ff9b::169.254.169.254", "64:ff9b:1::169.254.169.254", "fd00:ec2::254", "fd00:ec2::23", "100.100.100.200",
        "192.0.0.192", "168.63.129.16", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "::ffff:168.63.129.16",
        # unspecified, link-local, site-local, multicast, broadcast, reserved, documentation, carrier
        "0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0", "fe80::1", "febf::1", "fec0::1", "feff::1", "224.0.0.1",
        "239.255.255.250", "ff02::1", "::ffff:224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.51.100.1",
        "203.0.113.1", "198.18.0.1", "198.19.255.255", "192.88.99.1", "192.0.0.8", "100.64.0.1", "100.127.255.255",
        "2001:db8::1", "3fff::1", "5f00::1", "100::1", "4000::1", "2001:10::1", "2001:2::1",
        # wrapped: what it means there is decided by the other end
        "2002:7f00:1::", "2002:a00:1::1", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::192.168.0.1",
        "2a00::5efe:10.0.0.1", "2a00::200:5efe:127.0.0.1", "fe80::5efe:8.8.8.8", "fd12::5efe:8.8.8.8",
        "2001:0:808:808::1", "2001:0:7f00:1::", "::127.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8",
        # RFC 6052 with a prefix of 64 bits: 10.0.0.8 is before the end
        "64:ff9b:1:0:a:0:800:0",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), [(text, kind) for kind, texts in KINDS.items() for text in texts])
def test_an_address_has_its_kind(text: str, kind: str) -> None:
    assert classify_address(ip_address(text)) is AddressKind(kind)


WRAPPED = {
    "6to4": lambda bits: 0x2002 << 112 | bits << 80, "nat64": lambda bits: 0x64FF9B << 96 | bits,
    "local nat64": lambda bits: 0x64FF9B0001 << 80 | bits, "isatap": lambda bits: 0x2A00 << 112 | 0x5EFE << 32 | bits,
    "public isatap": lambda bits: 0x2A00 << 112 | 0x2005EFE << 32 | bits,
}  # fmt: skip
V4 = st.one_of(
    st.integers(0, 2**32 - 1),
    st.sampled_from([int(ip_address(text)) for texts in KINDS.values() for text in texts if ":" not in text]),
)


@given(bits=V4)
def test_a_mapped_address_is_the_address_inside(bits: int) -> None:
    assert classify_address(IPv6Address(0xFFFF << 32 | bits)) is classify_address(IPv4Address(bits))


@given(bits=V4, form=st.sampled_from(sorted(WRAPPED)))
def test_an_address_of_a_tunnel_or_translator_is_public_only_if_the_one_inside_is(bits: int, form: str) -> None:
    is_public = classify_address(IPv4Address(bits)) is AddressKind.PUBLIC
    assert classify_address(IPv6Address(WRAPPED[form](bits))) is (
        AddressKind.PUBLIC if is_public else AddressKind.REFUSED
    )


@given(server=st.integers(0, 2**32 - 1), rest=st.integers(0, 2**64 - 1))
def test_a_teredo_address_is_refused_wherever_its_server_is(server: int, rest: int) -> None:
    assert classify_address(IPv6Address(0x20010000 << 96 | server << 64 | rest)) is AddressKind.REFUSED


@given(bits=st.integers(0, 2**128 - 1))
def test_no_ipv6_address_outside_of_the_assigned_block_is_public_by_itself(bits: int) -> None:
    address = IPv6Address(bits)
    if bits >> 125 != 1 and bits >> 32 != 0xFFFF and bits >> 80 != 0x64FF9B0001 and bits >> 32 != 0x64FF9B << 64:
        assert classify_address(address) is not AddressKind.PUBLIC


@given(bits=st.integers(0, 2**32 - 1))
def test_an_address_of_an_older_table_is_never_opened(bits: int) -> None:
    # An address that Python calls not global is not public here either.
    address = IPv4Address(bits)
    if not address.is_global:
        assert classify_address(address) is not AddressKind.PUBLIC


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"), ("[::1]", "::1"), ("fe80::1%eth0", "fe80::1"), ("localhost", None),
        ("0x7f.1", "127.0.0.1"), ("2130706433", "127.0.0.1"), ("127.1", "127.0.0.1"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("cafe.de", None), ("feed", None), ("", None), ("127.0.0.1.", None),
    ],
)  # fmt: skip
def test_a_host_is_an_address_or_a_name(host: str, address: str | None) -> None:
    assert parse_address(host) == (None if address is None else ip_address(address))


PYTHON_PLACES: Final = (
    *Path.home().glob(".pyenv/versions/*/bin"), *map(Path, os.environ.get("PATH", "").split(os.pathsep)),
)  # fmt: skip


@pytest.mark.parametrize("minor", [minor for minor in (11, 12, 13) if minor != sys.version_info.minor])
def test_every_python_gives_the_same_kinds(minor: int) -> None:
    python = next((found for place in PYTHON_PLACES if (found := shutil.which(f"python3.{minor}", path=place))), None)
    # A shim of a version manager may be there without its version.
    if python is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"needs Python 3.{minor}")
    texts = [text for texts in KINDS.values() for text in texts]
    script = (
        "import importlib.util, ipaddress, json, sys\n"
        f"spec = importlib.util.spec_from_file_location('addresses', {addresses.__file__!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "kinds = [module.classify_address(ipaddress.ip_address(text)).value for text in json.load(sys.stdin)]\n"
        "print(json.dumps(kinds))\n"
    )
    ran = subprocess.run(
        [python, "-I", "-c", script], input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(ran.stdout) == [kind for kind, texts in KINDS.items() for _ in texts]
