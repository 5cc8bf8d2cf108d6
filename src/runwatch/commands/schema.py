"""``schema KIND``: the JSON schema of what is sent, and the declared members of what is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from runwatch.base.closest import closest_word
from runwatch.base.errors import UsageError
from runwatch.base.json import dumps
from runwatch.commands.call import Call

if TYPE_CHECKING:
    from runwatch.records.record import Record

REQUESTS: Final[Mapping[str, str]] = {"run-request": "RunRequest"}
"""Bodies that are sent, with their model in :mod:`runwatch.records.requests`."""

RECORDS: Final[Mapping[str, str]] = {
    "run": "runwatch.records.run:Run",
    "event": "runwatch.records.event:RunEvent",
    "result": "runwatch.records.run:RunResult",
    "receipt": "runwatch.records.receipt:Receipt",
    "account": "runwatch.records.account:Account",
    "model": "runwatch.records.model:CatalogEntry",
    "definition": "runwatch.records.model:Definition",
    "deployment": "runwatch.records.model:Deployment",
    "arm": "runwatch.records.arm:Arm",
    "verifier": "runwatch.records.verifier:Verifier",
    "key_connection": "runwatch.records.verifier:KeyConnection",
    "template": "runwatch.records.template:Template",
    "plan": "runwatch.records.template:Plan",
    "application": "runwatch.records.template:Application",
    "selection": "runwatch.records.template:Selection",
    "agent": "runwatch.records.agent:ReviewAgent",
    "credential": "runwatch.records.credential:Credential",
    "github": "runwatch.records.github:GithubConnection",
    "connection": "runwatch.records.source:SourceConnection",
    "source_profile": "runwatch.records.source:SourceProfile",
    "handoff": "runwatch.records.source:Handoff",
    "proposal": "runwatch.records.proposal:Proposal",
    "api_key": "runwatch.records.apikey:ApiKey",
    "webhook": "runwatch.records.webhook:Webhook",
    "delivery": "runwatch.records.webhook:Delivery",
    "usage": "runwatch.records.usage:Usage",
    "eval_summary": "runwatch.records.evaluation:EvalSummary",
    "compliance_export": "runwatch.records.compliance:ComplianceExport",
    "problem": "runwatch.records.problem:Problem",
}
"""Records that are read."""


def schema(call: Call) -> int:
    """``schema``: print the schema of one kind, or the list of kinds."""
    kind = call.options.kind
    kinds = (*REQUESTS, *RECORDS)
    if kind is None:
        call.output.text("".join(f"{name}\n" for name in kinds))
        return 0
    if kind not in kinds:
        guess = closest_word(kind, kinds)
        raise UsageError(
            f"'{kind}' is no kind",
            detail=f"the nearest is {guess}" if guess else None,
            hint=f"One of {', '.join(kinds)}.",
        )
    call.output.text(dumps(_request_schema(kind) if kind in REQUESTS else _record_schema(kind), indent=2) + "\n")
    return 0


def _request_schema(kind: str) -> dict[str, Any]:
    from runwatch.records import requests

    model = getattr(requests, REQUESTS[kind])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}


def _record_schema(kind: str) -> dict[str, Any]:
    """What is declared of a record; nothing is required and more members may come, because reading is tolerant."""
    from importlib import import_module

    module, _, name = RECORDS[kind].partition(":")
    record = getattr(import_module(module), name)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name, **_object(record)}


def _object(record: type[Record]) -> dict[str, Any]:
    meaning = (record.__doc__ or "").strip().partition("\n\n")[0]
    properties: dict[str, Any] = {}
    for name, member in record.MEMBERS.items():
        form: dict[str, Any] = dict(member.form)
        if member.kind is not None:
            nested = _object(member.kind)
            form = nested if form["type"] == "object" else {**form, "items": nested}
        if "type" in form:
            form["type"] = [form["type"], "null"]
        properties[name] = form
    return {"description": " ".join(meaning.split()), "type": "object", "properties": properties}
