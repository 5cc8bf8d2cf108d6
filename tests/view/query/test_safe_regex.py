"""Patterns that could run away are refused; all others are exactly Python's."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.view.query.safe_regex import (
    MAX_PATTERN_CHARACTERS,
    MAX_REACH,
    MAX_WORK,
    MIN_REACH,
    UnsafeRegexError,
    compile_safe_regex,
)
from tests.view.strategies import many

RUNAWAY = [
    "(a+)+$", "(a*)*$", "(a|a)*$", "(a|aa)+$", "(.*a){20}", "([a-zA-Z]+)*$", "(x+x+)+y", "((a+))+", "(?:a+)+b",
    "(a+){2,}b", "(a?){30}a", "(a{0,9})*b", "(a{1,5}b?)+c", "a?" * 66 + "a" * 66, "a*" * 20 + "b", r"\d+\w+\d+\w+\d+!",
    "(a|b)" + "(c|d)" * 30, "x{0,300}" * 4 + "y", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a{0,99999999})(b{0,99999999})c",
]  # fmt: skip

FOREIGN = [
    "(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(?P<n>a)", "(?P=n)", r"(a)\1", "(?i)a", "(?i:a)", "(?#c)", "(?>a)",
    "(?(1)a|b)", r"\x41", r"\N{DIGIT ONE}", r"\u0041", r"\Ax", r"x\Z",
]  # fmt: skip

BROKEN = [
    "(", ")", "a)", "(a", "[", "[a", "[^", "[]", "*", "+a", "?", "a**", "a{1}{2}", "^*", "\\", "a{5,2}", "[z-a]",
    "a{99999999999}", "[[a]", "[a--b]", "[a&&b]", "a|*",
]  # fmt: skip

FINE = [
    "", "a", "no_eligible", "^ex_", "a.b", "a.*b", "a.*b.*c", r"\d+", r"\bword\b", "[0-9a-f]{4}", "([0-9a-f]{4}-){3}",
    "(failed|expired)", "a|b|c|d", "(?:ab){2,5}", "a{x}", "{}", "a{,}", "[]a]", "[^]a]", r"[\]\[]", r"\.", r"\/", "ü+",
    "colou?r", "a+?b", "a++b", "(a)(b)(c)",
]  # fmt: skip


@pytest.mark.parametrize("source", [*RUNAWAY, *FOREIGN])
def test_what_could_run_away_or_is_not_understood_is_refused(source: str) -> None:
    with pytest.raises(UnsafeRegexError):
        compile_safe_regex(source)


@pytest.mark.parametrize("source", BROKEN)
def test_what_is_no_pattern_is_refused_with_reason_and_position(source: str) -> None:
    with pytest.raises(UnsafeRegexError) as caught:
        compile_safe_regex(source)
    assert caught.value.reason
    assert 0 <= caught.value.position <= len(source)


@pytest.mark.parametrize("source", FINE)
def test_ordinary_patterns_are_allowed_and_mean_what_they_mean_to_python(source: str) -> None:
    pattern = compile_safe_regex(source)
    for text in ("", "a", "xaab", "no_eligible_arms", "8f21-90cc-77ab-", "failed", "ABC word", "[]", "a{x}{}"):
        assert pattern.found_in(text) == (re.search(source, text, re.IGNORECASE) is not None)


def test_a_pattern_of_more_than_the_longest_length_is_refused() -> None:
    compile_safe_regex("a" * MAX_PATTERN_CHARACTERS)
    with pytest.raises(UnsafeRegexError, match="200 characters"):
        compile_safe_regex("a" * (MAX_PATTERN_CHARACTERS + 1))


def test_a_pattern_looks_at_less_of_a_text_the_more_ways_it_has() -> None:
    reaches = [compile_safe_regex(source).reach for source in ("a", "a.*b", "a.*b.*c", "a.*b.*c.*d")]
    assert reaches[0] == MAX_REACH
    assert reaches == sorted(reaches, reverse=True)
    assert reaches[-1] >= MIN_REACH
    assert compile_safe_regex("b").found_in("a" * (MAX_REACH - 1) + "b")
    assert not compile_safe_regex("b").found_in("a" * MAX_REACH + "b")


@many
@given(st.text("ab.*+?{},0123456789()[]|^$\\dw-: é", max_size=24))
def test_any_text_is_either_refused_or_a_pattern_without_a_warning(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            pattern = compile_safe_regex(source)
        except UnsafeRegexError:
            return
        assert MIN_REACH <= pattern.reach <= MAX_REACH


@many
@given(st.lists(st.sampled_from(["a", ".*", "a+", "b?", "[ab]*", r"\w{0,9}", "(a|b)", "(?:ab){2}"]), max_size=7))
def test_the_worst_case_of_an_allowed_pattern_stays_below_the_limit(parts: list[str]) -> None:
    source = "".join(parts)
    try:
        pattern = compile_safe_regex(source)
    except UnsafeRegexError:
        return
    opens = sum(part in {".*", "a+", "[ab]*"} for part in parts)
    ways = 2 ** parts.count("b?") * 10 ** parts.count(r"\w{0,9}") * 2 ** parts.count("(a|b)")
    layouts = 1
    for step in range(opens + 1):
        layouts = layouts * (pattern.reach - step) // (step + 1)
    assert layouts * ways <= MAX_WORK
