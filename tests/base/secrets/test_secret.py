"""A secret is shown only to code that asks for it by name."""

from __future__ import annotations

import copy
import logging
import pickle
import traceback
from dataclasses import dataclass

import pytest

from runwatch.base.secrets.secret import Secret

VALUE = "rw_live_0123456789abcdef"


@dataclass(frozen=True)
class Holder:
    name: str
    key: Secret


def test_only_reveal_hands_the_value_out() -> None:
    assert Secret(VALUE).reveal() == VALUE


@pytest.mark.parametrize(
    "shown",
    [
        repr(Secret(VALUE)),
        str(Secret(VALUE)),
        f"{Secret(VALUE)}",
        f"{Secret(VALUE)!r:>40}",
        f"{Secret(VALUE):>40}",
        "%s %r" % (Secret(VALUE), Secret(VALUE)),  # noqa: UP031
        "{}".format(Secret(VALUE)),  # noqa: UP032
        repr([Secret(VALUE)]),
        repr({"key": Secret(VALUE)}),
        repr(Holder("work", Secret(VALUE))),
        logging.LogRecord("a", 20, "b", 1, "%s", (Secret(VALUE),), None).getMessage(),
    ],
)
def test_no_way_of_printing_shows_a_part_of_it(shown: str) -> None:
    assert "Secret(•••)" in shown
    assert not any(VALUE[start : start + 4] in shown for start in range(len(VALUE) - 3))


def test_a_traceback_that_prints_locals_does_not_show_it() -> None:
    secret = Secret(VALUE)
    try:
        raise ValueError(secret)
    except ValueError as error:
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert "Secret(•••)" in shown
    assert VALUE not in shown


@pytest.mark.parametrize("copier", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_is_never_pickled_or_copied(copier: object) -> None:
    assert callable(copier)
    with pytest.raises(TypeError, match="never pickled"):
        copier(Secret(VALUE))


def test_it_has_no_dictionary_and_no_hash() -> None:
    assert not hasattr(Secret(VALUE), "__dict__")
    with pytest.raises(TypeError):
        hash(Secret(VALUE))


def test_equality_is_that_of_the_values() -> None:
    assert Secret(VALUE) == Secret(VALUE)
    assert Secret(VALUE) != Secret(VALUE + "0")
    assert Secret(VALUE) != VALUE
    assert Secret("\udcff") == Secret("\udcff")


def test_white_space_is_no_secret() -> None:
    assert not Secret("")
    assert not Secret(" \n")
    assert Secret("a")
