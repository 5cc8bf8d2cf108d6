"""View state: where the user left the console, written at its end and read at the next start if the settings say so.

How the user divided the panes of each screen is kept in the same file, whatever the settings say.

The file holds names, sizes, a filter and an id, never data of the service or prompts: text typed into the form for runs
stays in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from runwatch.base.errors import SettingsError
from runwatch.settings.declarations import update_filter

MAX_STATE_BYTES: Final = 100_000
"""A larger file was not written by runwatch."""

MAX_TEXT_CHARACTERS: Final = 4_000
"""Maximum length of a text in a state file."""


@dataclass(frozen=True, repr=False)
class ViewState:
    """State of one screen.

    Attributes:
        filter: The filter as typed; empty for none.
        is_filter_off: Whether the filter is kept but not applied.
        sort: Sort fields, each with whether the largest comes first; empty for the default order.
        is_wide: Whether columns left out of narrow windows are shown.
        selected: The id under the cursor; empty for none.
        is_open: Whether the record under the cursor is open.
        focused: The id that has the focus where several records are shown at once; empty for the first.
        place: Where the cursor is in the open record; it can hold words of the service, so the file leaves it out.
    """

    screen: str
    filter: str = ""
    is_filter_off: bool = False
    sort: tuple[tuple[str, bool], ...] = ()
    is_wide: bool = False
    selected: str = ""
    is_open: bool = False
    focused: str = ""
    place: str = ""


@dataclass(frozen=True, repr=False)
class PaneSplit:
    """How the user divided a screen with a list and a detail.

    Attributes:
        side: Where the detail is, ``place`` in the file; empty for the usual place in a window of that size.
        beside: Its share of the width beside the list, from 0 to 1; 0 for the usual one.
        below: Its share of the height below the list; 0 for the usual one.
    """

    side: Literal["", "beside", "below"] = ""
    beside: float = 0.0
    below: float = 0.0

    def with_share(self, side: Literal["beside", "below"], share: float) -> PaneSplit:
        """Return this division with another share of the detail there."""
        return replace(self, beside=share) if side == "beside" else replace(self, below=share)


def save_view_state(path: Path, view: ViewState | None, splits: Mapping[str, PaneSplit] | None = None) -> None:
    """Save the state for the next start. The last of several consoles to end wins; the file is written atomically.

    Args:
        view: The front view; ``None`` to keep only the splits.

    Raises:
        SettingsError: The file cannot be written.
    """
    import tomli_w

    from runwatch.base.files import write_atomic

    content: dict[str, Any] = {}
    if view is not None:
        sort = [{"field": field, "descending": descending} for field, descending in view.sort]
        content = {**asdict(view), "sort": sort}
        del content["place"]
    if splits:
        content["splits"] = {
            name: {"place": split.side, "beside": split.beside, "below": split.below} for name, split in splits.items()
        }
    try:
        write_atomic(path, tomli_w.dumps(content).encode())
    except (OSError, ValueError) as error:
        raise SettingsError("The session could not be saved", detail=f"{path}: {error}") from error


def load_view_state(path: Path) -> ViewState | None:
    """Return the saved state, or ``None``; raises what :func:`load_session` raises."""
    return load_session(path)[0]


def load_session(path: Path) -> tuple[ViewState | None, dict[str, PaneSplit]]:
    """Return the saved state, if any, and the divided screens by name.

    Raises:
        SettingsError: The file cannot be read, or holds something else.
    """
    import tomllib

    try:
        if path.stat().st_size > MAX_STATE_BYTES:
            raise ValueError(f"is larger than {MAX_STATE_BYTES:,} bytes")
        content = tomllib.loads(path.read_text("utf-8"))
        splits = _splits(content)
        return (None if splits and "screen" not in content else _view(content)), splits
    except FileNotFoundError:
        return None, {}
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            "The last session is not restored", detail=f"{path}: {error}", hint="It is written again when you quit."
        ) from error


def _view(content: dict[str, Any]) -> ViewState:
    """Parse the content of a state file; unknown members, from a newer version, are ignored."""
    orders = content.get("sort", [])
    if not isinstance(orders, list) or not all(isinstance(order, dict) for order in orders):
        raise ValueError("sort is not a list of tables")
    screen = _text(content, "screen")
    if not screen:
        raise ValueError("screen is missing")
    return ViewState(
        screen,
        update_filter(_text(content, "filter")),
        _switch(content, "is_filter_off"),
        tuple((_text(order, "field"), _switch(order, "descending")) for order in orders),
        _switch(content, "is_wide"),
        _text(content, "selected"),
        _switch(content, "is_open"),
        _text(content, "focused"),
    )


def _splits(content: dict[str, Any]) -> dict[str, PaneSplit]:
    splits = content.get("splits", {})
    if not isinstance(splits, dict) or not all(isinstance(split, dict) for split in splits.values()):
        raise ValueError("splits is not a table of tables")
    if any(split.get("place", "") not in {"", "beside", "below"} for split in splits.values()):
        raise ValueError("place is neither beside nor below")
    return {
        name: PaneSplit(split.get("place", ""), _share(split, "beside"), _share(split, "below"))
        for name, split in splits.items()
    }


def _share(content: dict[str, Any], name: str) -> float:
    value = content.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError(f"{name} is no number from 0 to 1")
    return float(value)


def _text(content: dict[str, Any], name: str) -> str:
    value = content.get(name, "")
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARACTERS:
        raise ValueError(f"{name} is no text of at most {MAX_TEXT_CHARACTERS:,} characters")
    return value


def _switch(content: dict[str, Any], name: str) -> bool:
    value = content.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"{name} is neither true nor false")
    return value
