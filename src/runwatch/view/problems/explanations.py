"""Explanations of error codes and reasons with next steps, and the text block for support."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from runwatch import __version__
from runwatch.records.error_codes import CODES
from runwatch.view.problems.explanation_texts import (
    CALL_ADVICE,
    CHECK_ADVICE,
    CHECK_TEXTS,
    CLIENT_CODE_TEXTS,
    CODE_TEXTS,
    DETAIL_TEXTS,
    FAILURE_TEXTS,
    REASON_TEXTS,
)
from runwatch.view.problems.journal_entries import ProblemEntry
from runwatch.view.text.copied_text import CopiedText, copied_fields
from runwatch.view.text.safe_text import SafeText, iso_text, line

NOTHING_ACCEPTED: Final = "Nothing was accepted or charged."
OUTCOME_UNKNOWN: Final = (
    "Unknown: a run may have been accepted; a live run may be charged. It is safe to retry with the same key and body."
)
KEY_WAS_USED: Final = "This request accepted nothing. An earlier one with the same key may have started a run."

NEW_KEY: Final = "A new idempotency key is needed, because the body is another one."
"""What a corrected write needs if the user chose the key."""

_UNKNOWN_CODE: Final = (
    "This version of runwatch does not know this error code; the title and detail of the problem say what the service"
    " means.",
    "Read the detail, and quote the instance id to support when it does not help.",
)
_UNKNOWN_REASON: Final = (
    "This version of runwatch does not know this reason; it is shown as the service sent it.",
    "Read the run's last events and its receipt, and quote the run's id to support when they do not help.",
)

REFUSES_FIRST: Final = frozenset({401, 403, 429})
"""Statuses that refuse a submit if its first attempt meets them (manual: decisions, "Outcome of a write")."""


class Explanation(NamedTuple):
    """Explanation of one error code or reason.

    Attributes:
        word: The code or reason as sent.
        kind: ``error code``, ``reason``, ``client`` for a code of this client when no problem was sent, or what else
            the word is said of, such as ``failure of a call``.
        status: HTTP status of a code; ``None`` for reasons and unknown codes.
        effect: What it means for a submitted run; empty for reasons, which belong to an accepted run.
    """

    word: SafeText
    kind: str
    status: int | None
    sentence: str
    next_step: str
    effect: str
    is_known: bool = True


def explain_code(code: str) -> Explanation:
    """Explain an error code; for an unknown one, say that it is unknown."""
    status = CODES[code].status if code in CODE_TEXTS else None
    kind = "client" if code in CLIENT_CODE_TEXTS and status is None else "error code"
    known = CODE_TEXTS.get(code) or CLIENT_CODE_TEXTS.get(code)
    sentence, next_step = known or _UNKNOWN_CODE
    effect = describe_submit_effect(code, status)
    return Explanation(line(code or "no code"), kind, status, sentence, next_step, effect, is_known=known is not None)


def explain_reason(reason: str) -> Explanation:
    """Explain why a run or slice ended, by its ``reason``."""
    sentence, next_step = REASON_TEXTS.get(reason, _UNKNOWN_REASON)
    return Explanation(line(reason), "reason", None, sentence, next_step, "", is_known=reason in REASON_TEXTS)


def _details() -> Iterator[Explanation]:
    """Explain the words that receipts, checks and deliveries use below the codes and reasons."""
    for kind, texts, steps, id in (
        ("failure of a call", FAILURE_TEXTS, CALL_ADVICE, "connection"),
        ("failure of a check", CHECK_TEXTS, CHECK_ADVICE, "check"),
    ):
        for word, text in texts.items():
            yield _detail(word, kind, text, steps[word].format(**{id: "ID"}))
    for kind, (step, texts) in DETAIL_TEXTS.items():
        for word, text in texts.items():
            yield _detail(word, kind, text, step)


def _detail(word: str, kind: str, text: str, step: str) -> Explanation:
    return Explanation(line(word), kind, None, f"{text[:1].upper()}{text[1:]}.", step, "")


def explain_code_or_reason(word: str) -> tuple[Explanation, ...]:
    """Explain a word in every use; one explanation for an unknown code if it has none."""
    found = []
    if word in CODE_TEXTS or word in CLIENT_CODE_TEXTS:
        found.append(explain_code(word))
    if word in REASON_TEXTS:
        found.append(explain_reason(word))
    found += [detail for detail in _details() if detail.word == word]
    return tuple(found) or (explain_code(word),)


def all_explanations() -> tuple[Explanation, ...]:
    """Return explanations of all known codes, then of all known reasons, then of all other words."""
    reasons = (explain_reason(reason) for reason in REASON_TEXTS)
    return (*(explain_code(code) for code in CODE_TEXTS), *reasons, *_details())


def next_step(code: str, status: int | None = None, *, is_key_given: bool = False) -> str:
    """Return what to do after an error code; a 429 with one that is no code of the service asks for a wait too.

    A key that the user chose for the write has to be another one afterwards; generated keys differ by themselves.
    """
    step = explain_code("rate_limited" if status == 429 and code not in CODES else code).next_step
    return f"{step} {NEW_KEY}" if is_key_given and code == "validation_failed" else step


def describe_submit_effect(
    code: str, status: int | None, attempts: int = 1, *, is_problem: bool = False, had_no_effect: bool = False
) -> str:
    """Describe what a failed submit did, by its error code.

    Args:
        code: Error code; empty if the response had none.
        status: HTTP status, or ``None`` without a response.
        attempts: Number of times the request was sent. A 401, 403 or 429 refuses the first attempt, but says nothing
            about an earlier one whose response was lost.
        is_problem: Whether the response was a problem with its own status.
        had_no_effect: Whether it is certain that no attempt had an effect, as where no connection was made.
    """
    if had_no_effect and code != "idempotency_conflict":
        return NOTHING_ACCEPTED
    if status is not None and (not 400 <= status < 500 or status == 408):
        return OUTCOME_UNKNOWN
    if code in CODES and CODES[code].refuses_run:
        return NOTHING_ACCEPTED
    if code == "idempotency_conflict":
        return KEY_WAS_USED
    if (is_problem or status in REFUSES_FIRST) and status is not None and attempts <= 1:
        return NOTHING_ACCEPTED
    return OUTCOME_UNKNOWN


def support_block(entry: ProblemEntry) -> CopiedText:
    """Return the fixed text that support needs to find an occurrence. It contains no keys and no request body."""
    problem = entry.problem
    fields: Mapping[str, object] = {
        "time": iso_text(entry.time) if entry.time else None,
        "profile": entry.profile,
        "host": entry.host,
        "request": f"{line(entry.method)} {line(entry.path)}",
        "status": entry.status if entry.status is not None else problem.status,
        "type": problem.type,
        "title": problem.title,
        "instance": problem.instance,
        "detail": problem.detail,
        "console": f"runwatch {__version__}",
    }
    return copied_fields({name: None if value is None else line(value) for name, value in fields.items()})
