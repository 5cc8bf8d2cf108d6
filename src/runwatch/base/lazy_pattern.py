"""Regular expressions that are compiled when they are first used, not when their module is imported."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, AnyStr, cast


class _LazyPattern:
    """A pattern that is compiled when one of its attributes is first used; each is then kept here."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[Any]:
        return re.compile(*self._given)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return _LazyPattern, self._given


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what behaves as the compiled pattern; an invalid one raises :class:`re.error` with its first use.

    For modules that are imported before the console's first paint.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
