"""What each column of a list means, for the help: one sentence with its unit.

Apart from the specifications, because only the help needs it and every command loads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.spec.resource import Column, ResourceSpec
from runwatch.view.table.column_choice import member_column
from runwatch.view.text.glyphs import UNICODE, Glyphs
from runwatch.view.text.safe_text import line

MEMBER: Final = "this member of the record, as the service says"
"""What a column means that the settings choose by its path in the record's JSON."""

REVIEW_VERDICT: Final = "what review agents found: pass, block or no_verdict; none for a run that is no review"

_COMMON: Final[Mapping[str, str]] = {
    "created": "when it was created",
    "name": "its display name",
    "profile": "the profile of the settings whose service it belongs to",
    "read": "how old the row is, or why it cannot be read",
    "run": "id of the run",
    "status": "its state, as the service says",
}
"""Meanings by column id, where a list has none of its own."""

_OWN: Final[Mapping[str, Mapping[str, str]]] = {
    "runs": {
        "status": "state of the run, or the verdict of its check if that stopped it",
        "reason": "why it ended as it did: the code of the failure, cancellation or check",
        "model": "model that was called last",
        "cost": "spent so far, in USD; < is less than shown, ≥ lacks an unknown part",
        "started": "when it was accepted",
        "took": "time from acceptance to its end, or until 10 s after its last read, as minutes:seconds",
        "provider": "provider that was called last",
        "class": "data class of the input",
        "label": "your label; it stays on this machine",
        "last": "the last event",
        "used": "part of the cost limit that is spent",
        "mode": "live calls a model, echo is a test run",
        "arm": "saved model that was chosen",
        "source": "where the reason comes from",
        "verdict": REVIEW_VERDICT,
    },
    "receipts": {
        "status": "final state of the run, or the verdict of its check if that stopped it",
        "reason": "why it ended as it did: the code of the failure, cancellation or check",
        "model": "model that gave the output, or was called last",
        "spend": "usage and platform fee together, in USD; < is less than shown, ≥ lacks an unknown part",
        "check": "verdict of the output check and its score from 0 to 1, or just the sign; no check is not a verdict",
        "created": "when the receipt was written",
        "took": "runtime of the run",
        "verdict": REVIEW_VERDICT,
        "provider": "provider of that model",
    },
    "events": {
        "time": "time of the event, as the service says",
        "kind": "kind of event: a change of state, a check, or an output that was recorded",
        "slice": "part of the run that it is about; empty for the whole run",
        "summary": "the event in words",
    },
    "models": {
        "model": "publisher and model, the name to ask for",
        "connection": "name of your connection that reaches it",
        "source": "where the model is reached",
        "lane": "who pays: byok is your own key with the provider, pool is the balance",
        "classes": "data classes that may be sent to it",
        "cost": "cost class: economy, standard or premium; not a price",
        "standing": "whether the service lists it for use",
        "tested": "when the service last tested it",
        "deployment": "id of the model at this source",
    },
    "arms": {
        "status": "whether runs can be routed to it",
        "reason": "why it is in that state, or why its route is held",
        "kind": "model, agent or skill",
        "model": "model that it calls",
        "classes": "data classes that it may get",
        "cost": "cost class: economy, standard or premium; not a price",
        "tags": "capabilities by which runs choose it",
        "arm": "id of the saved model",
    },
    "verifiers": {
        "status": "whether runs can use it",
        "reason": "why it is in that state; a filter takes the code, which the detail names",
        "version": "version of the check",
        "key": "state of the key with which its endpoint is called",
        "days": "days until that key stops working",
        "classes": "data classes that it may get",
        "url": "address that is asked for the verdict",
        "verifier": "id of the output check",
    },
    "templates": {
        "status": "whether you can apply it now: eligible, or blocked",
        "template": "id of the template",
        "version": "version of the template",
        "lane": "who pays: byok is your own key with the provider, a pool the balance; diagnostic costs nothing",
        "blockers": "number of things that prevent it",
        "blocker": "codes of these blockers",
        "decision": "your go or no-go; it stays on this machine",
        "plans": "number of other ways that the service offers",
        "standing": "whether its model is certified",
        "next": "what to do about the first blocker",
    },
    "agents": {
        "status": "whether the agent can review, or why not",
        "repository": "repository that it reviews",
        "reason": "why it is in that state; a filter takes the code, which the detail names",
        "url": "address that is called",
        "agent": "id of the review agent",
    },
    "credentials": {"credential": "id to refer to it; never the key itself"},
    "github": {
        "status": "whether the repository is connected",
        "repository": "owner and name at GitHub",
        "verification": "whether GitHub has confirmed the connection",
        "connection": "id of the connection",
    },
    "sources": {
        "status": "whether its models can be read and run",
        "source": "provider or model server that it connects to",
        "auth": "how the service proves itself there",
        "error": "code of the last failed test",
        "tested": "when it was last tested",
        "connection": "id of the connection",
    },
    "profiles": {
        "source": "id to connect to it",
        "kind": "kind of provider",
        "auth": "ways to prove oneself there",
        "protocols": "protocols that it speaks",
    },
    "deployments": {
        "status": "whether it is listed for use",
        "model": "publisher and model",
        "deployment": "id of the model at this source",
        "source": "where the model is reached",
        "upstream": "name of the model at the provider",
        "price": "how its price is known, such as published or estimated",
        "tested": "when the service last tested it",
    },
    "definitions": {
        "model": "publisher and model",
        "publisher": "who published the model",
        "family": "family of the model",
        "release": "month of its release",
        "lifecycle": "preview, active, deprecated or retired",
        "can": "what it can do",
    },
    "proposals": {
        "status": "whether it waits for a decision, or how that was",
        "proposal": "id of the proposal",
        "arm": "skill that it would change",
        "before": "score of the skill as it is, from 0 to 1",
        "after": "score of the skill as proposed, from 0 to 1",
        "run": "run that the proposal came from",
        "by": "who decided",
    },
    "keys": {
        "status": "whether requests with it are accepted",
        "key": "id of the key; never the key itself",
        "prefix": "first characters of the key, to recognize it",
        "role": "what it may do: reader, runner or owner",
        "used": "when a request last used it",
        "expires": "when it stops working; empty for never",
    },
    "webhooks": {
        "status": "whether deliveries are sent",
        "url": "address that is called",
        "events": "ends of runs that are reported",
        "webhook": "id of the webhook",
    },
    "deliveries": {
        "status": "whether it arrived, is tried again or was given up",
        "event": "end of a run that it reports",
        "tries": "number of attempts so far",
        "answer": "HTTP status of the last answer",
        "error": "why the last attempt failed",
        "run": "run that ended",
        "delivery": "id of the delivery",
    },
    "problems": {
        "time": "when it happened, by this machine's clock",
        "code": "what went wrong, as the service or runwatch names it",
        "http": "HTTP status of the response; empty if none came",
        "request": "method and path of the request",
        "instance": "id to quote to support, which finds what happened by it",
        "title": "the service's short text",
        "detail": "what the service says of this one time",
        "message": "what it says of each field",
    },
    "codes": {
        "code": "what went wrong, as the service or runwatch names it",
        "count": "number of problems with this code",
        "first": "when it happened first",
        "last": "when it happened last",
        "paths": "number of different paths",
        "profiles": "number of profiles",
    },
    "requests": {
        "time": "when it was sent, by this machine's clock",
        "status": "HTTP status, or why no response came",
        "method": "HTTP method",
        "path": "path at the service",
        "took": "seconds until the response was there",
        "attempt": "number of the attempt; reads are tried up to three times",
        "received": "size of the response's body, in bytes",
        "sent": "size of the request's body, in bytes",
        "key": "idempotency key: a write with the same key is done once",
        "query": "parameters of the request",
    },
    "around": {
        "time": "when it happened",
        "offset": "time before (-) or after (+) the chosen one",
        "what": "run, problem or request",
        "outcome": "state of the run, code of the problem, or HTTP status",
        "subject": "the run, or method and path of the request",
        "instance": "id to quote to support",
        "found_in": "where it is recorded: on this machine, or by the service",
        "said": "why, in the words of the service",
    },
    "reports": {
        "period": "first and last day that are counted",
        "runs": "number of runs",
        "passthrough": "what providers charge for these runs, in USD",
        "platform": "platform fee, in USD",
        "usd": "both together, in USD",
        "quota": "part of the runs allowed in this period that are used",
    },
    "account": {
        "tenant": "id of your organization",
        "key": "id of the key that you use",
        "tier": "tier that sets the limits",
        "balance": "USD left",
        "quota": "runs used of those allowed in this period",
        "rpm": "requests allowed in a minute",
    },
}
"""Meanings by list and column id."""


def column_meaning(spec: ResourceSpec[Any], column: Column[Any]) -> str:
    """Return what a column means; one chosen by its path in the record's JSON has only that."""
    return _OWN.get(spec.name, {}).get(column.id) or _COMMON.get(column.id) or MEMBER


def column_sections(spec: ResourceSpec[Any], shown: Sequence[str], glyphs: Glyphs = UNICODE) -> list[DetailSection]:
    """Return the columns of a list by their headings, with the names that filters use for them: first those shown now,
    in order, then those that only the settings show.
    """
    here = [spec.column(name) or member_column(name) for name in shown]
    others = [column for column in spec.all_columns if column.id not in shown]
    made = ((f"Columns of {spec.title}", here), ("Columns that the settings can show", others))
    return [
        DetailSection(line(title), tuple(_column_line(spec, column, glyphs) for column in columns))
        for title, columns in made
        if columns
    ]


def _column_line(spec: ResourceSpec[Any], column: Column[Any], glyphs: Glyphs) -> DetailLine:
    name = "" if column.id == column.title else f"  (in filters: {column.id})"
    meaning = column_meaning(spec, column).replace(UNICODE.at_least, glyphs.at_least)
    return text_line(column.title, f"{meaning}{name}")
