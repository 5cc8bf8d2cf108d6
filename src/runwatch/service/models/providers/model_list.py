"""Convert a provider's model list to the records of this service.

Every list gives names; other facts depend on the provider. Missing facts are derived from the name by the rules below,
which are not in the specification, or are ``unknown``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from runwatch.base.closest_word import closest_words
from runwatch.service.models.providers.json_reading import dollars, member, name, objects, unusable
from runwatch.service.models.providers.types import DEFAULT_DATA_CLASSES, ServedModel

UNKNOWN: Final = "unknown"

CAPABILITY: Final = "text.generate"
"""Assumed capability of every model that accepts a message."""

MAX_SUGGESTIONS: Final = 5
"""Most names to suggest in place of a wrong one."""

_DATE: Final = re.compile(r"[-_@]?(20\d\d)-?(0[1-9]|1[0-2])(?:-?(0[1-9]|[12]\d|3[01]))?(?!\d)")
_PREVIEW: Final = re.compile(r"(?:^|[-_.:])(?:preview|beta|exp|experimental)(?:$|[-_.:])", re.IGNORECASE)

# Models with these names accept no message, or respond with something other than text.
_NO_TEXT: Final = re.compile(
    r"(?:^|[-_./:])(?:embed|embedding|embeddings|rerank|reranker|moderation|whisper|transcribe|tts|dall|image|sora"
    r"|realtime)(?:$|[-_./:])",
    re.IGNORECASE,
)
_NO_TEXT_TYPES: Final = frozenset({"embedding", "image", "audio", "video", "moderation", "rerank", "transcribe"})


def served_models(answer: Any, publisher: str | None) -> tuple[list[ServedModel], list[str]]:
    """Parse the response of a list call: each name once.

    Args:
        answer: The decoded response: ``{"data": [...]}`` or the bare list.
        publisher: Publisher of all models of the source, if there is a single one.

    Returns:
        The models, and the names of those that are left out because they do not respond with text.

    Raises:
        ProviderError: It is not a list of models.
    """
    listed = member(answer, "data") if isinstance(answer, Mapping) else answer
    if not isinstance(listed, list):
        raise unusable()
    found: dict[str, ServedModel] = {}
    left_out: dict[str, None] = {}
    for entry in objects(listed):
        upstream_ref = name(entry.get("id"))
        if upstream_ref is None or upstream_ref in found:
            continue
        if _answers_with_text(upstream_ref, entry):
            found[upstream_ref] = _served(upstream_ref, entry, publisher)
        else:
            left_out[upstream_ref] = None
    return list(found.values()), [name for name in left_out if name not in found]


def named_model(upstream_ref: str, publisher: str | None) -> ServedModel:
    """Build a model of which only the name is known, because a user gave it."""
    return _served(upstream_ref, {}, publisher)


def find_name(asked: str, listed: Collection[str]) -> str | None:
    """Return the listed name that matches exactly or with the tag ``latest``, or ``None``."""
    return next((name for name in (asked, f"{asked}:latest") if name in listed), None)


def suggest_names(asked: str, listed: Sequence[str]) -> tuple[str, ...]:
    """Return up to :data:`MAX_SUGGESTIONS` listed names, similar ones if there are any."""
    near = closest_words(asked, listed, MAX_SUGGESTIONS)
    return tuple(near or listed[:MAX_SUGGESTIONS])


def _served(upstream_ref: str, entry: Mapping[str, Any], publisher: str | None) -> ServedModel:
    before, slash, after = upstream_ref.partition("/")
    owner = before if slash else (name(entry.get("owned_by")) or publisher or UNKNOWN)
    family, release = _family_and_release(after if slash else upstream_ref)
    return ServedModel(
        upstream_ref=upstream_ref,
        display_name=name(entry.get("display_name")) or name(entry.get("name")) or upstream_ref,
        capabilities=(CAPABILITY,),
        data_classes=DEFAULT_DATA_CLASSES,
        publisher_id=owner.lower(),
        family=family,
        release=release,
        lifecycle=_lifecycle(upstream_ref, entry),
        license={"identifier": UNKNOWN, "commercial_use": UNKNOWN, "evidence_ref": None},
        prices=_prices(entry.get("pricing")),
    )


def _family_and_release(model: str) -> tuple[str, str]:
    """Split a name into the name without its date, and the date."""
    date = _DATE.search(model)
    if date is None:
        return model, UNKNOWN
    family = model[: date.start()] + model[date.end() :]
    return family or model, "-".join(part for part in date.groups() if part)


def _lifecycle(upstream_ref: str, entry: Mapping[str, Any]) -> str:
    if name(entry.get("expiration_date")) or name(entry.get("deprecation_date")) or entry.get("deprecated") is True:
        return "deprecated"
    return "preview" if _PREVIEW.search(upstream_ref) else "active"


def _answers_with_text(upstream_ref: str, entry: Mapping[str, Any]) -> bool:
    modalities = member(entry.get("architecture"), "output_modalities")
    if isinstance(modalities, list):
        return "text" in modalities
    if entry.get("type") in _NO_TEXT_TYPES:
        return False
    return _NO_TEXT.search(upstream_ref) is None


def _prices(pricing: Any) -> dict[str, str] | None:
    """Convert prices per token, as OpenRouter lists them, to prices per million."""
    read, written = dollars(member(pricing, "prompt")), dollars(member(pricing, "completion"))
    if read is None or written is None:
        return None
    return {"input_usd_per_million": _per_million(read), "output_usd_per_million": _per_million(written)}


def _per_million(usd: Decimal) -> str:
    # Move the point by exponent, so that every digit survives whatever the thread's decimal precision.
    return f"{usd.scaleb(6):f}"
