"""The HTML pages that the service shows in the user's browser (manual: security, "Private pages").

They contain no script and load nothing. Every value is cleaned and escaped, and the headers forbid what a page does not
need.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final
from urllib.parse import parse_qsl

from runwatch.base.json import loads
from runwatch.base.text import clean_line
from runwatch.service.errors import make_validation_error
from runwatch.service.http.responses import ServiceResponse

FORM_TYPE: Final = "application/x-www-form-urlencoded"

HTML_TYPE: Final = "text/html; charset=utf-8"

PAGE_PATHS: Final = ("/connect/", "/v1/github-connections/sign-out")
"""Path prefixes of private pages; a browser gets every failure there as a page."""

FORM_FIELDS: Final = 20
"""More fields than any page here has."""

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --back: #f3f5f7; --card: #fff; --line: #c4cad1;
  --edge: #6b7683; --act: #0b57a4; --on-act: #fff; --bad: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7ec; --soft: #a3acb7; --back: #101317; --card: #191d22;
  --line: #39414a; --edge: #8b949e; --act: #7db7f5; --on-act: #101317; --bad: #ff9492; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; color: var(--ink); background: var(--back); }
main { max-width: 36rem; margin: 8vh auto 2rem; padding: 1.5rem 2rem 2rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; overflow-wrap: anywhere; }
.service { margin: 0; color: var(--soft); font-size: .875rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .25rem 0 1rem; }
p { margin: 0 0 .75rem; }
dl { display: grid; grid-template-columns: 9rem 1fr; gap: .25rem 1rem; margin: 0 0 1rem; padding: .5rem 0;
  border: solid var(--line); border-width: 1px 0; }
dt { color: var(--soft); }
dd { margin: 0; }
label { display: block; margin: 1.25rem 0 .25rem; font-weight: 600; }
input { font: inherit; width: 100%; min-height: 2.75rem; padding: .5rem .75rem; color: inherit; background: var(--card);
  border: 1px solid var(--edge); border-radius: 4px; }
input[aria-invalid] { border: 2px solid var(--bad); }
.wrong { margin: 0 0 .25rem; color: var(--bad); font-weight: 600; }
.summary { margin: 0 0 1rem; padding: .75rem 1rem; border-left: 4px solid var(--bad); }
.summary p { margin: 0; font-weight: 600; }
.summary ul { margin: .25rem 0 0; padding-left: 1.25rem; }
.summary a { color: var(--bad); }
a { color: var(--act); }
button { font: inherit; font-weight: 600; margin-top: 1.25rem; min-height: 2.75rem; padding: .5rem 1.25rem;
  color: var(--on-act); background: var(--act); border: 0; border-radius: 4px; cursor: pointer; }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
.id { margin: 1.25rem 0 0; color: var(--soft); font-size: .875rem; }
@media (max-width: 30rem) { main { margin: 0; min-height: 100vh; padding: 1rem 1rem 2rem; border: 0; border-radius: 0; }
  button { width: 100%; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .25rem; } }
"""

_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

_HEADERS: Final = (
    (
        "Content-Security-Policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; "
        "base-uri 'none'",
    ),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    # With no-referrer a browser sends "Origin: null" with the form, which a foreign page may send too.
    ("Referrer-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"),
)

_NEW_ADDRESS: Final = "A new address comes from where you got this one: the console, or the command that printed it."

_PROBLEMS: Final[Mapping[str, tuple[str, str]]] = {
    "unauthenticated": ("The API key is not accepted", "Use an API key that is active here."),
    "permission_denied": (
        "The request was refused",
        "Nothing was changed. Copy the address that you were given into the address bar of your browser, and use the "
        "form that opens there.",
    ),
    "validation_failed": ("The request cannot be used", "Nothing was changed. Open the form again and fill it in."),
    "not_found": (
        "This address is not valid",
        f"Nothing was changed. Check that you copied the whole address. {_NEW_ADDRESS}",
    ),
    "invalid_state": ("This address no longer works", f"Nothing was changed by this. {_NEW_ADDRESS}"),
    "method_not_allowed": (
        "The request was refused",
        "Nothing was changed. Open the address itself instead of sending something to it.",
    ),
    "request_too_large": (
        "Too much was sent",
        "Nothing was changed. Open the form again and enter the key alone.",
    ),
    "rate_limited": ("Too many requests", "Nothing was changed. Wait, then open the form again."),
    "unsupported_media_type": ("The request cannot be used", "Nothing was changed. Open the form again and use that."),
}
"""Title and advice by Problem code."""

_OTHERWISE: Final = (
    "The service failed",
    "Open the form again in a minute. If it fails again, give the id below to the operator of this service.",
)

_OPENS_AGAIN: Final = frozenset({"validation_failed", "request_too_large", "rate_limited", "unsupported_media_type"})


@dataclass(frozen=True, slots=True)
class PageInput:
    """One input of a form.

    Attributes:
        kind: The HTML type. A ``password`` is hidden, and no page ever contains its value.
    """

    name: str
    label: str
    kind: str = "text"
    value: str = ""


