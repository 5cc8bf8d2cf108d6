"""A context that says whether what is rendered in it depends on the time."""

from __future__ import annotations

from datetime import datetime

from runwatch.view.text.format import RenderContext


class TimedContext(RenderContext):
    """A context that counts how often its time is asked for."""

    __slots__ = ("_moment", "asked")

    _moment: datetime
    asked: int

    def __init__(self, context: RenderContext) -> None:
        setting = object.__setattr__
        setting(self, "_moment", context.now)
        setting(self, "asked", 0)
        for name in ("glyphs", "time", "zone", "service", "names"):
            setting(self, name, getattr(context, name))

    @property
    def now(self) -> datetime:
        """The current time. Each read is counted."""
        object.__setattr__(self, "asked", self.asked + 1)
        return self._moment
