"""Themes: one TOML file each, read into colours for Textual's style sheets and for lines that widgets draw themselves.

``runwatch-dark.toml`` documents the format. Colour never carries meaning alone, so the theme without colours
(:data:`PLAIN`, used with ``NO_COLOR``) loses no information.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.style import Style
from textual.theme import Theme

from runwatch.base.closest_word import closest_word
from runwatch.base.errors import SettingsError
from runwatch.settings.theme_files import PLAIN_NAME, is_theme_name
from runwatch.settings.theme_files import theme_directories as theme_directories
from runwatch.settings.theme_files import theme_names as theme_names
from runwatch.view.text.glyphs import Role

DEFAULT_THEME: Final = "runwatch-dark"
MIN_CONTRAST: Final = 4.5
"""Minimum contrast of text for readers with low vision (WCAG 2, level AA)."""

ACCENT: Final = "accent"
FRAME: Final = "frame"

NOT_USABLE: Final = "not usable"
"""Shown before the reason in place of an unusable theme's title."""

_GROUND: Final = ("background", "surface", "selection", "selection_quiet")
_TEXT: Final = (*(role.value for role in Role), ACCENT)
_LINE: Final = (FRAME,)
_DEFAULT: Final = "ansi_default"
# Variables of Textual's style sheets for a theme in the terminal's own colours, and runwatch's additional ones.
_PLAIN_GROUND: Final = (
    "frame", "selection", "selection-quiet", "border", "border-blurred", "ansi-background", "ansi-foreground",
    "input-cursor-background", "input-cursor-foreground", "input-selection-background", "input-selection-foreground",
    "screen-selection-background", "screen-selection-foreground", "block-cursor-foreground", "block-cursor-background",
    "scrollbar", "scrollbar-hover", "scrollbar-active", "scrollbar-background", "scrollbar-background-hover",
    "scrollbar-background-active", "scrollbar-corner-color",
)  # fmt: skip
_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}\Z")


class Palette(NamedTuple):
    """One theme as read from its file.

    Attributes:
        name: The file name without its extension.
        dark: Whether the background is dark.
        ground: Background colours.
        text: Text colours by role, and the accent.
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
        """Return the variables for runwatch's style sheets, in addition to Textual's own."""
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
        """Return the style of each role and the accent, for widgets that draw their own lines."""
        if self.is_plain:
            weight = {Role.BAD.value: Style(bold=True), ACCENT: Style(bold=True)}
            return {name: weight.get(name, Style()) for name in _TEXT}
        return {name: Style(color=colour) for name, colour in self.text.items()}


PLAIN: Final = Palette(PLAIN_NAME, "No colours", dark=True, ground={}, text={}, line={})
"""Uses only bold and reverse, in the terminal's own colours."""


def load_theme(name: str, directories: Sequence[Path]) -> Palette:
    """Read a theme from the first directory that has a file of that name.

    Raises:
        SettingsError: No theme has that name, or its file is invalid; the error lists every fault with its line.
    """
    for directory in directories:
        file = directory / f"{name}.toml"
        if is_theme_name(name) and file.is_file():
            return _read(name, file)
    if name == PLAIN.name:
        return PLAIN
    known = theme_names(directories)
    guess = closest_word(name, known)
    raise SettingsError(
        f"There is no theme named {name}",
        detail=(f"Did you mean {guess}? " if guess else "") + f"Known themes: {', '.join(known)}.",
    )


def describe_themes(directories: Sequence[Path]) -> dict[str, str]:
    """Return the names of all themes in alphabetical order, each with its title or its error."""
    titles: dict[str, str] = {}
    for name in theme_names(directories):
        try:
            titles[name] = load_theme(name, directories).title
        except SettingsError as error:
            titles[name] = f"{NOT_USABLE}: {error.detail}"
    return titles


class _Reading:
    """One pass over a theme file that collects all faults by path of names."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        self.faults: list[tuple[tuple[str, ...], str]] = []

    def palette(self, name: str) -> Palette:
        """Return the theme; complete only if no fault was found."""
        ground = self._colours("ground", _GROUND)
        text = self._colours("text", _TEXT)
        line = self._colours("line", _LINE)
        title, dark = self._content.get("title"), self._content.get("dark")
        if not isinstance(title, str):
            self.faults.append((("title",), "title is not text"))
        if not isinstance(dark, bool):
            self.faults.append((("dark",), "dark is neither true nor false"))
        for word, above in text.items():
            for under, below in ground.items():
                if (found := compute_contrast(above, below)) < MIN_CONTRAST:
                    fault = f"text.{word} on ground.{under} has a contrast of {found:.1f} to 1"
                    self.faults.append((("text", word), fault))
        return Palette(name, str(title), dark is True, ground, text, line)

    def _colours(self, table: str, names: Sequence[str]) -> dict[str, str]:
        given = self._content.get(table)
        if not isinstance(given, dict):
            self.faults.append(((table,), f"the table [{table}] is missing"))
            return {}
        self.faults += [((table, name), f"{table}.{name} is not known") for name in given if name not in names]
        colours: dict[str, str] = {}
        for name in names:
            colour = given.get(name)
            if isinstance(colour, str) and _COLOUR.match(colour):
                colours[name] = colour
            else:
                self.faults.append(((table, name), f"{table}.{name} is not a colour such as #1f3a52"))
        return colours


def _read(name: str, file: Path) -> Palette:
    from runwatch.settings.file_parser import InvalidTomlError, decode_toml

    try:
        text, content = decode_toml(file.read_bytes())
    except OSError as error:
        raise SettingsError(f"The theme {name} cannot be read", detail=f"{file}: {error.strerror}") from error
    except InvalidTomlError as error:
        place = ":".join(str(part) for part in (file, error.line, error.column) if part is not None)
        raise SettingsError(f"The theme {name} cannot be read", detail=f"{place}: {error}") from error
    reading = _Reading(content)
    palette = reading.palette(name)
    if reading.faults:
        raise SettingsError(
            f"The theme {name} is not usable",
            detail=_fault_text(file, text, reading.faults),
            hint="runwatch-dark.toml, which comes with the program, documents the form.",
        )
    return palette


def _fault_text(file: Path, text: str, faults: Sequence[tuple[tuple[str, ...], str]]) -> str:
    """Describe the faults of a theme file, each with its line number where known."""
    from runwatch.settings.toml_lines import key_lines

    lines = key_lines(text)
    numbered = sorted(((lines.get(path, 0), fault) for path, fault in faults), key=lambda found: found[0])
    first = numbered[0][0]
    rest = [f"line {number}: {fault}" if number else fault for number, fault in numbered[1:]]
    return f"{file}{f':{first}' if first else ''}: " + "; ".join([numbered[0][1], *rest])


def compute_contrast(one: str, other: str) -> float:
    """Return the contrast of two ``#rrggbb`` colours, from 1 (none) to 21 (WCAG 2, relative luminance)."""
    dark, bright = sorted((_luminance(one), _luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