@dataclass(frozen=True, slots=True)
class HtmlForm:
    """A page with a form.

    Attributes:
        sentences: What happens when the form is sent.
        action: Target of the form; empty for the page's own address.
    """

    title: str
    sentences: Sequence[str]
    button: str
    facts: Sequence[tuple[str, str]] = ()
    fields: Sequence[PageInput] = ()
    action: str = ""

    def show(self, *, headers: tuple[tuple[str, str], ...] = ()) -> ServiceResponse:
        return _document(self.title, self._opening() + self._inputs({}, {}), 200, headers)

    def refuse(self, typed: Mapping[str, str], problem: ServiceResponse) -> ServiceResponse:
        """Build the page again, with each error at its field and the earlier input except secrets.

        Args:
            problem: The Problem; without field errors, its detail is shown at the first field.
        """
        content = loads(problem.body)
        errors = {entry["field"]: entry["message"] for entry in content.get("errors", ())}
        errors = errors or {self.fields[0].name: content.get("detail") or content["title"]}
        listed = "".join(f'<li><a href="#{escape(name)}">{_clean(said)}</a></li>' for name, said in errors.items())
        summary = f'<div class="summary" role="alert"><p>Nothing was kept. Enter it again:</p><ul>{listed}</ul></div>'
        body = self._opening(summary) + self._inputs(typed, errors) + _occurrence(content)
        return _document(f"Error: {self.title}", body, problem.status, problem.headers)

    def _opening(self, summary: str = "") -> str:
        facts = "".join(f"<dt>{_clean(name)}</dt><dd>{_clean(value)}</dd>" for name, value in self.facts)
        return f"{_heading(self.title)}{summary}{f'<dl>{facts}</dl>' * bool(facts)}{_paragraphs(self.sentences)}"

    def _inputs(self, typed: Mapping[str, str], errors: Mapping[str, str]) -> str:
        action = f' action="{escape(self.action)}"' if self.action else ""
        inputs = [_input(field, field is self.fields[0], typed, errors) for field in self.fields]
        inner = f"{''.join(inputs)}<button>{_clean(self.button)}</button>"
        return f'<form method="post" autocomplete="off"{action}>{inner}</form>'


def render_page(title: str, sentences: Sequence[str], *, headers: tuple[tuple[str, str], ...] = ()) -> ServiceResponse:
    return _document(title, _heading(title) + _paragraphs(sentences), 200, headers)


def see_other(address: str, *, headers: tuple[tuple[str, str], ...] = ()) -> ServiceResponse:
    """Redirect the browser to another page of the service, which can be reloaded without sending the form again."""
    return ServiceResponse(303, headers=(*_HEADERS, ("Location", address), *headers))


def render_problem_page(response: ServiceResponse) -> ServiceResponse:
    """Build the page of a Problem: what failed, why, what to do, and the id to quote."""
    problem = loads(response.body)
    code = str(problem["type"]).rpartition("/")[2]
    title, advice = _PROBLEMS.get(code, _OTHERWISE)
    why = [problem.get("detail", ""), *(entry["message"] for entry in problem.get("errors", ()))]
    if problem.get("retry_after_s") is not None:
        why.append(f"The next request is taken in {problem['retry_after_s']} s.")
    # An empty reference is the page's own address, which it opens again.
    again = '<p><a href="">Open the form again</a></p>' if code in _OPENS_AGAIN else ""
    body = f"{_heading(title)}{_paragraphs([*filter(None, why), advice])}{again}{_occurrence(problem)}"
    return _document(title, body, response.status, response.headers)


def _document(title: str, body: str, status: int, headers: tuple[tuple[str, str], ...]) -> ServiceResponse:
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_clean(title)} · runwatch</title><style>{_STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )
    return ServiceResponse(status, text.encode("utf-8", "replace"), HTML_TYPE, (*_HEADERS, *headers))


def _heading(title: str) -> str:
    return f'<p class="service">runwatch · private page</p><h1>{_clean(title)}</h1>'


def _paragraphs(sentences: Sequence[str]) -> str:
    return "".join(f"<p>{_clean(sentence)}</p>" for sentence in sentences)


def _occurrence(problem: Mapping[str, Any]) -> str:
    return f'<p class="id">Id of this occurrence: {_clean(problem["instance"])}</p>'


def _input(field: PageInput, is_first: bool, typed: Mapping[str, str], errors: Mapping[str, str]) -> str:
    name, wrong = escape(field.name), errors.get(field.name)
    # Browsers ignore "off" for passwords and would offer to fill in a stored one.
    marks, said = ' autocomplete="new-password"' if field.kind == "password" else "", ""
    if wrong is not None:
        said = f'<p class="wrong" id="{name}-wrong">{_clean(wrong)}</p>'
        marks += f' aria-invalid="true" aria-describedby="{name}-wrong"'
    value = "" if field.kind == "password" else escape(typed.get(field.name, field.value))
    return (
        f'<label for="{name}">{_clean(field.label)}</label>{said}<input id="{name}" name="{name}" value="{value}"'
        f' type="{escape(field.kind)}" autocapitalize="none" spellcheck="false" required'
        f"{' autofocus' * is_first}{marks}>"
    )


def _clean(text: str) -> str:
    return escape(clean_line(text))


def read_form(body: bytes) -> Mapping[str, str]:
    """Parse the fields of an HTML form; the last value of each name wins.

    Refuses with ``validation_failed`` when the body is not a form.
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
        raise make_validation_error(("body", "Must be the fields of a form."), cause=type(error).__name__) from None
    return dict(fields)
