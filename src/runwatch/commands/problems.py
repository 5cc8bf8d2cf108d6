"""``problems list|find|show|explain``: what went wrong, kept on this machine, and what it means."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from runwatch.base.closest import closest_word
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.commands.call import Call
from runwatch.commands.listing import LIMIT, since_of
from runwatch.commands.printing import Printer
from runwatch.commands.profiles import asks_for_several, names_of
from runwatch.commands.session import load_settings, open_journal
from runwatch.store.journal import ProblemLine
from runwatch.store.lookback import problems_of
from runwatch.view import explain as explaining
from runwatch.view.entries import ProblemEntry, problem_entry
from runwatch.view.happenings import with_answered
from runwatch.view.owners import with_profile_first
from runwatch.view.resource import ResourceSpec
from runwatch.view.resources.problems import PROBLEMS

EVERYTHING: Final = 1_000_000_000
"""A limit that no journal reaches."""


def list_problems(call: Call) -> int:
    """``problems list``: the latest problems, of one profile, of several or of all; each names its profile itself."""
    one, several = call.options.profile, asks_for_several(call)
    profiles = names_of(call) if several else None if one is None else (one,)

    async def read() -> list[ProblemLine]:
        limit = LIMIT if call.options.limit is None else call.options.limit or EVERYTHING
        async with open_journal(call) as journal:
            return await problems_of(journal, profiles, limit)

    since = since_of(call)
    found = [_entry(line) for line in asyncio.run(read()) if since is None or line.at >= since]
    _print(call, found, with_profile_first(PROBLEMS) if several else PROBLEMS)
    return 0


def find(call: Call) -> int:
    """``problems find``: the problems whose instance stands in a text, or what happened around a time.

    Raises:
        UsageError: neither a text nor a time is given, or what goes with a time comes without one.
        RunwatchError: nothing is found; what was searched is told.
    """
    given = call.options
    if given.at is not None:
        from runwatch.commands.around import find_around

        return find_around(call)
    if given.within is not None or given.tz is not None:
        raise UsageError("--within and --tz go with --at", hint="For example --at 2026-11-22T03:10 --within 5m")
    if given.text is None:
        raise UsageError("TEXT or --at is missing", hint="Six or more characters of an instance are enough as TEXT.")
    found, kept, without = _search(call, given.text)
    if not found:
        raise RunwatchError(
            "No problem that was met from this machine has that instance",
            detail=_searched(kept, without),
            hint="Six or more characters of an instance are enough; '-' reads a whole mail from standard input.",
        )
    _print(call, found)
    return 0


def show(call: Call) -> int:
    """``problems show``: one problem, with what it means and what to do next."""
    found, kept, without = _search(call, call.options.instance)
    if not found:
        raise RunwatchError(
            "No problem that was met from this machine has that instance",
            detail=_searched(kept, without),
            hint="'runwatch problems list' shows all.",
        )
    instances = list(dict.fromkeys(entry.instance or "" for entry in found))
    if len(instances) > 1:
        raise UsageError("More than one problem matches", detail="\n".join(instances), hint="Give more of the id.")
    if call.options.bundle is not None:
        from runwatch.commands.bundles import write_bundle

        write_bundle(call, found[0])
    Printer(call, load_settings(call).settings, PROBLEMS).record(found[0], found[0].raw)
    return 0


def _search(call: Call, text: str) -> tuple[list[ProblemEntry], int, str]:
    """What was found in the journal and in the local service's store, how many the journal has, and why not the store.

    A problem that both have is one, with the cause that the service keeps of it.
    """
    from runwatch.commands.around import find_answered

    async def read() -> tuple[list[ProblemLine], int]:
        async with open_journal(call) as journal:
            return await journal.find(wanted), await journal.count_problems()

    wanted = call.read_input("-").decode("utf-8", "replace") if text == "-" else text
    lines, kept = asyncio.run(read())
    answered, without = find_answered(call, wanted)
    return with_answered([_entry(line) for line in lines], answered), kept, without


def _searched(kept: int, without: str) -> str:
    """What was looked through."""
    store = "its own store was searched too" if not without else f"its own store was not searched: {without}"
    return f"searched: the {kept} problems of this machine's journal; of the local service {store}"


def _print(call: Call, entries: Sequence[ProblemEntry], spec: ResourceSpec[Any] = PROBLEMS) -> None:
    Printer(call, load_settings(call).settings, spec).records([dict(entry.raw) for entry in entries])


def _entry(line: ProblemLine) -> ProblemEntry:
    return problem_entry(
        line.problem,
        time=line.at,
        profile=line.profile,
        origin=line.origin,
        operation=line.operation,
        method=line.method,
        path=line.path,
        key=line.key,
        attempt=line.attempt,
    )


def explain(call: Call) -> int:
    """``problems explain``: what a code or reason means; needs neither settings nor a service."""
    word = call.options.code
    found = explaining.all_explanations() if word is None else explaining.explain_word(word)
    if word is not None and not any(item.is_known for item in found):
        known = [str(item.word) for item in explaining.all_explanations()]
        guess = closest_word(word, known)
        raise UsageError(
            f"'{word}' is neither an error code nor a reason that runwatch knows",
            detail=f"the nearest is {guess}" if guess else None,
            hint="'runwatch problems explain' lists all of them.",
        )
    values: list[dict[str, Any]] = [_as_json(item) for item in found]
    output = call.output
    if output.form == "json":
        output.json(values)
    elif output.form == "ndjson":
        for value in values:
            output.json(value, indent=None)
    elif output.form == "csv":
        from runwatch.records.record import Record
        from runwatch.view.plain import csv_lines

        output.text("".join(f"{line}\n" for line in csv_lines(Record, values)))
    else:
        output.text("\n".join(_paragraph(item) for item in found))
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
