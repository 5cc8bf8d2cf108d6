"""The pages of the manual, as text or as sections.

A page is read on demand, which raises :class:`OSError` if it is missing from the installation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import runwatch
from runwatch.base.text import cell_width
from runwatch.view.detail.sections import DetailLine, DetailSection, text_line
from runwatch.view.manual.markdown import Block, Heading, Paragraph, layout_block, parse_markdown, select_matches
from runwatch.view.text.glyphs import UNICODE, Glyphs
from runwatch.view.text.safe_text import SafeText, block, line

TOPICS: Final[Mapping[str, str]] = {
    "operators": "a tour: watch runs, see why one failed, start it again",
    "reviewers": "a tour: templates, blockers, receipts and reports",
    "support": "a tour: problems, times, support bundles",
    "web": "the console in a browser, for users without a terminal",
    "keys": "every key of the console",
    "filters": "the filter language, and the fields of each list",
    "settings": "every setting, with its values",
    "commands": "every command with its options, and the exit codes",
    "live-runs": "runs with a model of this machine or of a provider",
    "webhooks": "notices of ended runs: signatures, attempts, replay",
    "local-service": "running it, its data, backup, removal",
    "team-service": "the service on PostgreSQL",
    "security": "what is protected against whom, and what is not",
    "interface": "the HTTP interface as runwatch reads it",
    "decisions": "rules that runwatch sets for itself",
    "measurements": "promises and how they are tested; speed and memory",
    "changes": "what is new in each version",
}
"""Description of each page by name, in list order."""

MAX_FOUND: Final = 100
"""Maximum number of paragraphs and tables that a search shows."""

DIRECTORY: Final = Path(runwatch.__file__).parent / "manual"
"""Location of the pages, in a checkout and in an installation."""


@cache
def page_blocks(topic: str, glyphs: Glyphs = UNICODE) -> tuple[Block, ...]:
    """Read the page of one of the :data:`TOPICS`."""
    return tuple(parse_markdown(glyphs.plain((DIRECTORY / f"{topic}.md").read_text("utf-8"))))


def page_text(topic: str, width: int) -> SafeText:
    """Render a page as plain text for a terminal of ``width`` columns."""
    made: list[str] = []
    before: Block | None = None
    for item in page_blocks(topic):
        rows = layout_block(item, width)
        if isinstance(item, Heading):
            rule = _RULES.get(item.level)
            made += ["", *rows, *([rule * max(map(cell_width, rows))] if rule else [])]
        else:
            is_close = _is_next_item(before, item) or (isinstance(before, Heading) and before.level > 2)
            made += rows if is_close else ["", *rows]
        before = item
    return block("\n".join(made).strip("\n") + "\n")


def page_sections(topic: str, width: int, glyphs: Glyphs = UNICODE) -> list[DetailSection]:
    """Return a page as sections for the console, one for each heading. Only code is wider than ``width`` cells."""
    made: list[DetailSection] = []
    title, lines = line(topic), list[DetailLine]()
    before: Block | None = None
    for item in page_blocks(topic, glyphs):
        if isinstance(item, Heading):
            made += [DetailSection(title, tuple(lines))] if before is not None else []
            title, lines = line(item.text), []
        else:
            if lines and not _is_next_item(before, item):
                lines.append(_EMPTY)
            lines.append(_line(item, width))
        before = item
    return [*made, DetailSection(title, tuple(lines))]


@dataclass(frozen=True, slots=True)
class ManualLink:
    """A link to a heading of the manual, empty for the beginning of the page, or to the line below it that has these
    words in lower case.
    """

    topic: str
    heading: SafeText
    words: tuple[str, ...] = ()


def topics_section() -> DetailSection:
    return DetailSection(
        line("Pages of the manual"),
        tuple(text_line(name, about, target=ManualLink(name, line(""))) for name, about in TOPICS.items()),
    )


def search_manual(text: str, width: int, limit: int = MAX_FOUND, *, glyphs: Glyphs = UNICODE) -> list[DetailSection]:
    """Return the paragraphs and table rows of all pages that contain every word, in any order and ignoring case, under
    their page and heading.
    """
    words = text.casefold().split()
    found: list[DetailSection] = []
    for topic in TOPICS:
        heading = line("")
        lines: list[DetailLine] = []
        for item in (*page_blocks(topic, glyphs), Heading(1, "")):
            if isinstance(item, Heading):
                if lines:
                    found.append(DetailSection(line(f"{topic}: {heading}"), tuple(lines)))
                heading, lines = line(item.text), []
            elif limit and (hit := select_matches(item, words)) is not None:
                lines.append(_line(hit, width, ManualLink(topic, heading, tuple(words))))
                limit -= 1
    return found


def _line(item: Block, width: int, target: object = None) -> DetailLine:
    return DetailLine(line(""), block("\n".join(layout_block(item, width))), target=target)


def _is_next_item(before: Block | None, item: Block) -> bool:
    return isinstance(item, Paragraph) and isinstance(before, Paragraph) and bool(item.mark and before.mark)


_RULES: Final = {1: "=", 2: "-"}
_EMPTY: Final = text_line("", "")
