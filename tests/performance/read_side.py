"""Ways to read a record, compared: time from bytes to rows, and memory per event.

Each turns the same page of events, as it comes over the wire, into what the event store inserts: id, time, type, slice,
state and the event's own text. What runwatch does, up to the store's own function for its columns, is compared with
``json.loads`` alone, with pydantic models that keep unknown members, with frozen dataclasses, and with the official
Python client's ``events()``, which reads the same bytes from a transport without a network and returns dicts.
"""

from __future__ import annotations

import asyncio
import json
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from millwork_solver import Solver
from pydantic import BaseModel, ConfigDict

from runwatch.api.decoding.decoder import decode_page, decode_page_sliced
from runwatch.api.decoding.item_stream import ItemStream
from runwatch.base.clock import SystemClock
from runwatch.base.json import encode_body
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.record import RecordPacker
from runwatch.store.repositories.event_store import event_row
from tests.performance.measure import Figure, in_turns
from tests.support.varied_receipts import varied_receipts

EVENTS = 5_000
TARGET = 0.8

_NOTE = (
    "Bytes to rows: json.loads makes dicts and stops; a row also needs the event's own text, because unknown"
    " members, the digits of numbers and repeated names must come back as they were sent, and four of its members."
    " msgspec with raw members and exact decimals reached 0.60 (its 8 × needs floats, and refuses input that json"
    " takes), and was not worth a second parser."
)


