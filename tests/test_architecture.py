"""The structure of the sources, held against its description: packages, rooms, circles, folders and names."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src"
ARCHITECTURE = SOURCES.parent / ".github" / "ARCHITECTURE.md"

MAX_MODULES = 15
ONE_EACH = {"records", "records/requests", "commands", "service/routes", "view/resources"}
"""Folders with one module for each resource or subcommand, which may hold more."""

APART = {"service": {"records", "base"}, "web": {"base"}}
"""Packages that run as separate processes, and what they import."""

SAME_ON_THE_WIRE = {"AgentLifecycle", "EndpointRequest"}
"""Two requests of the interface have a part of the same name."""


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


@cache
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


def drawn_layers(text: str) -> list[list[str]]:
    """The packages of the drawing in ARCHITECTURE.md, one list for each line that names some, from the top."""
    drawing = text.partition("```text\n")[2].partition("```")[0]
    lines = [re.findall(r"[a-z]+", line) for line in drawing.splitlines()]
    return [line for line in lines if line]


def rooms_of_table(text: str) -> dict[str, list[set[str]]]:
    """The rooms of each package that the table in ARCHITECTURE.md orders, from the top."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]+→[^|]+) \|$", text, re.MULTILINE)
    return {package: [set(layer.strip().split(", ")) for layer in rooms.split("→")] for package, rooms in rows}


def test_the_drawing_of_the_packages_is_what_the_imports_are() -> None:
    layers = drawn_layers(ARCHITECTURE.read_text("utf-8"))
    height = {package: len(layers) - number for number, layer in enumerate(layers) for package in layer}
    graph = import_graph(SOURCES)
    packages = {name.split(".")[1] for name in graph if name.count(".")} - {"__main__"}
    assert set(height) == packages
    wrong = [
        f"{name} imports {other}"
        for name, imported in graph.items()
        for other in imported
        if "." in name and "." in other and name.split(".")[1] != "__main__"
        for lower, upper in [(other.split(".")[1], name.split(".")[1])]
        if lower != upper
        if height[lower] >= height[upper] or lower not in APART.get(upper, {lower})
    ]
    assert not wrong


def test_the_table_of_rooms_is_what_the_linter_holds() -> None:
    settings = tomllib.loads((SOURCES.parent / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    held = {
        contract["containers"][0].removeprefix("runwatch."): [
            set(layer.split(" | ")) - {"__main__"} for layer in contract["layers"]
        ]
        for contract in settings["contracts"]
        if contract["type"] == "layers" and contract["containers"] != ["runwatch"]
    }
    told = rooms_of_table(ARCHITECTURE.read_text("utf-8"))
    assert {**held, "commands": [{"handlers"}, *held["commands"]]} == told


def test_no_folder_is_too_large_to_look_through() -> None:
    counts = Counter(path.parent for path in (SOURCES / "runwatch").rglob("*.py") if path.name != "__init__.py")
    found = {str(folder.relative_to(SOURCES / "runwatch")): count for folder, count in counts.items()}
    too_large = {folder: count for folder, count in found.items() if count > MAX_MODULES and folder not in ONE_EACH}
    assert not too_large


def test_a_public_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for name, path in module_files(SOURCES).items():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(name)
    shared = {name: modules for name, modules in homes.items() if len(modules) > 1}
    assert set(shared) == SAME_ON_THE_WIRE


def test_contributing_names_files_that_exist() -> None:
    text = (ARCHITECTURE.parent / "CONTRIBUTING.md").read_text("utf-8")
    paths = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_0-9]+\.(?:py|toml))?)`", text)
    root = SOURCES.parent
    assert len(paths) > 10
    missing = [
        path for path in paths if not any((base / path).exists() for base in (root, SOURCES, SOURCES / "runwatch"))
    ]
    assert not missing
    assert len(text.splitlines()) <= 60
