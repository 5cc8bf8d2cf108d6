"""JSON in and out without a changed digit."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.json import DECODER, DuplicateMemberError, ExactNumber, dumps, encode_body, loads, loads_strict

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=20,
)  # fmt: skip


def digits(value: Any) -> Any:
    """The value with every number as its type and text, so that 1, 1.0 and true differ."""
    if isinstance(value, dict):
        return {name: digits(item) for name, item in value.items()}
    if isinstance(value, list):
        return [digits(item) for item in value]
    return value if isinstance(value, str) else (type(value).__name__, repr(value))


@given(VALUES, st.sampled_from([None, 2]))
def test_what_is_written_reads_back_the_same(value: Any, indent: int | None) -> None:
    assert digits(loads(dumps(value, indent=indent))) == digits(value)


@given(VALUES)
def test_what_is_written_is_ascii_without_a_control_byte(value: Any) -> None:
    written = dumps(value)
    assert written.isascii()
    assert written.isprintable()


@given(VALUES)
def test_other_readers_understand_what_is_written(value: Any) -> None:
    assert json.loads(dumps(value, indent=1)) == value


@pytest.mark.parametrize(
    "literal",
    [
        "0.10", "1e400", "-1E+5", "0.000000000000000000000000000001234567890123456789",
        "12345678901234567890.12345678901234567890", "1.0", "-0.0", "123456789012345678901234567890", "9" * 5000,
        "-" + "8" * 4301,
    ],
)  # fmt: skip
def test_a_number_keeps_its_digits(literal: str) -> None:
    assert dumps(loads(literal)) == literal
    assert dumps(loads(f'{{"usd":[{literal}]}}')) == f'{{"usd":[{literal}]}}'


def test_a_numeral_keeps_its_digits_over_copies() -> None:
    value = loads("[0.10]")
    assert dumps(copy.deepcopy(value)) == "[0.10]"
    assert dumps(pickle.loads(pickle.dumps(value))) == "[0.10]"
    assert ExactNumber("0.10") == 0.1


def test_a_lone_surrogate_and_delete_come_through() -> None:
    value = loads('["\\ud800", "\\u007f", "\\u0000\\u001b"]')
    assert value == ["\ud800", "\x7f", "\x00\x1b"]
    assert dumps(value) == '["\\ud800","\\u007f","\\u0000\\u001b"]'
    assert dumps({"\x7f": 1}) == '{"\\u007f":1}'


def test_readable_text_keeps_the_characters_of_people() -> None:
    assert dumps({"name": "Łódź 漢字"}, readable=True) == '{"name":"Łódź 漢字"}'


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "{", '{"a":1,}', "[1] [2]", "NaN", "[Infinity]", "-Infinity", "'a'", "01", "\ufeff{}", '"\n"',
        "[" * 100_000, '{"a":' * 100_000, "[" + "9" * 5000 + "," + "[" * 100_000, "[" + "9" * 5000 + ", NaN]",
    ],
)  # fmt: skip
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


def test_bytes_that_are_no_utf8_are_a_value_error() -> None:
    with pytest.raises(ValueError):
        loads(b'"\xff"')


def test_space_around_a_value_is_allowed() -> None:
    assert loads(b" \r\n\t{} \n") == {}


def test_a_value_is_decoded_from_the_middle_of_a_text() -> None:
    assert DECODER.raw_decode('xx{"a":0.10}yy', 2) == ({"a": 0.1}, 12)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_cannot_hold_is_refused(value: float) -> None:
    with pytest.raises(ValueError):
        dumps([value])


def test_a_value_without_a_json_form_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="set has no JSON form"):
        dumps({"a": {1, 2}})


def test_a_value_that_nests_too_deeply_is_not_written() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        dumps(value)


def test_a_body_is_compact_utf8_in_the_given_order() -> None:
    assert encode_body({"b": "ü", "a": [1, 2.5]}) == '{"b":"ü","a":[1,2.5]}'.encode()


def test_a_body_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ValueError):
        encode_body({"a": "\ud800"})


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "\\u0061": 2}}]', '{"a": 1' + "0" * 5000 + ', "a": 1}']
)
def test_two_members_of_one_name_are_refused_where_a_value_decides_something(text: str) -> None:
    with pytest.raises(DuplicateMemberError):
        loads_strict(text)
    loads(text)


@given(VALUES)
def test_strict_decoding_reads_everything_else_alike(value: Any) -> None:
    assert digits(loads_strict(dumps(value))) == digits(loads(dumps(value)))
