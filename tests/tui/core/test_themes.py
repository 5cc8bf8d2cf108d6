"""Themes: every shipped one is readable, and a broken one is refused with the reason."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style
from textual.app import App

import runwatch
from runwatch.base.errors import SettingsError
from runwatch.tui.core.themes import (
    DEFAULT_THEME,
    MIN_CONTRAST,
    PLAIN,
    compute_contrast,
    load_theme,
    theme_directories,
    theme_names,
)
from runwatch.view.text.glyphs import Role
from tests.support.cli import Cli
from tests.tui.colour_sight import SIGHTS, difference
from tests.tui.gallery import PAGES, Gallery

SHIPPED = tuple(name for name in theme_names(theme_directories()) if name != PLAIN.name)


HIGH_CONTRAST = 7.0
"""Contrast of text that people with weak sight read without help (WCAG 2, level AAA)."""

TOLD_APART = 12.0
"""Difference of two colours that people see side by side; the smallest that can be seen at all is about 2.3."""

FAR_APART = 60.0
"""Difference from which on two colours look different to everyone."""

LINES = frozenset("─━│┃┌┐└┘╭╮╰╯├┤┬┴┼▔▁▏▕█▉▊▋▌▍▎▂▃▄▅▆▇ ")
"""What lines and bars are made of; they need no contrast."""


def pairs(app: App[None]) -> Iterator[tuple[str, str, str]]:
    """Every text on the screen with its own colour and that of its ground, as ``#rrggbb``."""
    for strip in app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if set(text) <= LINES:
                continue
            assert style is not None
            assert style.color is not None, text
            assert style.bgcolor is not None, text
            assert not style.dim, text
            above, below = (f"{colour.get_truecolor().hex}" for colour in (style.color, style.bgcolor))
            yield (text, below, above) if style.reverse else (text, above, below)


def rounded(colour: str) -> str:
    """The colour that a terminal of 256 colours shows."""
    return Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex


def source_of(name: str) -> str:
    """The text of a shipped theme."""
    return (theme_directories()[-1] / f"{name}.toml").read_text("utf-8")


def write(directory: Path, name: str, text: str) -> Path:
    """A theme file of the user."""
    directory.mkdir(exist_ok=True)
    (directory / f"{name}.toml").write_text(text, "utf-8")
    return directory


