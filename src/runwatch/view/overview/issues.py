"""Issues as sentences with links: anomalies among runs, and issues of saved models, connections and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from runwatch.base.text import cell_width
from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.records.source import SourceConnection
from runwatch.records.verifier import ConnectionSummary, Verifier
from runwatch.view.overview.anomalies import ALL, REASON, Anomaly
from runwatch.view.overview.links import (
    LinkedLine,
    LinkSpan,
    ViewLink,
    build_equals_filter,
    count_cells,
    make_plain_span,
)
from runwatch.view.problems.status_reasons import status_reason_text
from runwatch.view.resources.verifiers import SOON_DAYS
from runwatch.view.text.format import RenderContext, ago, counted, short_id, time_of_day
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import iso_text, line

R = TypeVar("R", bound=Record)

HINT: Final = 27
"""Minimum width of hints in cells, so they are aligned."""

WITH_HINTS: Final = 100
"""Minimum line width in cells for hints to be shown."""

GAP: Final = 3
"""Gap between a sentence and its hint, in cells."""

NAMED: Final = 3
"""Maximum number of issues of one kind with a line each; more share one line that links to their list."""

_STOPPED: Final = frozenset({"expired", "revoked"})


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue, coloured by its severity; the hint says what opening it does."""

    text: str
    role: Role
    way: ViewLink
    hint: str = "lists them"


@dataclass(frozen=True, slots=True)
class Inventory:
    """The resources that runs use: saved models, agents and skills, connections, and output checks."""

    arms: Sequence[Arm] = ()
    connections: Sequence[SourceConnection] = ()
    checks: Sequence[Verifier] = ()

    def display_name(self, record_id: str, context: RenderContext) -> str:
        """Return a record's name, with part of its id if the name is not unique; the id if it has no name."""
        every: tuple[Arm | SourceConnection | Verifier, ...] = (*self.arms, *self.connections, *self.checks)
        name = next((it.display_name for it in every if it.id == record_id), None)
        ends = short_id(record_id, context.glyphs)
        if not name:
            return ends
        is_only = sum(it.display_name == name for it in every) == 1
        return line(name) if is_only else f"{line(name)} {ends}"


def find_issues(findings: Iterable[Anomaly], inventory: Inventory, context: RenderContext) -> list[Issue]:
    """Return all issues, most urgent first: what fails now, what can no longer be used, and what soon cannot."""
    return [
        *(_issue_from_anomaly(finding, inventory, context) for finding in findings),
        *_of_connections(inventory, context),
        *_of_checks(inventory, context),
        *_of_arms(inventory, context),
    ]


def issue_line(trouble: Issue, context: RenderContext, enter: str, cells: int) -> LinkedLine:
    """Return the sentence with its glyph, and the hint if there is room for both."""
    text = LinkSpan(line(trouble.text), Role.PLAIN, trouble.way)
    hint = make_plain_span(f"{enter} {trouble.hint}")
    parts: LinkedLine = (LinkSpan(line(f"{context.glyphs.sign(trouble.role)} "), trouble.role), text)
    space = cells - count_cells(parts) - max(cell_width(hint.text), HINT)
    return (*parts, make_plain_span(" " * space), hint) if space >= GAP and cells >= WITH_HINTS else parts


_RUNS_ON: Final = {
    "provider": "runs on {0}", "connection": "runs over the connection {0}", "model": "runs with {0}",
    "arm": "runs with the saved model {0}", "check": "runs under the output check {0}", ALL: "runs",
}  # fmt: skip


def _issue_from_anomaly(finding: Anomaly, inventory: Inventory, context: RenderContext) -> Issue:
    since = _minute(finding, context)
    dot = f" {context.glyphs.dot} "
    terms = ["is:broken", "!is:test", f"ended>={iso_text(finding.since)}"]
    count, bad = finding.total, len(finding.bad)
    if finding.dimension == REASON:
        text = f"{bad} of {count} failed runs since {since} ended with {line(finding.value)}"
    else:
        value = _name(finding, inventory, context)
        how = {"failed": "failed", "expired": "expired"}.get(finding.status or "", "failed or expired")
        text = f"{bad} of {count} {_RUNS_ON[finding.dimension].format(value)} {how} since {since}"
        if finding.reason is not None:
            text += f"{dot}{line(finding.reason)}"
    if finding.dimension != ALL:
        terms.insert(1, build_equals_filter(finding.dimension, finding.value))
    return Issue(text, Role.BAD, ViewLink("runs", " ".join(terms)))


def _minute(finding: Anomaly, context: RenderContext) -> str:
    """Format hours and minutes, with the date unless it is today."""
    return str(time_of_day(finding.since, context)).rpartition(":")[0]


def _name(finding: Anomaly, inventory: Inventory, context: RenderContext) -> str:
    if finding.dimension in {"provider", "model", ALL}:
        return line(finding.value)
    return inventory.display_name(finding.value, context)


