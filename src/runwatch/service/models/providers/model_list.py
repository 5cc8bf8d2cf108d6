"""From a provider's list of models to what this service keeps of it.

Lists tell little: a name always, the rest at some providers. What a list does not tell is worked out from the name by
the rules below, which are ours, or is ``unknown``.
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
"""What every model is taken to do that is reached by sending it a message."""

MAX_SUGGESTIONS: Final = 5
"""The most names that are suggested in place of a wrong one."""

_DATE: Final = re.compile(r"[-_@]?(20\d\d)-?(0[1-9]|1[0-2])(?:-?(0[1-9]|[12]\d|3[01]))?(?!\d)")
_PREVIEW: Final = re.compile(r"(?:^|[-_.:])(?:preview|beta|exp|experimental)(?:$|[-_.:])", re.IGNORECASE)

# Models of these names take no message, or answer it with something else than text.
_NO_TEXT: Final = re.compile(
    r"(?:^|[-_./:])(?:embed|embedding|embeddings|rerank|reranker|moderation|whisper|transcribe|tts|dall|image|sora"
    r"|realtime)(?:$|[-_./:])",
    re.IGNORECASE,
)
_NO_TEXT_TYPES: Final = frozenset({"embedding", "image", "audio", "video", "moderation", "rerank", "transcribe"})


def served_models(answer: Any, publisher: str | None) -> list[ServedModel]:
    """The models in the answer of a list call: each name once, without those that do not answer with text.

    Args:
        answer: The decoded answer: ``{"data": [...]}`` or the bare list.
        publisher: Who makes all models that are spoken to in this protocol, where that is one.

    Raises:
        ProviderError: it is no list of models.
    """
    listed = member(answer, "data") if isinstance(answer, Mapping) else answer
    if not isinstance(listed, list):
        raise unusable()
    found: dict[str, ServedModel] = {}
    for entry in objects(listed):
        upstream_ref = name(entry.get("id"))
        if upstream_ref is not None and upstream_ref not in found and _answers_with_text(upstream_ref, entry):
            found[upstream_ref] = _served(upstream_ref, entry, publisher)
    return list(found.values())


def named_model(upstream_ref: str, publisher: str | None) -> ServedModel:
    """A model of which only the name is known, because a user gave it.

    Args:
        upstream_ref: The name.
        publisher: Who makes all models that are spoken to in this protocol, where that is one.
    """
    return _served(upstream_ref, {}, publisher)


def find_name(asked: str, listed: Collection[str]) -> str | None:
    """The listed name that a user means: the same, or the same with the tag ``latest``; ``None`` without one."""
    return next((name for name in (asked, f"{asked}:latest") if name in listed), None)


def suggest_names(asked: str, listed: Sequence[str]) -> tuple[str, ...]:
    """Up to :data:`MAX_SUGGESTIONS` listed names, those near the asked one where there are any."""
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
    """The name without its date, and the date."""
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
    """Prices for a million tokens from prices for one, as OpenRouter lists them."""
    read, written = dollars(member(pricing, "prompt")), dollars(member(pricing, "completion"))
    if read is None or written is None:
        return None
    return {"input_usd_per_million": _per_million(read), "output_usd_per_million": _per_million(written)}


def _per_million(usd: Decimal) -> str:
    # The point is moved by hand, so that every digit stays whatever the precision of the thread is.
    return f"{usd.scaleb(6):f}"