@pytest.mark.exhaustive
def test_a_file_is_all_that_a_shipped_theme_takes(tmp_path: Path) -> None:
    copy = tmp_path / "runwatch"
    shutil.copytree(Path(runwatch.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(theme_directories()[-1], copy / "themes")
    for name in ("ember", "runwatch-mono"):
        write(copy / "themes", name, source_of("runwatch-dark").replace('title = "Dark"', f'title = "{name}"'))
    chosen = Cli(tmp_path, env={"PYTHONPATH": str(tmp_path)})("config", "set", "theme", "ember")
    assert (chosen.code, chosen.errors) == (0, "")
    modules = ("tests/tui/core/test_themes.py", "tests/tui/screens/settings/test_settings.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *modules],
        cwd=Path(__file__).parents[3], env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_a_theme_named_after_its_ground_has_it_and_comes_with_the_other() -> None:
    assert load_theme(DEFAULT_THEME, theme_directories()).dark
    for name in SHIPPED:
        kind, _, ground = name.rpartition("-")
        if ground in {"dark", "light"}:
            assert load_theme(name, theme_directories()).dark == (ground == "dark")
            assert {f"{kind}-dark", f"{kind}-light"} <= set(SHIPPED)


@pytest.mark.parametrize("sort", ["contrast", "colourblind"])
def test_the_program_brings_themes_for_weak_sight_and_for_colour_blindness(sort: str) -> None:
    assert any(sort in name for name in SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_text_stands_out_from_every_ground(name: str) -> None:
    theme = load_theme(name, theme_directories())
    for word, above in theme.text.items():
        for under, below in theme.ground.items():
            assert compute_contrast(above, below) >= MIN_CONTRAST, f"{word} on {under}"


@pytest.mark.parametrize("name", SHIPPED)
def test_the_selected_row_is_readable_in_a_terminal_of_256_colours(name: str) -> None:
    theme = load_theme(name, theme_directories())
    for word, above in theme.text.items():
        pair = (rounded(above), rounded(theme.ground["selection"]))
        assert compute_contrast(*pair) >= MIN_CONTRAST, word


@pytest.mark.parametrize("name", [name for name in SHIPPED if "contrast" in name])
def test_high_contrast_is_higher_than_what_every_theme_has(name: str) -> None:
    theme = load_theme(name, theme_directories())
    for word, above in theme.text.items():
        for under, below in theme.ground.items():
            assert compute_contrast(above, below) >= HIGH_CONTRAST, f"{word} on {under}"


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("name", [name for name in SHIPPED if "colourblind" in name])
def test_states_stay_apart_for_people_who_confuse_colours(name: str, sight: str) -> None:
    text = load_theme(name, theme_directories()).text
    for one, other in combinations((Role.GOOD, Role.BAD, Role.WARN, Role.LIVE, Role.OFF, Role.TEST), 2):
        assert difference(text[one], text[other], sight) >= TOLD_APART, f"{one} and {other}"
    assert difference(text[Role.GOOD], text[Role.BAD], sight) >= FAR_APART


def test_red_and_green_are_confused_in_a_theme_that_is_not_made_for_it() -> None:
    text = load_theme(DEFAULT_THEME, theme_directories()).text
    assert difference(text[Role.GOOD], text[Role.BAD], "deutan") < TOLD_APART


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", SHIPPED)
async def test_everything_that_is_drawn_stands_out_from_what_it_is_drawn_on(name: str, page: str) -> None:
    app = Gallery(page, name)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        await pilot.press("space", "down", "slash")
        await pilot.pause()
        drawn = list(pairs(app))
    assert drawn
    for text, above, below in drawn:
        assert compute_contrast(above, below) >= MIN_CONTRAST, f"{text!r}: {above} on {below}"


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
    assert theme.variables().keys() <= PLAIN.variables().keys()
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
    assert compute_contrast(one, other) == pytest.approx(ratio, abs=0.01)


def test_a_theme_of_the_user_replaces_a_shipped_one(tmp_path: Path) -> None:
    directory = write(tmp_path / "themes", DEFAULT_THEME, source_of("runwatch-light").replace("Light", "Mine"))
    assert load_theme(DEFAULT_THEME, theme_directories(directory)).title == "Mine"
    assert theme_names(theme_directories(directory)) == theme_names(theme_directories())


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('live = "#4fd8e2"', 'live = "#111111"', "text.live on ground.background has a contrast of"),
        ('live = "#4fd8e2"', 'live = "cyan"', "text.live is not a colour such as"),
        ('live = "#4fd8e2"', 'lively = "#4fd8e2"', "text.lively is not known"),
        ('live = "#4fd8e2"', "", "text.live is not a colour such as"),
        ("dark = true", "", "dark is neither true nor false"),
        ('title = "Dark"', "title = 7", "title is not text"),
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


def test_every_fault_is_named_with_its_line(tmp_path: Path) -> None:
    text = source_of("runwatch-light").replace('live = "', 'live = "x').replace("[line]", 'lively = "#000000"\n[line]')
    directory = write(tmp_path / "themes", "mine", text)
    lines = text.splitlines()
    live = next(number for number, row in enumerate(lines, 1) if row.startswith("live ="))
    lively = next(number for number, row in enumerate(lines, 1) if row.startswith("lively"))
    with pytest.raises(SettingsError) as caught:
        load_theme("mine", theme_directories(directory))
    assert f"mine.toml:{live}: text.live is not a colour" in str(caught.value)
    assert f"line {lively}: text.lively is not known" in str(caught.value)


def test_a_file_that_is_no_toml_is_named_with_its_line(tmp_path: Path) -> None:
    directory = write(tmp_path / "themes", "mine", 'title = "Mine"\ndark = perhaps\n')
    with pytest.raises(SettingsError, match=r"mine\.toml:2:\d+: is not valid TOML"):
        load_theme("mine", theme_directories(directory))


def test_the_theme_in_the_colours_of_the_terminal_can_be_chosen_and_replaced(tmp_path: Path) -> None:
    assert load_theme(PLAIN.name, theme_directories()) is PLAIN
    directory = write(tmp_path / "themes", PLAIN.name, source_of("runwatch-light"))
    assert load_theme(PLAIN.name, theme_directories(directory)).title == "Light"


@pytest.mark.parametrize("name", ["nowhere", "../runwatch-dark", "", "Runwatch-Dark"])
def test_an_unknown_theme_is_reported_with_those_there_are(name: str) -> None:
    known = ", ".join(theme_names(theme_directories()))
    with pytest.raises(SettingsError, match=f"Known themes: {known}"):
        load_theme(name, theme_directories())
