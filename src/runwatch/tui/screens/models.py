"""The model catalog: counted by facets, and each entry with what was saved of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.tui.screens.faceted import FacetedScreen
from runwatch.tui.sources import Source
from runwatch.view.detail import Section
from runwatch.view.format import Context
from runwatch.view.resources.models import MODELS
from runwatch.view.table import Row
from runwatch.view.used_by import saved_as


class ModelsScreen(FacetedScreen):
    """The screen of the catalog."""

    def __init__(self, source: Source) -> None:
        super().__init__(MODELS, source)

    def lists(self) -> tuple[type[Record], ...]:
        """Saved models too, which say what uses an entry."""
        return (*super().lists(), Arm)

    def detail_sections(self, row: Row[Any], context: Context) -> Sequence[Section]:
        """What was saved of the entry first."""
        collection = self.console.store.collection(self.console.profile_name, Arm.KIND)
        known = [record for record in collection.records if isinstance(record, Arm)]
        is_read = collection.read_at is not None or collection.cached_at is not None
        fields = super().detail_sections(row, context)
        return [*saved_as(row.id, known, context, is_known=is_read), *fields]
