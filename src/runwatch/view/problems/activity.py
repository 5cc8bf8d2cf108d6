"""Activity around a time as one list: problems, requests and run ends, from the journal and the local service."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from runwatch.base.clock import format_iso
from runwatch.records.record import Record, amount, integer, mapping, moment, text
from runwatch.records.run import Run
from runwatch.records.service_problem import ServiceProblem
from runwatch.records.states import UNWANTED_STATES
from runwatch.store.repositories.activity import ActivityLine, ActivityResult
from runwatch.store.repositories.journal import JournalProblem, JournalRequest
from runwatch.store.service_problems import ServiceProblems
from runwatch.view.problems.journal_entries import (
    ProblemEntry,
    fold_unreached,
    is_given_up,
    known_members,
    problem_from_journal,
    request_from_journal,
)
from runwatch.view.problems.time_query import TimeQuery, contains_all_words
from runwatch.view.spec.members import column, field, fields
from runwatch.view.spec.resource import ComputedLine, MemberLine, RecordLink, ResourceSpec, SectionSpec, SortKey
from runwatch.view.text.format import RenderContext, counted, elapsed_clock
from runwatch.view.text.glyphs import Role, state_glyph
from runwatch.view.text.member_format import detail_seconds, detail_time
from runwatch.view.text.safe_text import SafeText, block, json_block, line
from runwatch.view.text.styled_text import CellText, StyledText, signed

HERE: Final = "this machine"
SERVICE: Final = "local service"


class ActivityEntry(Record):
    """One thing that happened: ``what`` is ``problem``, ``request`` or ``run``; ``found_in`` says where it is kept.

    ``offset_s`` is in seconds from the requested time. A problem found in the journal and in the local service's store
    is one entry, with the cause from the store.
    """

    KIND = "happening"

    time = moment("time")
    offset_s = amount("offset_s")
    what = text("what")
    found_in = text("found_in")
    profile = text("profile")
    method = text("method")
    path = text("path")
    status = integer("status")
    state = text("state")
    code = text("code")
    title = text("title")
    error = text("error")
    instance = text("instance")
    run_id = text("run_id")
    reason = text("reason")
    cause = text("cause")
    key = text("key")
    kept = mapping("kept")
    reads = integer("reads")
    """Number of reads that a folded entry stands for."""

    tries = integer("tries")
    """The same of tries that reached nobody."""

    @property
    def id(self) -> str:
        """Unique id, made of the kind, the time and the entry's own id."""
        own = self.instance or self.run_id or f"{self.method} {self.path} {self._raw.get('attempt')} {self.key}"
        return f"{self.what} {self._raw.get('time')} {own}"

    @property
    def request(self) -> str | None:
        """Method and path, as far as known; for a folded entry the number of reads or tries."""
        if self.reads is not None:
            return f"{self.reads:,} reads that succeeded"
        if self.tries is not None:
            return f"{self.tries:,} tries that reached nobody"
        return " ".join(part for part in (self.method, self.path) if part) or None

    @property
    def is_trouble(self) -> bool:
        """Whether it is a problem, a failed request, or a failed or expired run."""
        if self.what == "run":
            return self.state in UNWANTED_STATES
        has_failed = self.error is not None and not is_given_up(self.method, self.error)
        return self.what == "problem" or has_failed or (self.status or 0) >= 400


def merge_activity(
    around: TimeQuery, nearby: ActivityResult, answered: ServiceProblems | None = None
) -> list[ActivityEntry]:
    """Merge journal and local service into one list, oldest first. A problem found in both appears once."""
    kept = [] if answered is None else [each for each in answered.problems if _fits(each, around.text)]
    return _merged(around, nearby.lines, kept)


def fold_reads(entries: Sequence[ActivityEntry]) -> Sequence[ActivityEntry]:
    """Fold the reads that succeeded, nearly all of them the console's own polling, into one entry at the first, and
    those that reached nobody.
    """
    entries = fold_unreached(entries)
    reads = [each for each in entries if each.what == "request" and each.method == "GET" and not each.is_trouble]
    if len(reads) < 2:
        return entries
    # A file has them in any order.
    reads.sort(key=lambda each: str(each.raw.get("time")))
    first, last = reads[0].raw, reads[-1].raw
    folded = ActivityEntry(
        {
            **{name: first[name] for name in ("time", "offset_s", "what", "found_in") if name in first},
            "reads": len(reads),
            "until": last.get("time"),
        }
    )
    left_out = set(map(id, reads[1:]))
    return [folded if each is reads[0] else each for each in entries if id(each) not in left_out]


