"""The manual: its pages follow from the code where they can, and every reference in the repository leads somewhere."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from runwatch.view.manual.markdown import CodeBlock, Heading, Paragraph, parse_markdown
from runwatch.view.manual.pages import TOPICS
from tests.make_manual import COMMAND, FILES

ROOT: Final = Path(__file__).resolve().parents[1]
DIRECTORY: Final = ROOT / "src" / "runwatch" / "manual"
"""The pages in the source tree: an installed wheel keeps the man page elsewhere and has no pictures."""

PAGES: Final = sorted(DIRECTORY.glob("*.md"))
DOCUMENTS: Final = [ROOT / "README.md", *PAGES, *sorted((ROOT / ".github").glob("*.md"))]
SOURCES: Final = sorted(
    [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *ROOT.glob("*.toml"), *ROOT.glob("themes/*.toml")]
)

NOT_YET: Final[tuple[str, ...]] = ()
"""Paths that still cite documents outside the repository. Remove a path when it is done; empty holds everywhere."""

OUTSIDE: Final = re.compile(
    r"wire[ -]reference|\bDESIGN\b|\bHOUSE\b|\b(?:console|engineering)[ -]anchors|\banchors [A-D]\d"
    r"|[Ss]pecification, (?:[A-Z]|rule|catalog_row)|\((?:the )?specification[;,)]"
)
"""What a citation of such a document looks like, on one line."""

CITATION: Final = re.compile(r"\(manual: ([^()]*)\)")
CITED: Final = re.compile(r'(?:manual: )?([a-z-]+), ("[^"]+"(?:, "[^"]+")*)')


def in_one_line(text: str) -> str:
    """A source in one line, without the marks of comments, so that a citation may be broken over lines."""
    return re.sub(r"\s*\n\s*(?:# ?)?", " ", text)


def headings(path: Path) -> list[str]:
    """The headings of a document, as they are read."""
    return [block.text for block in parse_markdown(path.read_text("utf-8")) if isinstance(block, Heading)]


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def citations() -> Iterator[tuple[Path, str]]:
    """Every citation of the manual in sources, with its file."""
    for path in SOURCES:
        if path != Path(__file__):
            for found in CITATION.finditer(in_one_line(path.read_text("utf-8"))):
                yield path, found[1]


@pytest.mark.parametrize("name", FILES)
def test_a_page_that_follows_from_the_code_is_up_to_date(name: str) -> None:
    assert (DIRECTORY / name).read_text("utf-8") == FILES[name](), f"{name} differs from the code; run: {COMMAND}"


def test_every_page_is_a_topic_and_every_topic_a_page() -> None:
    assert [path.stem for path in PAGES] == sorted(TOPICS)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_has_one_title_unique_headings_and_only_what_can_be_laid_out(path: Path) -> None:
    text = path.read_text("utf-8")
    blocks = parse_markdown(text)
    levels = [block.level for block in blocks if isinstance(block, Heading)]
    assert isinstance(blocks[0], Heading)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert [name for name, count in Counter(headings(path)).items() if count > 1] == []
    prose = "\n".join(block.text for block in blocks if isinstance(block, Paragraph))
    assert not re.search(r"(?m)^(?:>|\* |\+ |<[a-z])", prose)
    assert not re.search(r"(?m)^ +(?:- |\d+\. )", re.sub(r"(?s)```.*?```", "", text))
    assert text.count("```") == 2 * sum(isinstance(block, CodeBlock) for block in blocks)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_that_people_write_has_no_line_longer_than_120_characters(path: Path) -> None:
    if path.name not in {*FILES, "measurements.md"}:
        lines = re.sub(r"(?s)```.*?```", "", path.read_text("utf-8")).splitlines()
        assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


def test_every_citation_names_a_page_and_a_heading() -> None:
    known = {path.stem: set(headings(path)) for path in PAGES}
    wrong = []
    for path, cited in citations():
        for part in cited.split(";"):
            found = CITED.fullmatch(part.strip())
            names = re.findall(r'"([^"]+)"', found[2]) if found else []
            if found is None or not set(names) <= known.get(found[1], set()):
                wrong.append(f"{path.relative_to(ROOT)}: (manual: {part.strip()})")
    assert wrong == []


def test_a_wrong_citation_is_noticed() -> None:
    assert CITED.fullmatch('interface, "Events", "Runs"')
    assert CITED.fullmatch('manual: decisions, "Event tail"')
    assert CITED.fullmatch("interface, Events") is None
    text = in_one_line(
        '"""Read (manual: interface,\n    "Run\n    states")."""\n# as in (manual: decisions,\n# "Store")\n'
    )
    assert CITATION.findall(text) == ['interface, "Run states"', 'decisions, "Store"']


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_and_picture_leads_somewhere(path: Path) -> None:
    text = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", path.read_text("utf-8"))
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, place = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        is_file = file.is_relative_to(ROOT) and file.is_file()
        if not is_file or (place and place not in map(anchor, headings(file))):
            wrong.append(target)
    assert wrong == []


def test_no_document_outside_the_repository_is_cited() -> None:
    wrong = []
    for path in [*SOURCES, *DOCUMENTS]:
        name = str(path.relative_to(ROOT))
        if path == Path(__file__) or name.startswith(NOT_YET):
            continue
        found = OUTSIDE.search(in_one_line(path.read_text("utf-8")))
        if found:
            wrong.append(f"{name}: {found[0]}")
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    ["(wire reference 2.1)", "(DESIGN 4)", "(console-anchors C4)", "(specification, Run)", "(specification; DESIGN)"],
)
def test_a_citation_of_another_document_is_recognized(text: str) -> None:
    assert OUTSIDE.search(text)


@pytest.mark.parametrize("text", ["a resource's specification, else nothing", "DESIGN_COMMANDS", "anchors are true"])
def test_other_uses_of_these_words_are_fine(text: str) -> None:
    assert not OUTSIDE.search(text)


def test_the_wheel_carries_the_man_page() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["shared-data"] == {"src/runwatch/manual/runwatch.1": "share/man/man1/runwatch.1"}
