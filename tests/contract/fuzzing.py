"""Malformed requests, made from good ones: pure, and the same for the same seed.

Above HTTP: hostile members, ids, queries and headers. Below it: broken request lines, headers, lengths and chunks,
requests in one another's way, and bytes that were changed at random.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from urllib.parse import quote

from tests.contract.operation import Good, Operation
from tests.contract.shapes import Place, replaced, without
from tests.support.hostile import CORPUS

TEXTS: Final = tuple(hostile.text for hostile in CORPUS)
NUMBERS: Final = (
    "0", "-0", "-1", "1", "0.1", "1e308", "1e999", "-1e999", "1E-400", "9007199254740993", "9" * 5000, "1" + "0" * 400,
    "0." + "3" * 400, "1e99999999999999999999", "2.5",
)  # fmt: skip
LITERALS: Final = (
    "null", "true", "false", '""', "[]", "{}", "[[[[]]]]", '{"a":{"b":[null]}}', '"\\ud800"', '"\\u0000"',
)  # fmt: skip
QUERY_NAMES: Final = (
    "limit", "cursor", "since", "status", "after", "kind", "arm_id", "period", "from", "to", "template_id",
    "idempotency_key", "operation_key", "intent", "", "a[b]", "x",
)  # fmt: skip
QUERY_VALUES: Final = (
    "0", "1", "-1", "101", "1e3", "2026-11", "2026-11-01", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59-14:00",
    "2026-11-21T00:00:00", "2026-W47", "YmVmb3JlOjE", "YmVmb3JlOjk5OTk5OTk5OTk5OTk5OTk5OQ", "running", "model",
    "starter",
)  # fmt: skip
_MARKS: Final = re.compile(r"mark\d+mark")
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD", "BREW", "get")
MEDIA_TYPES: Final = (
    "application/json; charset=utf-16", "application/json;", "text/plain", "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x", "application/problem+json", "*/*", "",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shot:
    """One thing that is sent.

    Attributes:
        content: The bytes.
        operation: What it was made from.
        is_head: Whether the answer comes without its body.
        what: What was done to it.
    """

    content: bytes = field(repr=False)
    operation: Operation
    is_head: bool
    what: str


class Fuzz:
    """Makes shots.

    Args:
        seed: What chance starts from.
        goods: Requests that would be done.
        key: A key that may do everything.
        port: The service's port.
    """

    def __init__(self, seed: int, goods: Sequence[tuple[Operation, Good]], key: str, port: int) -> None:
        self._random: Final = Random(seed)
        self._goods: Final = goods
        self._key: Final = key
        self._port: Final = port

    def whole(self, count: int) -> Iterator[Shot]:
        """So many whole requests, the operations in turn."""
        for number in range(count):
            operation, good = self._goods[number % len(self._goods)]
            yield self._shot(operation, good, number)

    def broken(self, count: int) -> Iterator[Shot]:
        """So many requests that are broken below HTTP."""
        ways = (
            self._changed_bytes, self._cut, self._wrong_length, self._bad_chunks, self._pipelined, self._odd_line,
            self._odd_headers, self._noise,
        )  # fmt: skip
        for number in range(count):
            operation, good = self._random.choice(self._goods)
            way = ways[number % len(ways)]
            content = way(self._plain(operation, good, f"broken-{number}"))
            yield Shot(content, operation, is_head=False, what=way.__name__)

    # Whole requests

    def _shot(self, operation: Operation, good: Good, number: int) -> Shot:
        random = self._random
        target, method, headers, body, what = self._target(operation, good), operation.method, [], good.content, []
        ways = ["headers", "query", *["target"] * 2 * bool(operation.parameters)]
        ways += ["body"] * 5 if operation.method != "GET" else ["query"]
        for way in [*random.sample(ways, random.choice((1, 1, 1, 2))), *["method"] * (random.random() < 0.1)]:
            what.append(way)
            if way == "body":
                body = self._body(good.body)
            elif way == "query":
                target = f"{target.partition('?')[0]}?{self._query()}"
            elif way == "target":
                target = self._target(operation, Good({name: self._id() for name in operation.parameters}, good.query))
            elif way == "headers":
                headers.append(self._header())
            elif way == "method":
                method = random.choice(METHODS)
        keep = [b"Idempotency-Key", f"fuzz-{number if random.random() < 0.8 else number % 40}".encode()]
        names = {name.lower() for name, _ in headers}
        lines = [
            pair
            for pair in [
                (b"Host", f"localhost:{self._port}".encode()), (b"Authorization", f"Bearer {self._key}".encode()),
                (keep[0], keep[1]), (b"Content-Type", b"application/json"),
            ]
            if pair[0].lower() not in names
        ] + headers  # fmt: skip
        if body or method not in {"GET", "HEAD"}:
            lines.append((b"Content-Length", str(len(body)).encode()))
        content = _request(method, target, lines, body)
        return Shot(content, operation, is_head=method == "HEAD", what="+".join(what))

    def _target(self, operation: Operation, good: Good) -> str:
        path = operation.path_of({name: quote(value, safe="%") for name, value in good.ids.items()})
        query = "&".join(f"{name}={quote(value)}" for name, value in good.query.items())
        return f"{path}?{query}" if query else path

    def _id(self) -> str:
        text = self._random.choice(TEXTS)[:2000]
        escaped = quote(text.encode("utf-8", "surrogatepass"), safe="")
        return self._random.choice((escaped, escaped.replace("%", "%25"), "%ff%fe", "%00", "..%2f", "x" * 3000, "%"))

    def _query(self) -> str:
        random, pairs = self._random, []
        for _ in range(random.choice((1, 1, 2, 5))):
            value = random.choice((*QUERY_VALUES, *random.sample(TEXTS, 10)))[:2000]
            escaped = quote(value.encode("utf-8", "surrogatepass"), safe=random.choice(("", ":/?+")))
            pairs.append(f"{random.choice(QUERY_NAMES)}={escaped}")
        return random.choice(("&", ";", "&&")).join(pairs)

    def _header(self) -> tuple[bytes, bytes]:
        random = self._random
        text = random.choice(TEXTS)[:3000].encode("utf-8", "surrogatepass")
        value = bytes(byte for byte in text if byte >= 0x20 and byte != 0x7F).strip() or b"x"
        names = ("Idempotency-Key", "Authorization", "Accept", "Host", "Origin", "Cookie", "X-Odd", "Content-Type")
        name = random.choice(names)
        if name == "Content-Type":
            value = random.choice(MEDIA_TYPES).encode()
        elif name == "Authorization":
            value = random.choice((b"Bearer " + value, b"Bearer", b"Basic eDp5", value, b"Bearer \xff"))
        elif name == "Accept":
            value = random.choice((b"text/html", value))
        elif name == "Cookie":
            value = random.choice((b"runwatch_session=" + value, value))
        return name.encode(), value

    def _body(self, good: Any) -> bytes:
        random = self._random
        value = good if good is not None else {}
        for _ in range(random.choice((1, 1, 2, 4))):
            value = self._mutated(value)
        text = json.dumps(value, ensure_ascii=random.random() < 0.5)
        for mark in list(_MARKS.findall(text)):
            text = text.replace(f'"{mark}"', random.choice((*NUMBERS, *LITERALS)), 1)
        if random.random() < 0.05:
            text = random.choice(
                ("[" * 5000, f'{{"a":1,{text[1:]}', text[:-1], text + text, f"\ufeff{text}", "NaN", "\x00")
            )
        content = text.encode("utf-8", "surrogatepass")
        return content if random.random() < 0.97 else content.decode("utf-8", "replace").encode("utf-16")

    def _mutated(self, value: Any) -> Any:
        random = self._random
        everything = [place for place in _places_of(value) if place]
        if not everything or random.random() < 0.1:
            return replaced(value, (random.choice(TEXTS)[:200],), self._value()) if isinstance(value, dict) else value
        place = random.choice(everything)
        if isinstance(place[-1], str) and random.random() < 0.15:
            return without(value, place)
        return replaced(value, place, self._value())

    def _value(self) -> Any:
        random = self._random
        kind = random.random()
        if kind < 0.5:
            return random.choice(TEXTS)
        if kind < 0.85:
            # Stands for a literal that Python would not write.
            return f"mark{random.randrange(10**9)}mark"
        return random.choice(([random.choice(TEXTS)] * 3, {random.choice(TEXTS): None}, [{}] * 500, "x" * 100_000))

    # Broken ones

    def _plain(self, operation: Operation, good: Good, key: str) -> bytes:
        lines = [
            (b"Host", f"localhost:{self._port}".encode()),
            (b"Authorization", f"Bearer {self._key}".encode()),
            (b"Idempotency-Key", key.encode()),
        ]
        body = good.content
        if body:
            lines += [(b"Content-Type", b"application/json"), (b"Content-Length", str(len(body)).encode())]
        return _request(operation.method, self._target(operation, good), lines, body)

    def _changed_bytes(self, content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(self._random.choice((1, 2, 8))):
            at = self._random.randrange(len(changed))
            match self._random.randrange(3):
                case 0:
                    changed[at] = self._random.randrange(256)
                case 1:
                    del changed[at]
                case _:
                    changed.insert(at, self._random.randrange(256))
        return bytes(changed)

    def _cut(self, content: bytes) -> bytes:
        return content[: self._random.randrange(1, len(content))]

    def _wrong_length(self, content: bytes) -> bytes:
        length = self._random.choice(
            (b"-1", b"+1", b"0x10", b"1", b"1,1", b"99999999999999999999", b"", b"\xb2", b"1 1", b"100")
        )
        head, _, body = content.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
        more = self._random.choice(([], [b"Content-Length: 3"], [b"Transfer-Encoding: chunked"]))
        return b"\r\n".join([*lines, b"Content-Length: " + length, *more]) + b"\r\n\r\n" + (body or b"{}")

    def _bad_chunks(self, content: bytes) -> bytes:
        head, _, body = content.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
        encoding = self._random.choice(
            (b"chunked", b"chunked", b"gzip, chunked", b"identity", b"chunked, chunked", b"x")
        )
        size = b"%x" % len(body)
        chunks = self._random.choice(
            (
                size + b"\r\n" + body + b"\r\n0\r\n\r\n", size + b";" + b"e" * 9000 + b"\r\n" + body + b"\r\n0\r\n\r\n",
                b"ffffffffffffffffffff\r\n" + body, b"-1\r\n\r\n", b"g\r\n", size + b"\r\n" + body + b"xx0\r\n\r\n",
                size + b"\n" + body + b"\n0\n\n", b"0\r\nX: y\r\n\r\n", b"0\r\n" + b"T: y\r\n" * 300 + b"\r\n",
                b"1\r\n{\r\n" * 50,
            )
        )  # fmt: skip
        return b"\r\n".join([*lines, b"Transfer-Encoding: " + encoding]) + b"\r\n\r\n" + chunks

    def _pipelined(self, content: bytes) -> bytes:
        account = f"GET /v1/account HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._key}\r\n\r\n".encode()
        tail = self._random.choice((b"", b"GET", b"\r\n\r\n", b"nonsense\r\n\r\n", account[:-3]))
        return content + account * self._random.randrange(1, 6) + tail

    def _odd_line(self, content: bytes) -> bytes:
        line = self._random.choice(
            (
                b"GET / HTTP/2.0", b"GET / HTTP/1.0", b"GET  /  HTTP/1.1", b"GET http://evil.example/ HTTP/1.1",
                b"GET http://[::1 HTTP/1.1", b"OPTIONS * HTTP/1.1", b"CONNECT evil.example:443 HTTP/1.1", b"GET",
                b"GET /" + b"a" * 70_000 + b" HTTP/1.1", b"GET /%zz?%zz=%zz HTTP/1.1", b"GET //v1/account HTTP/1.1",
                b"GET /v1/../v1/account HTTP/1.1", b"GET /v1/account#x HTTP/1.1", b"GET \x7f HTTP/1.1",
                b"PRI * HTTP/2.0", b"\x00" * 20, b"GET /v1/account HTTP/1.1\r\n folded", b"A" * 300 + b" / HTTP/1.1",
                b"GET ? HTTP/1.1", b"GET /v1/account\xc3\xbc HTTP/1.1",
            )
        )  # fmt: skip
        return line + b"\r\n" + content.partition(b"\r\n")[2]

    def _odd_headers(self, content: bytes) -> bytes:
        start, _, rest = content.partition(b"\r\n")
        added = self._random.choice(
            (
                b"X: a\r\n b", b"X : y", b": y", b"X", b"X: \x00", b"X: \xff\xfe", b"\xff: y", b"X: y\nZ: w",
                b"X: y\rZ", b"Host: localhost", b"Host: evil.example", b"Host:",
                b"Upgrade: websocket\r\nConnection: Upgrade",
                b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x", b"Expect: 100-continue",
                b"Expect: 17", b"Connection: close", b"Connection: nonsense, close", b"X: " + b"y" * 100_000,
                b"\r\n".join(b"X-%d: y" % number for number in range(300)), b"Authorization: Bearer x",
                b"Idempotency-Key: other", b"Content-Encoding: gzip", b"Cookie: " + b"a=b; " * 2000,
                b"Content-Type: application/json; charset=nonsense", b"Transfer-Encoding:", b"Content-Length:",
            )
        )  # fmt: skip
        return start + b"\r\n" + added + b"\r\n" + rest

    def _noise(self, content: bytes) -> bytes:
        noise = self._random.randbytes(self._random.choice((1, 5, 200, 5000)))
        return self._random.choice((noise, b"\x16\x03\x01\x02" + noise, b"\r\n\r\n" + content, noise + content))


def _request(method: str, target: str, lines: Sequence[tuple[bytes, bytes]], body: bytes) -> bytes:
    start = f"{method} {target} HTTP/1.1\r\n".encode("latin-1")
    return start + b"".join(name + b": " + value + b"\r\n" for name, value in lines) + b"\r\n" + body


def _places_of(value: Any, at: Place = ()) -> Iterator[Place]:
    yield at
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places_of(inner, (*at, name))
    elif isinstance(value, list):
        for position, inner in enumerate(value[:3]):
            yield from _places_of(inner, (*at, position))