def find_nearest_activity(
    around: TimeQuery, nearby: ActivityResult, answered: ServiceProblems | None = None
) -> list[ActivityEntry]:
    """Return the nearest entries before and after the time, oldest first, for a search without results."""
    return _merged(around, nearby.neighbours, () if answered is None else answered.neighbours)


def describe_search(
    around: TimeQuery, nearby: ActivityResult, answered: ServiceProblems | None, without: str = ""
) -> str:
    """Describe in a sentence what was searched in the journal and, unless it was left out for a reason, in the local
    service.
    """
    kept = nearby.kept
    held = ", ".join(
        (counted(kept.problems, "problem"), counted(kept.requests, "request"), f"{counted(kept.ends, 'end')} of runs")
    )
    places = [f"the journal of this machine ({held}{_span(kept.since, kept.until)})"]
    if answered is not None:
        number = "?" if answered.kept is None else str(answered.kept)
        places.append(f"the local service's store ({number} answered{_span(answered.since, answered.until)})")
    said = f"Searched {' to '.join(map(_utc, around.windows[0]))}" + "".join(
        f" and {' to '.join(map(_utc, window))}" for window in around.windows[1:]
    )
    words = f" for '{around.text}'" if around.text else ""
    rest = f" The local service's store was not searched: {without}." if without else ""
    return f"{said}{words} in {' and '.join(places)}.{rest}"


def activity_text(it: ActivityEntry) -> str:
    """Summarize an entry: time, kind, outcome, request or run, instance. Not cleaned."""
    outcome = it.code or it.state or it.error or it.status
    parts = (it.raw.get("time"), it.what, outcome, it.run_id or it.request, it.instance)
    return "  ".join(str(part) for part in parts if part is not None)


def merge_service_problems(entries: Iterable[ProblemEntry], answered: ServiceProblems | None) -> list[ProblemEntry]:
    """Add causes from the local service to problems of the journal, then append problems that only the service has."""
    stored = {} if answered is None else {each.id: each for each in answered.problems if each.id}
    found = []
    for entry in entries:
        cause = stored[entry.instance].cause if entry.instance in stored else None
        found.append(entry if cause is None else ProblemEntry({**entry.raw, "cause": cause}))
    met = {entry.instance for entry in found}
    return [*found, *(_stored_entry(each) for each in stored.values() if each.instance not in met)]


def _stored_entry(answered: ServiceProblem) -> ProblemEntry:
    return ProblemEntry(known_members({**_stored(answered), "raw": answered.problem}))


def _merged(around: TimeQuery, lines: Iterable[ActivityLine], kept: Iterable[ServiceProblem]) -> list[ActivityEntry]:
    stored = {each.id: each for each in kept if each.id}
    found = []
    for each in lines:
        members = _members(each)
        answered = stored.pop(members.get("instance") or "", None)
        if answered is not None:
            members |= {"found_in": f"{HERE}, {SERVICE}", "cause": answered.cause}
        found.append(_happening(around, each.at, members))
    for answered in stored.values():
        if answered.at is not None:
            members = {"what": "problem", "found_in": SERVICE, "kept": answered.problem, **_stored(answered)}
            found.append(_happening(around, answered.at, members))
    return sorted(found, key=lambda each: (each.time is None, each.time))


def _happening(around: TimeQuery, at: datetime, members: dict[str, Any]) -> ActivityEntry:
    return ActivityEntry(known_members({"time": format_iso(at), "offset_s": around.offset_s(at), **members}))


def _members(entry: ActivityLine) -> dict[str, Any]:
    if isinstance(entry, JournalProblem):
        raw = dict(problem_from_journal(entry).raw)
        return {"what": "problem", "found_in": HERE, **raw, "kept": raw.pop("raw", None), "raw": None}
    if isinstance(entry, JournalRequest):
        return {"what": "request", "found_in": HERE, **request_from_journal(entry).raw}
    return {
        "what": "run", "found_in": HERE, "profile": entry.profile, "run_id": entry.run_id, "state": entry.status,
        "reason": entry.raw.get("reason"), "kept": dict(entry.raw),
    }  # fmt: skip


def _stored(answered: ServiceProblem) -> dict[str, Any]:
    problem = answered.problem or {}
    names = ("title", "status", "detail")
    return {
        "time": answered.raw.get("at"), "method": answered.method, "path": answered.path, "code": answered.code,
        **{name: problem.get(name) for name in names}, "instance": answered.instance, "cause": answered.cause,
        "principal_id": answered.principal_id,
    }  # fmt: skip