def _of_connections(inventory: Inventory, context: RenderContext) -> list[Issue]:
    failing = [it for it in inventory.connections if it.test_state == "failed" and it.revoked_at is None]

    def make_issue(connection: SourceConnection) -> Issue:
        at = connection.last_tested_at
        when = f" {ago(at, context.now)}" if at is not None else ""
        why = f" {context.glyphs.dot} {line(connection.test_error)}" if connection.test_error else ""
        name = inventory.display_name(connection.id, context)
        return _opens(f"connection {name}: test failed{when}{why}", Role.BAD, "sources", connection, "connection")

    way = ViewLink("sources", "is:problem !is:off")
    return _each(failing, make_issue, "connections: test failed", Role.BAD, way)


def _of_checks(inventory: Inventory, context: RenderContext) -> list[Issue]:
    """Return issues of checks: unusable responses, and keys that are no longer used or soon will not be."""
    in_use = [check for check in inventory.checks if check.status != "retired"]
    degraded = [check for check in in_use if check.status == "degraded"]
    stopped = [check for check in in_use if check not in degraded and _key(check).status in _STOPPED]
    soon = [check for check in in_use if check not in degraded and check not in stopped and _stops_soon(check)]

    def say(words: str, check: Verifier, role: Role = Role.BAD, noun: str = "output check") -> Issue:
        name = inventory.display_name(check.id, context)
        return _opens(f"output check {name}: {words}", role, "verifiers", check, noun)

    def unfit(check: Verifier) -> Issue:
        return say(line(status_reason_text(check.status_reason or "degraded")), check)

    def keyless(check: Verifier) -> Issue:
        key = _key(check)
        when = f" {ago(key.stopped_at, context.now)}" if key.stopped_at is not None else ""
        return say(f"its key is {line(key.status)}{when}", check, noun="check")

    def ending(check: Verifier) -> Issue:
        return say(f"its key stops in {counted(_key(check).days_remaining or 0, 'day')}", check, Role.WARN)

    kept = "status!=retired status!=degraded"
    all_stopped = ViewLink("verifiers", f"{kept} key=expired | {kept} key=revoked")
    all_soon = ViewLink("verifiers", f"{kept} key!=expired key!=revoked days<={SOON_DAYS}")
    return [
        *_each(degraded, unfit, "output checks are degraded", Role.BAD, ViewLink("verifiers", "status=degraded")),
        *_each(stopped, keyless, "output checks: their keys are no longer used", Role.BAD, all_stopped),
        *_each(soon, ending, f"output checks: their keys stop within {SOON_DAYS} days", Role.WARN, all_soon),
    ]


def _key(check: Verifier) -> ConnectionSummary:
    return check.connection or ConnectionSummary({})


def _stops_soon(check: Verifier) -> bool:
    days = _key(check).days_remaining
    return days is not None and days <= SOON_DAYS


def _of_arms(inventory: Inventory, context: RenderContext) -> list[Issue]:
    """Return issues of saved models that runs may not reach. Those disabled by the user are only counted."""
    degraded = [arm for arm in inventory.arms if arm.status == "degraded"]
    held = [arm for arm in inventory.arms if arm.status not in {"degraded", "disabled"} and arm.route_availability]
    disabled = sum(arm.status == "disabled" for arm in inventory.arms)

    def make_issue(arm: Arm) -> Issue:
        route = arm.route_availability
        word = arm.status if arm.status == "degraded" else (route and route.status) or "not plainly available"
        why = arm.status_reason or (route and route.reason)
        since = f" {context.glyphs.dot} {ago(route.since, context.now)}" if route and route.since else ""
        text = f"saved model {inventory.display_name(arm.id, context)}: {line(word)}"
        return _opens(
            text + (f" {context.glyphs.dot} {line(status_reason_text(why))}" if why else "") + since,
            Role.WARN,
            "arms",
            arm,
            "saved model",
        )

    way = ViewLink("arms", "is:problem !is:off")
    found = _each([*degraded, *held], make_issue, "saved models: degraded, or their route is held", Role.WARN, way)
    if disabled:
        text = "1 saved model is disabled" if disabled == 1 else f"{disabled} saved models are disabled"
        found.append(Issue(text, Role.OFF, ViewLink("arms", "is:off"), "lists them" if disabled > 1 else "lists it"))
    return found


def _each(found: Sequence[R], make_issue: Callable[[R], Issue], words: str, role: Role, way: ViewLink) -> list[Issue]:
    return [make_issue(each) for each in found] if len(found) <= NAMED else [Issue(f"{len(found)} {words}", role, way)]


def _opens(text: str, role: Role, screen: str, record: Record, noun: str) -> Issue:
    return Issue(text, role, ViewLink(screen, record=record.id), f"opens the {noun}")
