"""Text of sample models: marked as a sample, in the format that the message asks for. No side effects.

Sample models understand only three requests, so that the sample organization's checks accept and reject their output
for visible reasons: five bullet points, one JSON object, and rewriting a skill's region after a check rejected the
output made with it (:mod:`runwatch.service.execution.live.skill`).
"""

from __future__ import annotations

from typing import Final

from runwatch.base.json import dumps
from runwatch.base.text import truncate

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
