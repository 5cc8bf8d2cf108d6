"""How the modules of the sources lean on each other: no import circle, imports in functions and for types included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src"


def module_files(root: Path) -> dict[str, Path]:
    """The modules below a directory by dotted name."""
    return {
        ".".join(parts[:-1] if parts[-1] == "__init__" else parts): path
        for path in sorted(root.rglob("*.py"))
        for parts in [path.relative_to(root).with_suffix("").parts]
    }


def imported_modules(tree: ast.AST, modules: Mapping[str, object]) -> Iterator[str]:
    """The modules of the project that a syntax tree imports anywhere, in a function or for types alone too.

    A package is left out where a module of it is named: its ``__init__`` runs, but holds a docstring alone.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, "the linter bans relative imports"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in modules:
                    yield full
                elif node.module in modules:
                    yield node.module


def import_graph(root: Path) -> dict[str, set[str]]:
    """What each module below a directory imports of the others."""
    files = module_files(root)
    return {
        name: set(imported_modules(ast.parse(path.read_text("utf-8")), files)) - {name} for name, path in files.items()
    }


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, each as a closed path that names its way round."""
    reached = {name: reachable(graph, name) for name in graph}
    found: list[list[str]] = []
    seen: set[str] = set()
    for name in sorted(graph):
        component = {other for other in reached[name] if name in reached[other]}
        if component and name not in seen:
            seen |= component
            found.append(shortest_way_round(graph, name, component))
    return found


def reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """The modules that a module imports, itself or through others."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached


def shortest_way_round(graph: Mapping[str, set[str]], start: str, component: set[str]) -> list[str]:
    """The shortest path from a module back to itself."""
    paths = [[start]]
    seen: set[str] = set()
    while True:
        path = paths.pop(0)
        for following in sorted(graph[path[-1]] & component):
            if following == start:
                return [*path, start]
            if following not in seen:
                seen.add(following)
                paths.append([*path, following])


def test_no_modules_import_each_other_in_a_circle() -> None:
    found = circles(import_graph(SOURCES))
    assert not found, "import circles:\n" + "\n".join(" -> ".join(circle) for circle in found)


def test_a_circle_through_a_function_and_a_type_is_found_and_named(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    for name, text in {
        "__init__": "",
        "cellar": "def fetch():\n    from house.attic import lamp\n    return lamp\n",
        "attic": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house import stairs\nlamp = 1\n",
        "stairs": "import house.cellar\n",
        "garden": "from house import attic\n",
    }.items():
        (package / f"{name}.py").write_text(text, "utf-8")
    assert circles(import_graph(tmp_path)) == [["house.attic", "house.stairs", "house.cellar", "house.attic"]]
