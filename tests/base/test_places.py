"""Where settings and data are."""

from __future__ import annotations

from pathlib import Path

import pytest

from runwatch.base.paths import find_paths


def test_the_environment_names_the_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    paths = find_paths({"RUNWATCH_CONFIG": "~/dot/settings.toml", "RUNWATCH_DATA_DIR": "data"})
    assert paths.settings_file == tmp_path / "dot" / "settings.toml"
    assert paths.data_dir == tmp_path / "data"
    inside = [paths.database, paths.log_file, paths.key_file, paths.local_service_dir]
    assert all(path.is_relative_to(tmp_path / "data") for path in inside)
    assert len(set(inside)) == 4


def test_without_it_the_platform_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    paths = find_paths({"RUNWATCH_CONFIG": "", "RUNWATCH_DATA_DIR": ""})
    assert paths.settings_file.is_relative_to(tmp_path)
    assert paths.settings_file.name == "settings.toml"
    assert paths.data_dir.is_relative_to(tmp_path)
    assert "runwatch" in paths.data_dir.parts
