"""Help beside the keys: symbols, filters, pane states, files, and how the service works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch import __version__
from runwatch.base.paths import Paths
from runwatch.view.detail.sections import DetailLine, DetailSection
from runwatch.view.text.glyphs import ASCII, UNICODE, Role
from runwatch.view.text.key_names import KeyLookup, insert_keys
from runwatch.view.text.safe_text import line

FILTERS: Final = (
    ("word", "somewhere in the visible text"),
    ('"two words"', "the same, with spaces"),
    ("/re/", "a regular expression"),
    ("!term", "not"),
    ("a b", "both"),
    ("a | b", "one of them; a b binds more tightly"),
    ("field:x", "the field holds x"),
    ("field=x  field!=x", "it is exactly x, or is not"),
    ("cost>=0.01  age<10m", "more or less: numbers, ages and dates, with > >= < <="),
    ("has:field", "it has a value"),
    ("is:live", "a state: is:final, is:live, is:problem, is:test"),
    (":name", "a filter that the settings keep under a name"),
)
"""The grammar of filters (manual: decisions, "Interface conventions")."""

STATES: Final = (
    ("loading…", Role.QUIET, "The first answer is awaited."),
    ("updated 2s ago", Role.QUIET, "What is shown is as old as that. Everything is well."),
    ("reading", Role.QUIET, "A newer answer is awaited; what is shown stays."),
    ("stale 48s", Role.WARN, "The data is older than it should be. Rows are dimmed, and reading goes on."),
    (
        "offline",
        Role.BAD,
        "Nobody answers. Rows stay with their age; reading goes on by itself, {screen.refresh} reads now.",
    ),
    ("held 0:23", Role.WARN, "The service answered 429. Nothing is sent until the time is over."),
    (
        "not authorised",
        Role.BAD,
        "The key is not accepted, or may not do this. Nothing is read until {screen.refresh} is pressed.",
    ),
    ("not offered", Role.QUIET, "This service does not have such a list. The watch list stands in for it."),
    ("error", Role.BAD, "The answer was a problem. Its instance is in the list of problems, to be quoted."),
    ("partial", Role.WARN, "Something in the answer was no record. The rest is shown."),
    ("final", Role.QUIET, "The run has ended, and nothing will change any more."),
    ("PAUSED", Role.WARN, "You stopped it. What came in the meantime is counted."),
)
"""The states shown in the lower left of a frame (manual: decisions, "Interface conventions")."""

FACTS: Final = (
    (
        "Lists",
        "Runs and receipts are listed by the service. Where a service does not offer the list, the console shows the"
        " runs that were submitted or added here: {screen.add} adds ids, also pasted ones.",
    ),
    (
        "Events",
        "The events of a run are asked for again and again, once a second while something happens. Each is kept on this"
        " machine and shown once, however often it comes; a time without answers is drawn as a gap.",
    ),
    (
        "States",
        "Four states are final: completed, failed, cancelled and expired. Every other word means that the run is live,"
        " also a word nobody here knows; it is shown as it came.",
    ),
    (
        "Members",
        "A record may have members that nobody here knows. They are shown after the known ones, and none is hidden.",
    ),
    (
        "Problems",
        "Every refusal carries an instance: an id that is safe to quote, and by which support finds what happened."
        " {screen.copy} copies it, {screen.copy_menu} copies the whole block.",
    ),
    (
        "Waiting",
        "A 429 is never answered with another try: the console waits as long as the service says. A read is tried twice"
        " more when the network or the service fails; a write only with its idempotency key.",
    ),
    (
        "Lost answers",
        "A write whose answer never came may or may not have taken effect. It is kept on this machine, also over a"
        " restart: {app.outbox} or :outbox asks again with the same key and body, which never does it twice.",
    ),
    ("Test runs", "A test run calls no model, costs nothing and leaves a receipt. It has no result to read."),
    ("Receipts", "A receipt tells what was decided, tried and spent. It holds neither prompt nor output."),
    ("Totals", "A number with a plus is what was read so far; it stands alone only when the list was read to its end."),
    (
        "Cancelling",
        "Cancelling ends a run, but a call to a provider that is under way is not reversed, and may be charged.",
    ),
)
"""How the service works, as far as it matters to the user (manual: interface, "What the service does"). Keys are given
by action id.
"""


def legend_section() -> DetailSection:
    """Return the glyphs of both sets with their meanings."""
    marks = (
        ("live", Role.LIVE, "live, also in a state nobody knows"),
        ("good", Role.GOOD, "completed, eligible, ready, accepted"),
        ("bad", Role.BAD, "failed, blocked, rejected, a problem"),
        ("off", Role.OFF, "cancelled"),
        ("warn", Role.WARN, "expired, stale, held, no verdict"),
        ("unknown", Role.PLAIN, "not known"),
        ("nothing", Role.QUIET, "there is nothing"),
    )
    return DetailSection(
        line("Signs, and what stands for them with ASCII glyphs"),
        tuple(
            DetailLine(line(f"{getattr(UNICODE, name)}   {getattr(ASCII, name)}"), line(meaning), role)
            for name, role, meaning in marks
        ),
    )


def reference_sections(paths: Paths, key_of: KeyLookup) -> list[DetailSection]:
    """Return symbols, filters, pane states and files.

    Args:
        key_of: Returns the current key of an action.
    """
    return [
        legend_section(),
        DetailSection(line("Filters, for every list and for the events of runs"), _lines(dict(FILTERS))),
        DetailSection(
            line("States of a pane, in the lower left of its frame"),
            tuple(DetailLine(line(name), line(insert_keys(meaning, key_of)), role) for name, role, meaning in STATES),
        ),
        DetailSection(
            line("Places and version"),
            _lines(
                {
                    "settings": str(paths.settings_file),
                    "data": str(paths.data_dir),
                    "log": str(paths.log_file),
                    "version": f"runwatch {__version__}",
                }
            ),
        ),
    ]


def service_sections(key_of: KeyLookup) -> list[DetailSection]:
    """Return how the service works, with the current keys."""
    return [
        DetailSection(
            line("How the service works"), _lines({label: insert_keys(text, key_of) for label, text in FACTS})
        )
    ]


def search_sections(sections: list[DetailSection], text: str) -> list[DetailSection]:
    """Return the lines that contain all words of a text, ignoring case."""
    words = text.casefold().split()
    kept = (
        DetailSection(part.title, tuple(entry for entry in part.lines if _holds(entry, words))) for part in sections
    )
    return [part for part in kept if part.lines]


def _holds(entry: DetailLine, words: list[str]) -> bool:
    text = f"{entry.label} {entry.text} {entry.note}".casefold()
    return all(word in text for word in words)


def _lines(texts: Mapping[str, str]) -> tuple[DetailLine, ...]:
    return tuple(DetailLine(line(label), line(text)) for label, text in texts.items())
