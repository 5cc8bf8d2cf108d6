"""The manual as text and as sections."""

from __future__ import annotations

import pytest

from runwatch.base.text import cell_width
from runwatch.view.manual.markdown import CodeBlock
from runwatch.view.manual.pages import TOPICS, page_blocks, page_sections, page_text, search_manual, topics_section
from runwatch.view.text.glyphs import ASCII, TO_ASCII


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("width", [40, 76])
def test_a_page_fits_the_width(topic: str, width: int) -> None:
    code = {f"  {row}" for block in page_blocks(topic) if isinstance(block, CodeBlock) for row in block.lines}
    text = page_text(topic, width)
    assert [row for row in text.split("\n") if cell_width(row) > width and row not in code] == []
    rows = [row for part in page_sections(topic, width) for entry in part.lines for row in str(entry.text).split("\n")]
    assert [row for row in rows if cell_width(row) > width and row not in code] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_text_and_sections_have_the_same_words(topic: str) -> None:
    sections = page_sections(topic, 76)
    words = " ".join(f"{part.title} {' '.join(str(entry.text) for entry in part.lines)}" for part in sections).split()
    ruled = [word for word in page_text(topic, 76).split() if set(word) - {"=", "-"}]
    assert ruled == [word for word in words if set(word) - {"=", "-"}]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_has_an_ascii_form(topic: str) -> None:
    texts = [str(entry.text) for part in page_sections(topic, 76, ASCII) for entry in part.lines]
    assert {mark for mark in "".join(texts).translate(TO_ASCII) if not mark.isascii()} == set()


def test_paragraphs_are_set_apart_and_items_are_not() -> None:
    text = page_text("live-runs", 76)
    assert text.startswith("Live runs\n=========\n\nThe local service calls")
    assert "needs no `--model`.\n- The command removes a new connection" in text


def test_every_page_is_listed_and_leads_to_itself() -> None:
    lines = topics_section().lines
    assert [str(entry.label) for entry in lines] == list(TOPICS)
    assert [getattr(entry.target, "topic", None) for entry in lines] == list(TOPICS)


def test_a_search_looks_through_all_pages_and_names_page_and_heading() -> None:
    found = search_manual("MASTER key backup", 76)
    titles = [str(part.title) for part in found]
    assert "local-service: Backup" in titles
    assert all(
        all(
            word in " ".join(str(entry.text) for entry in part.lines).casefold() for word in ("master", "key", "backup")
        )
        for part in found
    )
    target = found[titles.index("local-service: Backup")].lines[0].target
    assert (getattr(target, "topic", ""), getattr(target, "heading", "")) == ("local-service", "Backup")
    assert search_manual("xylophone zeppelin", 76) == []


def test_a_search_is_bounded() -> None:
    assert sum(len(part.lines) for part in search_manual("e", 76, limit=5)) == 5
