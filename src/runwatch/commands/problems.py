"""``problems list|find|show|explain``: problems kept on this machine, and what they mean."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runwatch.base.closest_word import did_you_mean
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.text import fold_text
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.export_file import check_not_existing, save_export
from runwatch.commands.shared.list_reader import is_selective, parse_limit, parse_since
from runwatch.commands.shared.profile_reader import is_multi_profile, parse_profiles
from runwatch.commands.shared.record_printer import RecordPrinter
from runwatch.commands.shared.row_printer import print_rows
from runwatch.commands.shared.session import load_settings, make_resolver, open_journal
from runwatch.store.repositories.activity import ActivityResult, find_activity, list_latest_problems
from runwatch.store.repositories.id_search import MIN_DIGITS
from runwatch.store.repositories.journal import JournalProblem
from runwatch.store.service_problems import find_instances
from runwatch.view.problems import explanations as explaining
from runwatch.view.problems.activity import merge_activity, merge_service_problems
from runwatch.view.problems.journal_entries import ProblemEntry, problem_from_journal
from runwatch.view.problems.support_bundle import build_bundle, encode_bundle
from runwatch.view.problems.time_query import TimeQuery
from runwatch.view.resources.problems import PROBLEMS
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.table.profile_column import move_profile_column_first
from runwatch.view.table.rows import build_rows
from runwatch.view.text.format import RenderContext
from runwatch.view.text.safe_text import line


def list_problems(call: Invocation) -> int:
    """``problems list``: print the latest problems of one, several or all profiles. Each one names its profile."""
    one, several = call.options.profile, is_multi_profile(call)
    profiles = parse_profiles(call) if several else None if one is None else (one,)

    async def read() -> list[JournalProblem]:
        async with open_journal(call) as journal:
            return await list_latest_problems(journal, profiles, None if is_selective(call) else limit)

    limit = parse_limit(call)
    since = parse_since(call)
    found = [problem_from_journal(each) for each in asyncio.run(read()) if since is None or each.at >= since]
    _print(call, found, move_profile_column_first(PROBLEMS) if several else PROBLEMS, limit)
    return 0


def find(call: Invocation) -> int:
    """``problems find``: print problems by the instances in a text or by their words, or activity around a time.

    Raises:
        UsageError: Neither a text nor a time is given, or an option for a time is given without one.
        RunwatchError: Nothing was found; the message says what was searched.
    """
    given = call.options
    if given.at is not None:
        from runwatch.commands.problem_search import find_by_time

        return find_by_time(call)
    if given.within is not None or given.tz is not None:
        raise UsageError("--within and --tz go with --at", hint="For example --at 2026-11-22T03:10 --within 5m")
    if given.text is None:
        raise UsageError(
            "TEXT or --at is missing", hint="TEXT is words of its message, or six or more characters of its instance."
        )
    hint = (
        "It takes words of the message, or six or more characters of an instance;"
        " '-' reads a whole mail from standard input."
    )
    _print(call, _search(call, given.text, hint, with_words=True))
    return 0


def show(call: Invocation) -> int:
    """``problems show``: print one problem with its meaning and next step."""
    found = _search(call, call.options.instance, "'runwatch problems list' shows all.")
    instances = list(dict.fromkeys(entry.instance or "" for entry in found))
    if len(instances) > 1:
        raise UsageError("More than one problem matches", detail="\n".join(instances), hint="Give more of the id.")
    if call.options.bundle is not None:
        write_bundle(call, found[0])
    RecordPrinter(call, load_settings(call).settings, PROBLEMS).record(found[0], found[0].raw)
    return 0


def _search(call: Invocation, text: str, hint: str, *, with_words: bool = False) -> list[ProblemEntry]:
    """Return what the journal and the local service's store have; a problem in both is one entry, with its cause.

    Args:
        with_words: Whether to return the problems of the journal that say the text if it has no instance of any.
    """
    from runwatch.commands.problem_search import find_in_service

    async def read() -> tuple[list[JournalProblem], list[JournalProblem], int]:
        async with open_journal(call) as journal:
            return await journal.find(wanted), await journal.find(parts), await journal.count_problems()

    wanted = call.read_input("-").decode("utf-8", "replace") if text == "-" else text
    # What a whole id resembles is named, not found.
    parts = " ".join(f"{each[:8]} {each[-12:]}" for each in find_instances(wanted))
    lines, alike, kept = asyncio.run(read())
    answered, without = find_in_service(call, wanted)
    found = merge_service_problems([problem_from_journal(each) for each in lines], answered)
    if not found and with_words:
        found = _find_words(call, wanted)
    if not found:
        if len(wanted.strip()) < MIN_DIGITS:
            says = ", and no problem says it" if with_words else ""
            raise RunwatchError(f"'{wanted.strip()}' is too short to find an instance id{says}", hint=hint)
        store = " and the local service's store" if not without else f"; not the local service's store: {without}"
        journal = f"{kept} problem{'s' * (kept != 1)} in this machine's journal"
        similar = ", ".join(dict.fromkeys(filter(None, (each.instance for each in alike))))
        raise RunwatchError(
            f"No problem seen on this machine has that instance id{' or says that' if with_words else ''}",
            detail="\n".join([f"searched: {journal}{store}", *([f"similar: {similar}"] if similar else [])]),
            hint=hint,
        )
    return found


def _find_words(call: Invocation, text: str) -> list[ProblemEntry]:
    """Return the problems of the journal whose rows contain a text, ignoring case and the kind of space."""

    async def read() -> list[JournalProblem]:
        async with open_journal(call) as journal:
            return await journal.problems(limit=None)

    words = fold_text(line(" ".join(text.split()), None))
    if not words:
        return []
    entries = [problem_from_journal(problem) for problem in asyncio.run(read())]
    return [
        row.subject for row in build_rows(PROBLEMS, entries, RenderContext(call.clock.now())) if row.contains(words)
    ]


def _print(
    call: Invocation,
    entries: Sequence[ProblemEntry],
    spec: ResourceSpec[Any] = PROBLEMS,
    limit: int | None = None,
) -> None:
    printer = RecordPrinter(call, load_settings(call).settings, spec)
    printer.records(printer.select([dict(entry.raw) for entry in entries])[:limit])


def explain(call: Invocation) -> int:
    """``problems explain``: explain a code or reason. Needs neither settings nor a service."""
    word = call.options.code
    found = explaining.all_explanations() if word is None else explaining.explain_code_or_reason(word)
    if word is not None and not any(item.is_known for item in found):
        known = [str(item.word) for item in explaining.all_explanations()]
        raise UsageError(
            f"'{word}' is not an error code or reason that runwatch knows",
            detail=did_you_mean(word, known),
            hint="'runwatch problems explain' lists all of them.",
        )
    if call.output.form == "table":
        call.output.text("\n".join(_paragraph(item) for item in found))
    else:
        print_rows(call.output, [_as_json(item) for item in found])
    return 0


def _as_json(item: explaining.Explanation) -> dict[str, Any]:
    fields = item._asdict()
    del fields["is_known"]
    return {name: str(value) if isinstance(value, str) else value for name, value in fields.items()}


def _paragraph(item: explaining.Explanation) -> str:
    status = f", HTTP {item.status}" if item.status else ""
    lines = [f"{item.word} ({item.kind}{status})", f"  means   {item.sentence}"]
    if item.effect:
        lines.append(f"  submit  {item.effect}")
    return "\n".join([*lines, f"  next    {item.next_step}"]) + "\n"


def write_bundle(call: Invocation, problem: ProblemEntry) -> None:
    """Write the support bundle of a problem, and print the file's path.

    Raises:
        UsageError: The file exists.
        RunwatchError: The file cannot be written.
    """
    name = str(Path(call.options.bundle).expanduser().absolute())
    check_not_existing(call, name)
    around = TimeQuery((problem.time,)) if problem.time is not None else TimeQuery(())

    async def read() -> ActivityResult:
        async with open_journal(call) as journal:
            return await find_activity(journal, around.windows)

    near = merge_activity(around, asyncio.run(read()))
    chosen = make_resolver(call, load_settings(call))
    settings = [{"key": item.key, "value": item.value, "source": str(item.source)} for item in chosen.values()]
    content = build_bundle(problem, near, made_at=call.clock.now(), settings=settings)
    save_export(call, name, encode_bundle(content), "the support bundle is in")
