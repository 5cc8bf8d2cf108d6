"""Tests and the programs they start see nothing of the surrounding environment that could change them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runwatch.base.paths import find_paths
from tests.support.environment import clean_environment, is_foreign


@pytest.mark.parametrize(
    "name",
    [
        "RUNWATCH_API_KEY",
        "SOLVERAPI_BASE_URL",
        "HTTPS_PROXY",
        "no_proxy",
        "ALL_PROXY",
        "NO_COLOR",
        "FORCE_COLOR",
        "TMUX",
    ],
)
def test_a_variable_that_could_reach_in_is_foreign_and_taken_away(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert is_foreign(name)
    assert name not in clean_environment(tmp_path)


@pytest.mark.parametrize("name", ["PATH", "LANG", "PYTHONPATH", "VIRTUAL_ENV"])
def test_a_variable_that_programs_need_is_not_foreign(name: str) -> None:
    assert not is_foreign(name)


def test_every_place_of_a_test_is_its_own(tmp_path: Path) -> None:
    places = find_paths()
    assert places.data_dir.is_relative_to(tmp_path)
    assert places.settings_file.is_relative_to(tmp_path)
    assert Path(os.environ["HOME"]) == tmp_path


def test_more_variables_can_be_given(tmp_path: Path) -> None:
    assert clean_environment(tmp_path, {"NO_COLOR": "1"})["NO_COLOR"] == "1"
