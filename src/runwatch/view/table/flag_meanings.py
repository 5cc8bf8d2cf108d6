"""What each ``is:`` of a filter keeps, for the filter bar, the help and the manual.

Apart from the specifications, because only these need it and every command loads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runwatch.view.detail.sections import DetailSection, text_line
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.safe_text import SafeText, line

_COMMON: Final[Mapping[str, str]] = {
    "cut": "an output was cut at a token limit",
    "final": "it has ended",
    "live": "it has not ended, also in an unknown state",
    "off": "it is disabled for good",
    "ready": "its status is ready",
    "test": "a test run, which calls no model",
}
"""Meanings by name, where a list has none of its own."""

_OWN: Final[Mapping[str, Mapping[str, str]]] = {
    "runs": {
        "problem": "it failed or expired, or its review was negative",
        "broken": "it failed or expired",
        "done": "it ended as completed, whatever its verdict",
        "composer": "a run of the Review Composer",
        "review": "its result asks you to review",
    },
    "receipts": {
        "final": "every receipt: a run has one once it has ended",
        "live": "no receipt: a run has one once it has ended",
        "problem": "its run failed or expired",
        "content": "a member looks like a prompt or an output",
    },
    "events": {
        "final": "it ends the run",
        "live": "the run or a slice goes on after it",
        "problem": "the run or a slice failed or expired, or a check rejected or could not run",
    },
    "models": {
        "byok": "it runs on a key of your own: its lane is byok",
        "public": "it may get public data",
    },
    "deployments": {"listed": "its status is listed"},
    "arms": {
        "problem": "degraded, or its route is held",
        "off": "disabled: no run is routed to it",
    },
    "verifiers": {
        "problem": "degraded, or its key was revoked or has expired",
        "protected": "it is called with a key",
    },
    "agents": {"problem": "degraded"},
    "sources": {
        "ready": "its models can be saved and run",
        "problem": "its last test failed",
        "off": "permanently disconnected",
    },
    "templates": {
        "eligible": "it can be applied now",
        "blocked": "it has blockers",
        "problem": "it has blockers",
        "decided": "you have recorded a decision",
        "changed": "it has changed since your decision",
    },
    "proposals": {
        "pending": "it waits for a decision",
        "final": "approved, rejected or expired",
    },
    "keys": {"active": "it can be used", "off": "revoked"},
    "requests": {
        "problem": "no response, or one with an error",
        "retry": "not the first attempt",
    },
    "problems": {
        "problem": "every one of them",
        "submit": "a run was not accepted",
    },
    "around": {
        "problem": "a problem, a failed request, or a failed or expired run",
        "run": "the end of a run",
        "request": "a request of this console",
    },
}
"""Meanings by list and name."""


def flag_meaning(spec: ResourceSpec[Any], name: str) -> str:
    """Return what ``is:NAME`` keeps; empty for one without a meaning."""
    return _OWN.get(spec.name, {}).get(name) or _COMMON.get(name, "")


def flag_sections(spec: ResourceSpec[Any]) -> list[DetailSection]:
    lines = tuple(text_line(f"is:{name}", flag_meaning(spec, name)) for name in spec.flags)
    return [DetailSection(line("States for the filter"), lines)] if lines else []


def typed_flag_text(spec: ResourceSpec[Any], text: str) -> SafeText:
    """Explain the ``is:`` that a filter ends with, or name those that it may become; empty for another end."""
    sign, found, part = text.rpartition(" ")[2].lstrip("!(").partition("is:")
    fitting = [name for name in spec.flags if name.startswith(part)] if found and not sign else []
    if not fitting:
        return line("")
    first, *others = [part] if part in fitting else fitting
    more = f"; or {', '.join(others)}" if others else ""
    return line(f"is:{first}: {flag_meaning(spec, first)}{more}")