def page(count: int) -> bytes:
    """Return a page of ``count`` events of one run, of the kinds and sizes that live runs have."""
    start = datetime(2026, 11, 20, 10, tzinfo=UTC)
    events: list[dict[str, Any]] = []
    for number in range(count):
        event: dict[str, Any] = {"event_id": f"ev_{number:012x}", "execution_id": "ex_01HXA7T4M2ZQ"}
        at = (start + timedelta(milliseconds=40 * number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        match number % 4:
            case 0:
                event |= {"type": "lifecycle", "state": "running", "at": at}
            case 1:
                event |= {"slice_id": "sl_1", "type": "lifecycle", "state": "progress", "reason": "fallback", "at": at}
            case 2:
                check = {
                    "check_id": f"chk_{number}", "verifier_id": "vrf_7c1e", "verifier_hash": "sha256:aa11",
                    "activity": "customer", "arm_id": "arm_01HX7", "attempt": 1, "phase": "candidate",
                    "outcome": "valid_verdict", "failure_class": None, "is_correct": False, "quality_score": 0.31,
                }  # fmt: skip
                event |= {"slice_id": "sl_1", "type": "verification_check", "at": at, "verification_check": check}
            case _:
                recorded = {"state": "platform_test", "identity": "platform.echo", "recorded_at": at}
                event |= {"slice_id": "sl_1", "type": "recorded_check", "at": at, "recorded_check": recorded}
        events.append(event)
    return encode_body({"events": events})


class _ModelEvent(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    event_id: str
    execution_id: str | None = None
    slice_id: str | None = None
    type: str | None = None
    state: str | None = None
    reason: str | None = None
    at: datetime | None = None
    verification_check: dict[str, Any] | None = None
    recorded_check: dict[str, Any] | None = None


class _ModelPage(BaseModel):
    events: list[_ModelEvent]


@dataclass(frozen=True, slots=True)
class _DataEvent:
    event_id: str
    execution_id: str | None
    slice_id: str | None
    type: str | None
    state: str | None
    at: str | None
    unknown: dict[str, Any] = field(default_factory=dict)


_DECLARED = frozenset({"event_id", "execution_id", "slice_id", "type", "state", "at"})

Rows = list[tuple[Any, ...]]


def rows_of_views(body: bytes) -> Rows:
    """Read as runwatch does: a page of thin views with the items' own texts, and from each what the store inserts."""
    return list(map(event_row, decode_page(body, RunEvent).records))


def rows_in_slices(body: bytes) -> Rows:
    """Do the same for a page so big that it is read in slices."""
    page = asyncio.run(decode_page_sliced(body, RunEvent, SystemClock()))
    return list(map(event_row, page.records))


def rows_of_models(body: bytes) -> Rows:
    """Use pydantic models that keep unknown members."""
    return [
        (event.event_id, event.at, event.type, event.slice_id, event.state, event.model_dump_json())
        for event in _ModelPage.model_validate_json(body).events
    ]


def rows_of_dataclasses(body: bytes) -> Rows:
    """Use frozen dataclasses with a member for the rest."""
    rows = []
    for raw in json.loads(body)["events"]:
        rest = {name: value for name, value in raw.items() if name not in _DECLARED}
        event = _DataEvent(
            raw["event_id"], raw.get("execution_id"), raw.get("slice_id"), raw.get("type"), raw.get("state"),
            raw.get("at"), rest,
        )  # fmt: skip
        rows.append((event.event_id, event.at, event.type, event.slice_id, event.state, json.dumps(raw)))
    return rows


class OfficialClient:
    """The official client on a transport that answers every request with the same body, without a network.

    Args:
        body: The page of events.
    """

    def __init__(self, body: bytes) -> None:
        self._solver = Solver(
            "k",
            "http://127.0.0.1:9",
            _transport=httpx.MockTransport(
                lambda _: httpx.Response(200, content=body, headers={"Content-Type": "application/json"})
            ),
        )
        self._count = len(json.loads(body)["events"])

    def events(self) -> list[Any]:
        """Yield as many events as the page has; the client would go on with another request."""
        followed: Iterator[Any] = self._solver.events(path_parameters={"executionId": "ex_01HXA7T4M2ZQ"})
        return [next(followed) for _ in range(self._count)]

    def close(self) -> None:
        """Close it."""
        self._solver.close()


def _bytes_each(make: Any, body: bytes) -> float:
    tracemalloc.start()
    kept = make(body)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / len(kept)


def _items(body: bytes) -> Iterator[tuple[str, Any]]:
    for texts, values in ItemStream(iter((body.decode(),)), "events", with_texts=True).chunks():
        yield from zip(texts, values, strict=True)


def figures() -> list[Figure]:
    """Measure and judge."""
    body = page(EVENTS)
    official = OfficialClient(body)
    loads, views, slices, official_s, models, plain = in_turns(
        lambda: json.loads(body), lambda: rows_of_views(body), lambda: rows_in_slices(body), official.events,
        lambda: rows_of_models(body), lambda: rows_of_dataclasses(body), clock=time.thread_time,
    )  # fmt: skip
    official.close()
    each = 1e6 / EVENTS
    table = [
        Figure("json.loads alone", f"{loads * each:.2f} µs an event", "1.00"),
        Figure("bytes to rows, thin views", f"{views * each:.2f} µs an event", f"{loads / views:.2f}",
               f"≥ {TARGET} × json.loads", loads / views >= TARGET, _NOTE),
        Figure("… in slices, as pages over 2 MB are read", f"{slices * each:.2f} µs an event", f"{loads / slices:.2f}"),
        Figure("the official client's events() on the same bytes: dicts, no rows, no texts",
               f"{official_s * each:.2f} µs an event", f"{loads / official_s:.2f}"),
        Figure("bytes to rows, pydantic with extras", f"{models * each:.2f} µs an event", f"{loads / models:.2f}"),
        Figure("bytes to rows, frozen dataclasses", f"{plain * each:.2f} µs an event", f"{loads / plain:.2f}"),
    ]  # fmt: skip
    memory = {
        "dict": _bytes_each(lambda b: json.loads(b)["events"], body),
        "view": _bytes_each(lambda b: [RunEvent(v, t) for t, v in _items(b)], body),
        "model": _bytes_each(lambda b: _ModelPage.model_validate_json(b).events, body),
        "text": _bytes_each(lambda b: [t for t, _ in _items(b)], body),
    }
    bare = memory["dict"]
    table += [
        Figure("memory an event, decoded dict", f"{bare:,.0f} B", "1.00"),
        Figure("memory an event, thin view with its text", f"{memory['view']:,.0f} B", f"{memory['view'] / bare:.2f}"),
        Figure("memory an event, pydantic with extras", f"{memory['model']:,.0f} B", f"{memory['model'] / bare:.2f}"),
        Figure("memory an event, its text alone", f"{memory['text']:,.0f} B", f"{memory['text'] / bare:.2f}"),
    ]
    return [*table, *_packing()]


def _packing() -> list[Figure]:
    """Measure how long it takes to pack the receipts of a long list, and to read one again."""
    raws = list(varied_receipts(EVENTS, datetime(2026, 11, 20, 10, tzinfo=UTC)))
    texts = [encode_body(raw) for raw in raws]

    def pack() -> list[Receipt]:
        made = list(map(Receipt, raws))
        RecordPacker(Receipt).pack(made)
        return made

    packed = pack()
    loads, packing, reading = in_turns(
        lambda: list(map(json.loads, texts)), pack, lambda: [receipt.decoded() for receipt in packed],
        clock=time.thread_time,
    )  # fmt: skip
    each = 1e6 / EVENTS
    forms = [receipt.packed for receipt in packed]
    size = sum(len(form[1]) for form in forms if form is not None) / EVENTS
    text = sum(map(len, texts)) / EVENTS
    return [
        Figure("json.loads of a varied receipt", f"{loads * each:.2f} µs", "1.00"),
        Figure("… packing it", f"{packing * each:.2f} µs", f"{loads / packing:.2f}"),
        Figure("… reading it again when it is packed", f"{reading * each:.2f} µs", f"{loads / reading:.2f}"),
        Figure("… bytes of it, packed", f"{size:,.0f} B", f"{size / text:.2f} of its text"),
    ]
