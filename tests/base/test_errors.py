"""The drawing of the errors is the tree of the errors."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import runwatch
from runwatch.base import errors
from runwatch.base.errors import SettingsError

ENTRY = re.compile(r"(?P<lead>[│├└─ ]*)(?P<name>[A-Z]\w+)(?: {2,}(?P<text>.+))?$")
WITH_PARENT = re.compile(r"^ *class \w+\((?!Protocol|Enum|StrEnum|IntEnum|NamedTuple|TypedDict)", re.MULTILINE)


def drawn() -> dict[str, str]:
    """Every class in the drawing with its parent."""
    assert errors.__doc__ is not None
    parents: dict[str, str] = {}
    path: list[str] = []
    for line in errors.__doc__.split("::", 1)[1].splitlines():
        entry = ENTRY.match(line.removeprefix("    "))
        if not line.startswith("    ") or entry is None:
            continue
        depth = len(entry["lead"]) // 4
        del path[depth:]
        parents[entry["name"]] = path[-1] if path else "Exception"
        path.append(entry["name"])
    return parents


@cache
def real() -> dict[str, ast.ClassDef]:
    """The definition of every class of the tree, anywhere in the package."""
    found: dict[str, ast.ClassDef] = {}
    texts = [path.read_text("utf-8") for path in sorted(Path(runwatch.__path__[0]).rglob("*.py"))]
    # To parse a module takes long, and most have no class with a parent.
    classes = [
        node
        for text in texts
        if WITH_PARENT.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    ]
    while True:
        more = {
            node.name: node
            for node in classes
            if node.name not in found and (node.name == "RunwatchError" or parent_of(node) in found)
        }
        if not more:
            return found
        found |= more


def parent_of(node: ast.ClassDef) -> str:
    return ast.unparse(node.bases[0]).rpartition(".")[2] if node.bases else ""


def test_the_drawing_shows_every_error_under_its_parent() -> None:
    assert drawn() == {name: parent_of(node) for name, node in real().items()}
    assert len(drawn()) > 10


def test_every_error_says_what_it_means() -> None:
    assert [name for name, node in real().items() if not ast.get_docstring(node)] == []


def test_an_error_reads_as_its_title_with_its_detail() -> None:
    assert str(SettingsError("The file is broken")) == "The file is broken"
    error = SettingsError("The file is broken", detail="line 3", hint="Mend it.", support_id="i-1", retryable=True)
    assert str(error) == "The file is broken: line 3"
    assert (error.title, error.hint, error.support_id, error.retryable) == (
        "The file is broken", "Mend it.", "i-1", True,
    )  # fmt: skip
