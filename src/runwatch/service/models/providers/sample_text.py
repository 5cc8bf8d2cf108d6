"""What sample models write: text that says it is a sample, in the form that the message asks for. Pure.

Sample models understand three requests and no more, so that the sample organization's checks can accept and reject
their answers for a reason that people can see: five bullet points, one JSON object, and to rewrite the text of a
skill's region after a check has rejected what was made with it (:mod:`runwatch.service.execution.live.skill`).
"""

from __future__ import annotations

from typing import Final

from runwatch.base.json import dumps
from runwatch.base.text import truncate

BULLETS_WANTED: Final = "exactly five bullet points"
"""Words of a message that ask for five bullet points."""

OBJECT_WANTED: Final = "exactly one JSON object"
"""Words of a message that ask for a JSON object."""

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
    """The answer of a sample model to a message.

    Args:
        model: Its name for people.
        objective: What the run is to do.
        digest: Stands for model and message, and chooses the words.
        call: How often the model has got this message.
        keeps_form: Whether it can write in a form that the message asks for.
    """
    opening, finding, closing = (
        words[(digest[place] + call) % len(words)] for place, words in enumerate((_OPENINGS, _FINDINGS, _CLOSINGS))
    )
    if _REWRITE in objective:
        wanted = BULLETS_WANTED if _BULLETS_MISSED in objective else OBJECT_WANTED
        return f"Answer with {wanted}, and with nothing else."
    if keeps_form and BULLETS_WANTED in objective:
        return "\n".join(f"- {_FINDINGS[(digest[0] + place) % len(_FINDINGS)].capitalize()}." for place in range(5))
    if keeps_form and OBJECT_WANTED in objective:
        return dumps({"model": model, "finding": finding, "answer": call, "note": closing})
    said = truncate(" ".join(objective.split()), 200)
    return f"{model} was asked: {said}\n\n{opening}, {finding}. (Answer {call} to this message.)\n\n{closing}"