def _fits(answered: ServiceProblem, words: str) -> bool:
    """Whether a stored problem contains the words of the search, matched as in the journal."""
    problem = answered.problem or {}
    own = (answered.instance, answered.code, answered.method, answered.path, answered.cause)
    places: Sequence[object] = (*own, *(problem.get(name) for name in ("title", "detail", "status")))
    plain = (answered.instance or "").replace("-", "")
    return contains_all_words(words, [plain, *(str(place) for place in places if place is not None)])


def _span(since: datetime | None, until: datetime | None) -> str:
    return "" if since is None or until is None else f" from {_utc(since)} to {_utc(until)}"


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _offset(it: ActivityEntry, _: RenderContext) -> CellText:
    seconds = it.offset_s
    if seconds is None:
        return line(None)
    return line(f"{'-' if seconds < 0 else '+'}{elapsed_clock(abs(seconds))}")


def _time(value: datetime, context: RenderContext) -> SafeText:
    """Format a time in UTC, or in the local zone if that mode is on, with its date unless it is today."""
    is_local = context.time == "local"
    shown, today = (each.astimezone(context.zone if is_local else UTC) for each in (value, context.now))
    date = (
        "" if shown.date() == today.date() else f"{shown:%m-%d} " if shown.year == today.year else f"{shown:%Y-%m-%d} "
    )
    return line(f"{date}{shown:%H:%M:%S}{'' if is_local else 'Z'}")


def _outcome(it: ActivityEntry, context: RenderContext) -> CellText:
    if it.what == "run":
        glyph, role = state_glyph(it.state or "", context.glyphs)
        return StyledText(line(f"{glyph} {line(it.state)}"), role)
    said = it.code or it.error or ("all" if it.reads is not None else "?" if it.status is None else str(it.status))
    role = Role.BAD if it.is_trouble else Role.GOOD if it.error is None else Role.OFF
    return signed(line(said), role, context.glyphs)


def _present(name: str) -> ComputedLine:
    """Return a line for a member that is omitted if missing, because each entry has few of all possible members."""

    def draw(it: ActivityEntry, _: object, context: RenderContext) -> CellText | None:
        value = it.raw.get(name)
        if value in (None, ""):
            return None
        match name:
            case "kept":
                return json_block(value)
            case "elapsed_s":
                return detail_seconds(value, context)
        return block(value)

    return ComputedLine(name, draw, lambda it: name if it.raw.get(name) is not None else "")


def _met_here(it: ActivityEntry) -> str | None:
    return it.instance if it.what == "problem" and HERE in (it.found_in or "") else None


ACTIVITY: Final[ResourceSpec[Any]] = ResourceSpec[ActivityEntry](
    record=ActivityEntry,
    name="around",
    singular="happening",
    title="Around a time",
    columns=(
        column("time", format=_time, min_cells=9, searched="nothing"),
        column(
            "offset=offset_s", cell=_offset, align="right", hide_order=5, min_cells=6, searched="nothing",
            value_type="seconds",
        ),
        column("what", min_cells=7),
        column(
            "outcome|code|status", lambda it: it.code or it.state or it.error or it.status, cell=_outcome,
            min_cells=14, max_cells=28, value_type="unknown",
        ),
        column(
            "subject|request|run|path", lambda it: it.run_id if it.what == "run" else it.request,
            title="request or run", min_cells=24, max_cells=56, elides_middle=True,
        ),
        column("instance", hide_order=1, min_cells=36),
        column("found_in", title="recorded by", hide_order=3, min_cells=12, is_extra=True),
        column("profile", hide_order=2, min_cells=8, hide_if_empty=True),
        column(
            "said", lambda it: it.cause or it.reason or it.title, title="cause or reason", hide_order=4, min_cells=8,
            max_cells=60,
        ),
    ),
    fields=(field("http=status", value_type="number"), *fields("state cause key")),
    sections=(
        SectionSpec(
            "What happened",
            (
                MemberLine("time", format=detail_time), MemberLine("offset_s", "offset", format=detail_seconds),
                MemberLine("what"), MemberLine("found_in", "recorded by"),
                *(
                    _present(name)
                    for name in (
                        "reads", "until", "tries", "since", "instance", "run_id", "code", "status", "state", "reason",
                        "title", "detail", "cause", "error", "method", "path", "query", "operation", "profile",
                        "origin", "attempt", "key", "principal_id", "elapsed_s",
                    )
                ),
            ),
        ),
        SectionSpec("As recorded", (_present("kept"),)),
    ),
    sort=(SortKey("time"),),
    empty="Nothing recorded at that time.",
    flags={
        "problem": lambda it: it.is_trouble, "run": lambda it: it.what == "run",
        "request": lambda it: it.what == "request",
    },
    links=(RecordLink("problem", ProblemEntry.KIND, _met_here), RecordLink("run", Run.KIND, lambda it: it.run_id)),
)  # fmt: skip
