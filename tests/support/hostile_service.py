"""A service that knows nothing but hostile records and answers every read of the registry with them."""

from __future__ import annotations

import re
from typing import Any, Final

from runwatch.view.resources.organization import COMPLIANCE, EVALS, USAGE
from runwatch.view.resources.registry import RESOURCES
from runwatch.view.spec.resource import ResourceSpec
from tests.support.filled import all_members
from tests.support.hostile import CORPUS
from tests.support.packed import packed
from tests.support.scripted import Said, ScriptedService

TEXTS: Final = [f"{entry.text}N{number:03}" for number, entry in enumerate(CORPUS) if len(entry.text) < 200]
"""The short texts of the corpus, each with its own number behind it."""

MARK: Final = re.compile(r"N\d{3}(?!\d)")
"""The number of a text."""

REPORTS: Final = {"/v1/usage": USAGE, "/v1/eval-summary": EVALS, "/v1/compliance-export": COMPLIANCE}


def texts_of(spec: ResourceSpec[Any], share: int) -> list[str]:
    """The texts in the list of a resource: one of this many; the next list has others."""
    return TEXTS[RESOURCES.index(spec) % share :: share]


def records_of(spec: ResourceSpec[Any], share: int) -> list[dict[str, Any]]:
    """The same as records; the account keeps its number of requests, so no request has to wait."""
    records = [all_members(spec.record, text) for text in texts_of(spec, share)]
    for record in records if spec.name == "account" else ():
        record["quota"] |= {"rate_limit_rpm": 600}
    return records


def hostile_service(share: int, key: str | None = None) -> ScriptedService:
    """The service; ids that begin with ``asked`` meet a Problem with a text in every member."""
    service = ScriptedService(key=key)
    for path, report in REPORTS.items():
        service.say("GET", path, Said(200, all_members(report.record, TEXTS[0])))
    for spec in RESOURCES:
        wire = spec.record.WIRE
        if wire is None:
            continue
        records = records_of(spec, share)
        path = re.sub(r"\{[^}]*\}", "[^/]*", wire.path)
        service.say("GET", f"{path}/[^/]*", Said(200, records[0]))
        listed = {wire.items: records} | ({"next_cursor": None} if wire.paged else {})
        service.say("GET", path, Said(200, listed if wire.items else records[0]))
    for number, text in enumerate(TEXTS):
        raw = dict(packed("problem", text).raw) | {"status": 400}
        service.say("GET", f"/v1/executions/asked{number}", Said(400, raw))
    return service
