"""Themes: one TOML file each, read into colours for Textual's style sheets and for the lines our widgets draw.

``runwatch-dark.toml`` documents the form. Colour never carries meaning alone, so a theme without any
(:data:`PLAIN`, used where ``NO_COLOR`` asks for it) loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.style import Style
from textual.theme import Theme

from runwatch.base.errors import SettingsError
from runwatch.view.glyphs import Role

DEFAULT_THEME: Final = "runwatch-dark"
LEAST_CONTRAST: Final = 4.5
"""Contrast of text that people with weak sight can still read (WCAG 2, level AA)."""

ACCENT: Final = "accent"
FRAME: Final = "frame"

_GROUND: Final = ("background", "surface", "selection", "selection_quiet")
_TEXT: Final = (*(role.value for role in Role), ACCENT)
_LINE: Final = (FRAME,)
_DEFAULT: Final = "ansi_default"
# What Textual's own style sheets name under a theme of the terminal's colours, and ours on top.
_PLAIN_GROUND: Final = (
    "frame", "selection", "selection-quiet", "border", "border-blurred", "ansi-background", "ansi-foreground",
    "input-cursor-background", "input-cursor-foreground", "input-selection-background", "input-selection-foreground",
    "screen-selection-background", "screen-selection-foreground", "block-cursor-foreground", "block-cursor-background",
)  # fmt: skip
_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}\Z")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,40}\Z")


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme as its file has it.

    Attributes:
        name: The name of the file without its ending.
        title: One line for the list of themes.
        dark: Whether the ground is dark.
        ground: Colours that text stands on.
        text: Colours of text by role, and the accent.
        line: Colours of lines.
    """

    name: str
    title: str
    dark: bool
    ground: Mapping[str, str]
    text: Mapping[str, str]
    line: Mapping[str, str]

    @property
    def is_plain(self) -> bool:
        """Whether this is the theme without colours."""
        return not self.ground

    def variables(self) -> dict[str, str]:
        """What our style sheets name with a dollar sign, beside the names that Textual has itself."""
        if self.is_plain:
            return {
                **{f"role-{name}": _DEFAULT for name in _TEXT},
                **dict.fromkeys(_PLAIN_GROUND, _DEFAULT),
                "selection-style": "reverse",
                "selection-quiet-style": "bold",
                "button-style": "reverse",
                "input-cursor-text-style": "reverse",
            }
        return {
            **{f"role-{name}": colour for name, colour in self.text.items()},
            "frame": self.line[FRAME],
            "selection": self.ground["selection"],
            "selection-quiet": self.ground["selection_quiet"],
            "selection-style": "none",
            "selection-quiet-style": "none",
            "button-style": "bold",
            "border": self.text[ACCENT],
            "border-blurred": self.line[FRAME],
            "scrollbar": self.line[FRAME],
            "scrollbar-hover": self.text["quiet"],
            "scrollbar-active": self.text[ACCENT],
            "scrollbar-background": self.ground["background"],
            "scrollbar-background-hover": self.ground["background"],
            "scrollbar-background-active": self.ground["background"],
            "scrollbar-corner-color": self.ground["background"],
            "input-cursor-background": self.text["plain"],
            "input-cursor-foreground": self.ground["background"],
            "input-selection-background": self.ground["selection"],
        }

    def textual(self) -> Theme:
        """The theme as Textual takes it."""
        if self.is_plain:
            return Theme(
                self.name,
                primary=_DEFAULT,
                foreground=_DEFAULT,
                background=_DEFAULT,
                surface=_DEFAULT,
                panel=_DEFAULT,
                boost=_DEFAULT,
                ansi=True,
                variables=self.variables(),
            )
        text, ground = self.text, self.ground
        return Theme(
            self.name,
            primary=text[ACCENT],
            secondary=text["test"],
            accent=text[ACCENT],
            warning=text["warn"],
            error=text["bad"],
            success=text["good"],
            foreground=text["plain"],
            background=ground["background"],
            surface=ground["surface"],
            panel=ground["selection_quiet"],
            dark=self.dark,
            variables={**self.variables(), "text-muted": text["quiet"], "text-disabled": text["quiet"]},
        )

    def styles(self) -> dict[str, Style]:
        """How each role is drawn by the widgets that make their lines themselves; the accent is among them."""
        if self.is_plain:
            weight = {Role.BAD.value: Style(bold=True), ACCENT: Style(bold=True)}
            return {name: weight.get(name, Style()) for name in _TEXT}
        return {name: Style(color=colour) for name, colour in self.text.items()}


