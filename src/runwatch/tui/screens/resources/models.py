"""The model catalog: counted by facets, and each entry with the models saved from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runwatch.records.arm import Arm
from runwatch.records.record import Record
from runwatch.tui.screens.base.faceted_screen import FacetedScreen
from runwatch.tui.sources.row_sources import RowSource
from runwatch.view.detail.sections import DetailSection
from runwatch.view.resources.models import MODELS, saved_model_sections
from runwatch.view.table.rows import RecordRow
from runwatch.view.text.format import RenderContext


class ModelsScreen(FacetedScreen):
    def __init__(self, source: RowSource) -> None:
        super().__init__(MODELS, source)

    def polled_lists(self) -> tuple[type[Record], ...]:
        """Return saved models too; they show what uses an entry."""
        return (*super().polled_lists(), Arm)

    def detail_sections(self, row: RecordRow[Any], context: RenderContext) -> Sequence[DetailSection]:
        """Return the models saved from the entry, then its fields."""
        collection = self.console.store.collection(self.console.profile_name, Arm.KIND)
        known = [record for record in collection.records if isinstance(record, Arm)]
        is_read = collection.read_at is not None or collection.cached_at is not None
        fields = super().detail_sections(row, context)
        return [*saved_model_sections(row.id, known, context, is_known=is_read), *fields]
