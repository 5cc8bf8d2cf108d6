"""The sample source: reproducible responses in place of a provider, without a network.

A response depends on the model, the message, and how often the model has received this message since the start. Marks
in a run's objective control it, for the sample organization and for trying out policies:

- ``[[text WORDS]]``: respond with exactly these words, which must not contain ``]]``.
- ``[[long CHARACTERS]]``: extend the response to this many characters.
- ``[[slow SECONDS]]``: take this long.
- ``[[fail KIND]]``: fail with one of :data:`runwatch.service.models.providers.types.KINDS`. ``[[fail KIND once]]``
  fails only the first call with this message, ``[[fail KIND on MODEL]]`` only calls of this model; both may be given,
  in this order.

Without marks the response has the format that the message asks for, if it is one of three that sample models
understand, so that the sample organization's checks accept and reject it for visible reasons: five bullet points, one
JSON object, and rewriting a skill's region after a check rejected the output made with it
(:mod:`runwatch.service.execution.live.skill`). An invalid mark is ordinary text. Every key is accepted but
:data:`REFUSED_KEY`.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from runwatch.base.clock import Clock
from runwatch.base.json import dumps
from runwatch.base.secrets.secret import Secret
from runwatch.base.text import truncate
from runwatch.service.models.providers.message import build_message
from runwatch.service.models.providers.prices import CHARACTERS_PER_TOKEN, estimated_tokens, quote
from runwatch.service.models.providers.sample_sources import SAMPLES, SCHEME, SampleModel, SampleSource
from runwatch.service.models.providers.types import (
    KINDS,
    Generation,
    Prompt,
    ProviderAddress,
    ProviderError,
    ServedModels,
)

BULLETS_WANTED: Final = "exactly five bullet points"

OBJECT_WANTED: Final = "exactly one JSON object"

_REWRITE: Final = "Rewrite the text of the region"
_BULLETS_MISSED: Final = "five_bullets"

_OPENINGS: Final = ("In short", "First of all", "Looking at it closely", "From what was given")
_FINDINGS: Final = (
    "nothing here contradicts the request",
    "two points deserve a second reading",
    "the material supports one clear conclusion",
    "most of it can be said in a single sentence",
    "the details matter less than their order",
)
_CLOSINGS: Final = (
    "No model has read this; the text is a sample.",
    "This is sample text, written by no model.",
    "The words are a sample and mean nothing.",
)


def make_text(model: str, objective: str, digest: bytes, call: int, *, keeps_form: bool = True) -> str:
    """Return a sample model's answer to a message.

    Args:
        digest: Identifies model and message, and selects the words.
    """
    opening, finding, closing = (
        words[(digest[index] + call) % len(words)] for index, words in enumerate((_OPENINGS, _FINDINGS, _CLOSINGS))
    )
    if _REWRITE in objective:
        wanted = BULLETS_WANTED if _BULLETS_MISSED in objective else OBJECT_WANTED
        return f"Answer with {wanted}, and with nothing else."
    if keeps_form and BULLETS_WANTED in objective:
        return "\n".join(f"- {_FINDINGS[(digest[0] + index) % len(_FINDINGS)].capitalize()}." for index in range(5))
    if keeps_form and OBJECT_WANTED in objective:
        return dumps({"model": model, "finding": finding, "answer": call, "note": closing})
    said = truncate(" ".join(objective.split()), 200)
    return f"{model} was asked: {said}\n\n{opening}, {finding}. (Answer {call} to this message.)\n\n{closing}"


REFUSED_KEY: Final = Secret("sample-refused-key")
"""The only key that sample sources refuse. No ordinary word, because a key is redacted in all text once it is used."""

MAX_REMEMBERED: Final = 1024
"""Number of messages whose calls are counted; the least recently used is dropped first."""

_MARK: Final = re.compile(r"\[\[(text|long|slow|fail)\s+(.*?)\]\]", re.DOTALL)
_CHARACTERS: Final = re.compile(r"\d{1,7}")
_SECONDS: Final = re.compile(r"\d{1,4}(?:\.\d{1,3})?")
_FAULT: Final = re.compile(rf"({'|'.join(KINDS)})(\s+once)?(?:\s+on\s+(\S+))?")

# Failures in which a call has not reached the provider.
_UNSENT: Final = frozenset({"network", "egress_rejected"})


def is_sample(base_url: str) -> bool:
    return base_url.startswith(SCHEME)


@dataclass(frozen=True, slots=True)
class _Marks:
    """Instructions that an objective gives by marks.

    Attributes:
        asked: The objective without the marks that were read.
        fault: Kind of failure; empty for none.
    """

    asked: str
    text: str | None = None
    characters: int | None = None
    slow_s: float | None = None
    fault: str = ""


class SampleProvider:
    def __init__(self, clock: Clock) -> None:
        self._clock: Final = clock
        self._calls: Final[OrderedDict[bytes, int]] = OrderedDict()

    def models(self, address: ProviderAddress) -> ServedModels:
        """Return what a sample source serves.

        Raises ProviderError if the source does not exist, or its key is refused.
        """
        served = [model.served for _, model in _offered(address)]
        return ServedModels(address.base_url, served, called=tuple(model.upstream_ref for model in served))

    async def generate(self, address: ProviderAddress, prompt: Prompt) -> Generation:
        """Answer one message; see :meth:`runwatch.service.models.providers.providers.Providers.generate`.

        Raises ProviderError if the model does not exist, it or a mark fails the call, or the time is over.
        """
        model = prompt.model
        offered = [pair for pair in _offered(address) if pair[1].served.upstream_ref == model]
        if not offered:
            raise ProviderError("model_not_found", was_sent=True)
        source, sample = offered[0]
        message = build_message(prompt.objective, prompt.inputs)
        digest = hashlib.sha256(f"{source.source.source_id}\n{model}\n{message}".encode()).digest()
        call = self._count(digest)
        marks = _marks(prompt.objective, model, call)
        text = marks.text
        if text is None:
            text = make_text(sample.served.display_name, marks.asked, digest, call, keeps_form=sample.keeps_form)
        if marks.characters is not None and text:
            text = (text * (marks.characters // len(text) + 1))[: max(marks.characters, len(text))]
        if prompt.max_output_tokens is not None:
            text = text[: prompt.max_output_tokens * CHARACTERS_PER_TOKEN]
        fault = marks.fault or ("" if sample.fails_once and call > 1 else sample.fault)
        await self._wait(_duration_s(sample, marks, text, fault), prompt.timeout_s)
        if fault:
            raise ProviderError(fault, was_sent=fault not in _UNSENT)
        return _generation(source, sample, message, text, digest)

    def _count(self, digest: bytes) -> int:
        call = self._calls.pop(digest, 0) + 1
        self._calls[digest] = call
        if len(self._calls) > MAX_REMEMBERED:
            self._calls.popitem(last=False)
        return call

    async def _wait(self, seconds: float, timeout_s: float) -> None:
        await self._clock.sleep(min(seconds, timeout_s))
        if seconds > timeout_s:
            raise ProviderError("timeout", was_sent=True, is_deadline=True)


def _offered(address: ProviderAddress) -> Iterator[tuple[SampleSource, SampleModel]]:
    """Yield the models behind an address, each with its source."""
    if address.auth_scheme != "none" and (address.secret is None or address.secret == REFUSED_KEY):
        raise ProviderError("authentication", was_sent=address.secret is not None)
    source_id = address.base_url.removeprefix(SCHEME)
    sources = [sample for sample in SAMPLES if source_id in {"", sample.source.source_id}]
    if not sources:
        raise ProviderError("network", was_sent=False)
    return ((sample, model) for sample in sources for model in sample.models)


def _marks(objective: str, model: str, call: int) -> _Marks:
    text, characters, slow_s, fault = None, None, None, ""
    asked = objective
    for mark in _MARK.finditer(objective):
        word, value = mark.groups()
        if word == "text":
            text = value
        elif word == "long" and _CHARACTERS.fullmatch(value.strip()):
            characters = int(value)
        elif word == "slow" and _SECONDS.fullmatch(value.strip()):
            slow_s = float(value)
        elif word == "fail" and (match := _FAULT.fullmatch(value.strip())):
            kind, once, only = match.groups()
            if (not once or call == 1) and only in {None, model}:
                fault = kind
        else:
            continue
        asked = asked.replace(mark[0], "")
    return _Marks(asked.strip(), text, characters, slow_s, fault)


def _duration_s(sample: SampleModel, marks: _Marks, text: str, fault: str) -> float:
    if fault == "timeout":
        return float("inf")
    if marks.slow_s is not None:
        return marks.slow_s
    # A failure takes the place of a response immediately.
    return sample.first_token_s + (0.0 if fault else estimated_tokens(len(text)) / sample.tokens_per_s)


def _generation(source: SampleSource, sample: SampleModel, message: str, text: str, digest: bytes) -> Generation:
    served = sample.served
    read, written = estimated_tokens(len(message)), estimated_tokens(len(text))
    usd: Decimal | None = None
    if source.reports_cost:
        quoted = quote(source.source.prices, served.upstream_ref, read, written, is_keyless=True, is_listed=True)
        usd = None if quoted is None else quoted[0]
    return Generation(
        text=text,
        input_tokens=read,
        output_tokens=written,
        usd=usd,
        upstream_ref=f"{served.upstream_ref}@{served.release}",
        source_request_id=f"sample_{digest.hex()[:16]}",
        input_characters=len(message),
    )
