"""Themes: every shipped one is readable, and a broken one is refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.style import Style

from runwatch.base.errors import SettingsError
from runwatch.tui.themes import (
    DEFAULT_THEME,
    LEAST_CONTRAST,
    PLAIN,
    contrast,
    load_theme,
    theme_directories,
    theme_names,
)
from runwatch.view.glyphs import Role

SHIPPED = theme_names(theme_directories())


def source_of(name: str) -> str:
    """The text of a shipped theme."""
    return (theme_directories()[-1] / f"{name}.toml").read_text("utf-8")


def write(directory: Path, name: str, text: str) -> Path:
    """A theme file of a person."""
    directory.mkdir(exist_ok=True)
    (directory / f"{name}.toml").write_text(text, "utf-8")
    return directory


def test_a_dark_and_a_light_theme_come_with_the_program() -> None:
    assert {"runwatch-dark", "runwatch-light"} <= set(SHIPPED)
    assert load_theme(DEFAULT_THEME, theme_directories()).dark
    assert not load_theme("runwatch-light", theme_directories()).dark


@pytest.mark.parametrize("name", SHIPPED)
def test_every_text_stands_out_from_every_ground(name: str) -> None:
    theme = load_theme(name, theme_directories())
    for word, above in theme.text.items():
        for under, below in theme.ground.items():
            assert contrast(above, below) >= LEAST_CONTRAST, f"{word} on {under}"


@pytest.mark.parametrize("name", SHIPPED)
def test_every_role_has_a_style_and_a_variable(name: str) -> None:
    theme = load_theme(name, theme_directories())
    for role in Role:
        assert theme.styles()[role].color is not None
        assert theme.variables()[f"role-{role}"] == theme.text[role]


def test_the_theme_without_colours_has_the_same_names_and_no_colour() -> None:
    theme = load_theme(DEFAULT_THEME, theme_directories())
    assert PLAIN.styles().keys() == theme.styles().keys()
    assert all(style.color is None and style.bgcolor is None for style in PLAIN.styles().values())
    assert theme.variables().keys() - PLAIN.variables().keys() <= {
        name for name in theme.variables() if name.startswith("scrollbar")
    }
    assert PLAIN.styles()["accent"] == Style(bold=True)


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#777777", 1.0),
        ("#ffffff", "#767676", 4.54),
        ("#767676", "#ffffff", 4.54),
    ],
)
def test_contrast_is_that_of_the_accessibility_guidelines(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.01)


def test_a_theme_of_a_person_replaces_a_shipped_one(tmp_path: Path) -> None:
    directory = write(tmp_path / "themes", DEFAULT_THEME, source_of("runwatch-light").replace("Light", "Mine"))
    assert load_theme(DEFAULT_THEME, theme_directories(directory)).title == "Mine"
    assert theme_names(theme_directories(directory)) == SHIPPED


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('live = "#4fd8e2"', 'live = "#111111"', "text.live on ground.background has a contrast of"),
        ('live = "#4fd8e2"', 'live = "cyan"', "text.live is no colour such as"),
        ('live = "#4fd8e2"', 'lively = "#4fd8e2"', "text.lively is not known"),
        ('live = "#4fd8e2"', "", "text.live is no colour such as"),
        ("dark = true", "", "dark is neither true nor false"),
        ('title = "Dark"', "title = 7", "title is no text"),
        ("[line]", "[lines]", "the table [line] is missing"),
        ("[line]", "[line", "cannot be read"),
    ],
)
def test_a_broken_theme_is_refused_with_the_reason(tmp_path: Path, old: str, new: str, reason: str) -> None:
    text = source_of("runwatch-dark")
    assert old in text
    directory = write(tmp_path / "themes", "mine", text.replace(old, new))
    with pytest.raises(SettingsError) as caught:
        load_theme("mine", theme_directories(directory))
    assert reason in str(caught.value)
    assert "mine.toml" in str(caught.value)


@pytest.mark.parametrize("name", ["nowhere", "../runwatch-dark", "", "Runwatch-Dark"])
def test_an_unknown_theme_is_told_with_those_there_are(name: str) -> None:
    with pytest.raises(SettingsError, match="Known themes: runwatch-dark, runwatch-light"):
        load_theme(name, theme_directories())
