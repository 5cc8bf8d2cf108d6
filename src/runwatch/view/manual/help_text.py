"""Help beside the keys: symbols, filters, pane states, files, and how the service works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch import __version__
from runwatch.base.memory import resident_bytes
from runwatch.base.paths import Paths
from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.query.parser import FILTER_FORMS
from runwatch.view.text.format import byte_size
from runwatch.view.text.glyphs import ASCII, UNICODE, Glyphs, Role
from runwatch.view.text.key_names import KeyLookup, insert_keys
from runwatch.view.text.safe_text import line

STATES: Final = (
    ("loading…", Role.QUIET, "Waiting for the first response."),
    ("updated 2s ago", Role.QUIET, "The data is this old. All is well."),
    ("reading", Role.QUIET, "Reading again; the data shown stays."),
    ("updated 2m ago", Role.WARN, "In yellow: older than it should be. Rows are dimmed; the console keeps reading."),
    (
        "offline",
        Role.BAD,
        "The service does not respond. Rows stay visible with their age. The console retries automatically;"
        " {screen.refresh} retries now.",
    ),
    ("held 0:23", Role.WARN, "The service responded with 429. Nothing is sent until the wait is over."),
    (
        "not authorised",
        Role.BAD,
        "The key is not accepted, or may not do this. Nothing is read until {screen.refresh} is pressed.",
    ),
    ("not offered", Role.QUIET, "This service does not have this list. The watch list is shown instead."),
    ("error", Role.BAD, "The response was a problem. The list of problems has its instance id."),
    ("partial", Role.WARN, "An item in the response was not a record. The rest is shown."),
    ("final", Role.QUIET, "The run has ended and will not change."),
    (
        "not read since 14:05",
        Role.BAD,
        "The service does not respond since then. What is shown, also that a run is live, is from before.",
    ),
    ("no event yet", Role.QUIET, "The service has said that there is none; before that it is loading…"),
)
"""The states shown in the lower left of a frame (manual: decisions, "Interface conventions")."""

UPPER_STATES: Final = (
    ("follow", Role.LIVE, "The newest event stays in sight."),
    ("PAUSED by scrolling", Role.WARN, "Events are counted and not followed; {tail.follow} follows them again."),
    ("PAUSED by {tail.follow}", Role.WARN, "You stopped following; the same key follows again."),
    ("PAUSED by {screen.pause}", Role.WARN, "You paused it; new events are counted. The same key resumes it."),
    ("ended", Role.QUIET, "The run has ended, and no further event comes."),
    (
        "2 ended unseen",
        Role.QUIET,
        "On the wall and in the tail of all live runs: so many began and ended between two reads of the list of runs."
        " Runs lists them.",
    ),
)
"""The states shown in the upper edge of a frame, or on the wall in the line above the tiles."""

FACTS: Final = (
    (
        "Lists",
        "The service lists runs and receipts. If it does not offer a list, the console shows the runs submitted or"
        " added here; {screen.add} adds ids, also from pasted text.",
    ),
    (
        "Events",
        "The console reads the events of a live run about once a second. Each event is stored on this machine and"
        " shown once; a time without responses is drawn as a gap.",
    ),
    (
        "States",
        "Four states are final: completed, failed, cancelled and expired. Any other state means that the run is live,"
        " also one that runwatch does not know; it is shown as the service sent it.",
    ),
    (
        "Fields",
        "A record may have fields that runwatch does not know. All of them are shown after the known ones.",
    ),
    (
        "Problems",
        "Every refusal has an instance id, which is safe to quote and lets support find what happened. {screen.copy}"
        " copies it, {screen.copy_menu} copies the whole block. In the list {screen.filter} finds a problem by its"
        " instance, its title, its detail and its message for each field.",
    ),
    (
        "Waiting",
        "The console never retries after a 429: it waits as long as the service says. A read is tried twice more if"
        " the network or the service fails; a write only if it has an idempotency key.",
    ),
    (
        "Unconfirmed writes",
        "A write whose response was lost may or may not have taken effect. It is stored on this machine, also over a"
        " restart: {app.outbox} or :outbox retries it with the same key and body, so it never takes effect twice.",
    ),
    (
        "Test runs",
        "A test run calls no model, costs nothing and leaves a receipt. It has no result.",
    ),
    (
        "Receipts",
        "A receipt says what was decided, tried and spent. It contains neither prompt nor output.",
    ),
    (
        "Totals",
        "A number with a plus counts what was read so far. Without a plus, the list was read to its end.",
    ),
    (
        "Cancelling",
        "Cancelling ends a run, but a provider call already under way is not reversed and may be charged.",
    ),
)
"""How the service works, as far as it matters to the user (manual: interface, "What the service does"). Keys are given
by action id.
"""

_OWN_MARKS: Final = {
    "▲": "beside a heading: sorted by it, the smallest or oldest first",
    "▼": "beside a heading: sorted by it, the largest or newest first",
    "▸": "before a row or line: selected",
    "■": "before a row: marked",
    "‹": "in the head of a list: columns are hidden at the left",
    "›": "in the head of a list: columns are hidden at the right; after a value: a link, which enter opens",
    "±": "on a pin: changed since you looked at it",
}


def legend_section(glyphs: Glyphs) -> DetailSection:
    """Return the glyphs with their meanings; beside those in Unicode, also their ASCII forms."""
    marks = (
        ("live", Role.LIVE, "live, also in an unknown state"),
        ("good", Role.GOOD, "completed, eligible, ready, accepted"),
        ("bad", Role.BAD, "failed, blocked, rejected, a problem"),
        ("off", Role.OFF, "cancelled, disabled"),
        ("warn", Role.WARN, "expired, old, held, no verdict"),
        ("unknown", Role.PLAIN, "not known; such a run counts as live"),
        ("nothing", Role.QUIET, "empty"),
        ("ellipsis", Role.PLAIN, "text is cut here"),
        ("at_least", Role.PLAIN, "this amount or more, because a part is unknown"),
        ("again", Role.PLAIN, "tried again"),
        ("going_on", Role.PLAIN, "at the end of a bar: going on"),
    )
    sets = (UNICODE, ASCII) if glyphs is UNICODE else (glyphs,)
    # Two marks may have one form in ASCII, and tell themselves apart by where they stand.
    own: dict[str, list[str]] = {}
    for mark, meaning in _OWN_MARKS.items():
        own.setdefault("   ".join(each.plain(mark) for each in sets), []).append(meaning)
    return DetailSection(
        line("Symbols, and their ASCII forms" if len(sets) > 1 else "Symbols"),
        tuple(
            text_line("   ".join(getattr(each, name) for each in sets), meaning, role) for name, role, meaning in marks
        )
        + tuple(text_line(label, "; ".join(meanings)) for label, meanings in own.items()),
    )


def reference_sections(paths: Paths, key_of: KeyLookup, glyphs: Glyphs) -> list[DetailSection]:
    """Return symbols, filters, pane states, files, and the memory in use."""
    return [
        legend_section(glyphs),
        DetailSection(line("Filters, for every list and for events"), _lines(dict(FILTER_FORMS))),
        *(
            DetailSection(
                line(title),
                tuple(
                    text_line(insert_keys(name, key_of), insert_keys(meaning, key_of), role)
                    for name, role, meaning in states
                ),
            )
            for title, states in (
                ("States of a pane, in the lower left of its frame", STATES),
                ("States of a pane, above it", UPPER_STATES),
            )
        ),
        DetailSection(
            line("Files, version and memory"),
            _lines(
                {
                    "settings": str(paths.settings_file),
                    "data": str(paths.data_dir),
                    "log": str(paths.log_file),
                    "version": f"runwatch {__version__}",
                    "memory": f"{byte_size(resident_bytes())} used by this console",
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
    return tuple(text_line(label, text) for label, text in texts.items())
