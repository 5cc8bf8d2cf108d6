"""The few HTML pages that the service shows to a person's browser.

They hold no script and load nothing; every value is escaped, and the headers forbid whatever a page does not need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import parse_qsl

from runwatch.base.json import loads
from runwatch.service.http.answer import Answer, invalid

FORM_TYPE: Final = "application/x-www-form-urlencoded"
"""Media type of the fields of an HTML form."""

PAGE_TYPE: Final = "text/html; charset=utf-8"

FORM_FIELDS: Final = 20
"""More fields than any page here has."""

_HEADERS: Final = (
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
)

_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 38rem; margin: 3rem auto; padding: 0 1rem; color: #1b1f24; }
h1 { font-size: 1.3rem; } label { display: block; margin: 1rem 0 .2rem; font-weight: 600; }
input { font: inherit; width: 100%; padding: .4rem; box-sizing: border-box; }
button { font: inherit; margin-top: 1.2rem; padding: .4rem 1.2rem; } code { background: #eef1f4; padding: 0 .2rem; }
@media (prefers-color-scheme: dark) { body { background: #14171a; color: #dfe3e8; } code { background: #262b31; } }
"""


@dataclass(frozen=True, slots=True)
class Field:
    """One input of a form.

    Attributes:
        name: Its name in what is sent.
        label: What a person reads.
        kind: The HTML type: ``password`` is never shown and never filled in by the browser.
        value: What stands in it at first.
        is_required: Whether the browser insists on it.
    """

    name: str
    label: str
    kind: str = "text"
    value: str = ""
    is_required: bool = True


def page(
    title: str,
    sentences: Sequence[str],
    *,
    fields: Sequence[Field] = (),
    button: str = "",
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (),
) -> Answer:
    """A page with a title, sentences, and a form that is sent to the page's own address where it has a button."""
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(sentence)}</p>" for sentence in sentences)]
    if button:
        parts.append('<form method="post" autocomplete="off">')
        parts.extend(_input(field, is_first=field is fields[0]) for field in fields)
        parts.append(f"<button>{escape(button)}</button></form>")
    body = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )
    return Answer(status, body.encode("utf-8", "replace"), PAGE_TYPE, (*_HEADERS, *headers))


def _input(field: Field, *, is_first: bool) -> str:
    hidden = ' autocomplete="new-password" spellcheck="false"' if field.kind == "password" else ""
    more = f"{' required' * field.is_required}{' autofocus' * is_first}{hidden}"
    return (
        f'<label for="{escape(field.name)}">{escape(field.label)}</label>'
        f'<input id="{escape(field.name)}" name="{escape(field.name)}" type="{escape(field.kind)}"'
        f' value="{escape(field.value)}"{more}>'
    )


def problem_page(answer: Answer) -> Answer:
    """The page that tells a Problem to a person, with the id to quote; its status is the Problem's."""
    problem = loads(answer.body)
    sentences = [problem.get("detail", ""), *(f"{entry['message']}" for entry in problem.get("errors", ()))]
    sentences.append(f"Id of this occurrence: {problem['instance']}")
    told = page(problem["title"], [sentence for sentence in sentences if sentence], status=answer.status)
    return Answer(told.status, told.body, told.media_type, (*told.headers, *answer.headers))


def read_form(body: bytes) -> Mapping[str, str]:
    """The fields of an HTML form, the last value of each name.

    Raises:
        Refusal: ``validation_failed``, when the body is no form.
    """
    try:
        fields = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=FORM_FIELDS,
        )
    except ValueError as error:
        raise invalid(("body", "Must be the fields of a form."), cause=type(error).__name__) from None
    return dict(fields)
