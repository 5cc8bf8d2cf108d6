"""Saved models, agents and skills: counted by kind and status."""

from __future__ import annotations

from typing import ClassVar

from runwatch.tui.screens.faceted import FacetedScreen
from runwatch.tui.sources import Source
from runwatch.view.resources.arms import ARMS


class ArmsScreen(FacetedScreen):
    """The screen of saved models, agents and skills."""

    FACETS: ClassVar[tuple[str, ...]] = ("kind", "status", "route", "cost", "classes", "provider")

    def __init__(self, source: Source) -> None:
        super().__init__(ARMS, source)
