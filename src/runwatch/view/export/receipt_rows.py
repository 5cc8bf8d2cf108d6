"""Rows of receipts in CSV: one for each slice, with columns for its model, provider, check, tokens and cost.

The totals of a receipt are in its first row only, so that the sum of a column is the sum of the receipts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from runwatch.records.check import is_baseline
from runwatch.records.receipt import Receipt
from runwatch.records.record import Record
from runwatch.view.text import json_paths
from runwatch.view.text.safe_text import json_text

_DOTTED: Final[Mapping[str, str]] = {
    "slice_id": "slice_id",
    "capability": "capability",
    "model": "route.selected.model_key",
    "provider": "route.selected.provider",
    "arm_id": "route.selected.arm_id",
    "check": "verifier.verifier_id",
    "is_correct": "verifier.is_correct",
    "quality_score": "verifier.quality_score",
    "input_tokens": "cost.input_tokens",
    "output_tokens": "cost.output_tokens",
    "calls": "cost.calls",
    "usd": "cost.usd",
    "known_usd": "cost.known_usd",
}
"""Columns of a slice, with the paths of their values in it."""

_PATHS: Final = {name: json_paths.parse_path(path) for name, path in _DOTTED.items()}

SLICE: Final = "slice"
"""The column that has the whole slice as JSON."""

SLICE_COLUMNS: Final = (*_PATHS, SLICE)

_VERDICT: Final = frozenset({"is_correct", "quality_score"})

_TOTALS: Final = "totals"
_SLICES: Final = "slices"


def csv_rows(record: type[Record], raw: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a record: one, or for a receipt one for each slice. Other members stay as they are."""
    if not issubclass(record, Receipt):
        yield raw
        return
    whole = {name: value for name, value in raw.items() if name != _SLICES}
    slices = raw.get(_SLICES)
    for part in slices if isinstance(slices, list) and slices else [slices or None]:
        yield {
            **whole,
            **{name: _value(part, name) for name in _PATHS},
            SLICE: None if part is None else json_text(part),
        }
        whole.pop(_TOTALS, None)


def _value(part: object, name: str) -> Any:
    if name in _VERDICT and is_baseline(json_paths.get_at(part, ("verifier",))):
        # Nothing was said of correctness.
        return None
    found = json_paths.get_at(part, _PATHS[name])
    if found is json_paths.MISSING and name == "check":
        found = json_paths.get_at(part, ("verifier", "id"))
    return None if found is json_paths.MISSING else found


def csv_heads(record: type[Record], heads: list[str]) -> list[str]:
    """Return the columns of CSV for those of the record: for receipts those of a slice in place of the array."""
    if not issubclass(record, Receipt):
        return heads
    own = [name for name in heads if name not in SLICE_COLUMNS]
    at = own.index(_SLICES) if _SLICES in own else len(own)
    return [*own[:at], *_PATHS, SLICE, *own[at + 1 :]]