PLAIN: Final = Palette("runwatch-plain", "No colours", dark=True, ground={}, text={}, line={})
"""Marks what it must with bold and reverse alone, in the colours of the terminal."""


def theme_directories(*more: Path) -> tuple[Path, ...]:
    """Where theme files are: those given, later ones first, then those that came with the program."""
    package = Path(__file__).resolve().parents[1]
    # Beside the package in a wheel, at the root of the project in a checkout.
    shipped = next((place for place in (package / "themes", package.parents[1] / "themes") if place.is_dir()), None)
    return (*reversed(more), *([shipped] if shipped else []))


def theme_names(directories: Sequence[Path]) -> tuple[str, ...]:
    """Names of all themes, in alphabetical order."""
    files = (file.stem for place in directories if place.is_dir() for file in place.glob("*.toml"))
    return tuple(sorted({name for name in files if _NAME.match(name)}))


def load_theme(name: str, directories: Sequence[Path]) -> Palette:
    """Read a theme.

    Raises:
        SettingsError: there is no theme of that name, or its file does not hold to the form.
    """
    for place in directories:
        file = place / f"{name}.toml"
        if _NAME.match(name) and file.is_file():
            return _read(name, file)
    known = ", ".join(theme_names(directories)) or "none"
    raise SettingsError(f"There is no theme named {name}", detail=f"Known themes: {known}.")


def _read(name: str, file: Path) -> Palette:
    import tomllib

    try:
        content: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"The theme {name} cannot be read", detail=f"{file}: {error}") from error
    problems: list[str] = []
    ground = _colours(content, "ground", _GROUND, problems)
    text = _colours(content, "text", _TEXT, problems)
    line = _colours(content, "line", _LINE, problems)
    title, dark = content.get("title"), content.get("dark")
    if not isinstance(title, str):
        problems.append("title is no text")
    if not isinstance(dark, bool):
        problems.append("dark is neither true nor false")
    problems += [
        f"text.{word} on ground.{under} has a contrast of {found:.1f} to 1"
        for word, above in text.items()
        for under, below in ground.items()
        if (found := contrast(above, below)) < LEAST_CONTRAST
    ]
    if problems:
        raise SettingsError(
            f"The theme {name} is not usable",
            detail=f"{file}: {'; '.join(problems)}",
            hint="runwatch-dark.toml, which comes with the program, documents the form.",
        )
    assert isinstance(title, str)
    assert isinstance(dark, bool)
    return Palette(name, title, dark, ground, text, line)


def _colours(content: Mapping[str, Any], table: str, names: Sequence[str], problems: list[str]) -> dict[str, str]:
    given = content.get(table)
    if not isinstance(given, dict):
        problems.append(f"the table [{table}] is missing")
        return {}
    problems += [f"{table}.{name} is not known" for name in given if name not in names]
    colours: dict[str, str] = {}
    for name in names:
        colour = given.get(name)
        if isinstance(colour, str) and _COLOUR.match(colour):
            colours[name] = colour
        else:
            problems.append(f"{table}.{name} is no colour such as #1f3a52")
    return colours


def contrast(one: str, other: str) -> float:
    """The contrast of two colours given as ``#rrggbb``, from 1 (none) to 21 (WCAG 2, relative luminance)."""
    dark, bright = sorted((_luminance(one), _luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
