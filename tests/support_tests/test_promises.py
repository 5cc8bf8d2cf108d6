"""The manual's table of promises names tests that exist, and their results."""

from __future__ import annotations

import ast

import pytest

from tests.promises import (
    BEGIN,
    END,
    PAGE,
    PROMISES,
    ROOT,
    Promise,
    Result,
    put_between_marks,
    read_report,
    read_results,
    table,
)

IDS = sorted({test for promise in PROMISES for test in promise.tests})


@pytest.mark.parametrize("test", IDS)
def test_a_named_test_exists(test: str) -> None:
    path, _, name = test.partition("::")
    assert (ROOT / path).exists()
    if name:
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        assert name in functions


def marks_all_exhaustive(node: ast.stmt) -> bool:
    """Whether a statement leaves its module out of the short run."""
    return (
        isinstance(node, ast.Assign)
        and ast.unparse(node).startswith("pytestmark")
        and "exhaustive" in ast.unparse(node)
    )


def short_tests(test: str) -> list[str]:
    """Return the functions of a file, a folder or a single test that have a case in the short run."""
    path, _, name = test.partition("::")
    files = sorted((ROOT / path).rglob("test_*.py")) if (ROOT / path).is_dir() else [ROOT / path]
    modules = [ast.parse(file.read_text("utf-8")).body for file in files]
    nodes = [node for module in modules if not any(map(marks_all_exhaustive, module)) for node in module]
    return [
        node.name
        for node in nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (node.name == name if name else node.name.startswith("test_"))
        and not any(ast.unparse(mark) == "pytest.mark.exhaustive" for mark in node.decorator_list)
    ]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.promise)
def test_every_promise_has_a_test_in_the_short_run(promise: Promise) -> None:
    assert [name for test in promise.tests for name in short_tests(test)]


def test_every_promise_that_the_manual_explains_has_its_tests() -> None:
    _, _, part = PAGE.read_text("utf-8").partition("## Promises\n")
    rows = [line.split("|")[1].strip() for line in part.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    said = [row for row in rows if row != "Promise"]
    assert len(said) >= 6
    assert {f"{row.rstrip('.')}." for row in said} <= {promise.promise for promise in PROMISES}


def test_no_test_of_faults_is_left_out() -> None:
    files = {f"tests/faults/{file.name}" for file in (ROOT / "tests" / "faults").glob("test_*.py")}
    assert files <= {test.partition("::")[0] for test in IDS}


def test_no_promise_is_made_twice() -> None:
    assert len({promise.promise for promise in PROMISES}) == len(PROMISES)


@pytest.mark.parametrize(
    ("counts", "result", "holds"),
    [
        ('tests="7" failures="0" errors="0" skipped="0" time="1.5"', Result(7, 7, 1.5), True),
        ('tests="7" failures="1" errors="1" skipped="0" time="1.5"', Result(5, 7, 1.5), False),
        ('tests="7" failures="0" errors="0" skipped="1" time="1.5"', Result(6, 7, 1.5), False),
        ('tests="0" failures="0" errors="0" skipped="0" time="0"', Result(0, 0, 0), False),
    ],
)
def test_a_promise_holds_when_all_its_tests_ran_and_passed(counts: str, result: Result, holds: bool) -> None:
    read = read_report(f"<testsuites><testsuite {counts}/></testsuites>")
    assert read == result
    assert read.holds is holds
    assert str(read).startswith("**") is not holds


def test_the_table_is_between_its_marks_and_replaces_the_one_before() -> None:
    text = table([(Promise("It holds.", "Tried.", ("tests/x.py",)), Result(2, 2, 3))])
    assert "|  | It holds. | Tried. | 2 of 2 passed in 3 s |" in text
    once = put_between_marks(f"before\n{BEGIN}\nold\n{END}\nafter\n", text)
    assert once == f"before\n{BEGIN}\n{text}{END}\nafter\n"
    assert put_between_marks(once, text) == once


def test_a_page_without_marks_is_left_alone() -> None:
    with pytest.raises(ValueError, match="has no"):
        put_between_marks("nothing", "text")


def test_the_results_of_a_page_are_read_again() -> None:
    text = table([(PROMISES[0], Result(2, 2, 3)), (PROMISES[4], "–")])
    assert read_results(f"| 9 | x | y | z |\n{BEGIN}\n{text}{END}\n| 8 | x | y | z |\n") == {
        1: "2 of 2 passed in 3 s",
        5: "–",
    }


def test_every_promise_of_the_manual_has_a_result_and_holds() -> None:
    results = read_results(PAGE.read_text("utf-8"))
    assert set(results) == set(range(1, len(PROMISES) + 1))
    assert [number for number, result in results.items() if "passed in" not in result or result.startswith("**")] == []
