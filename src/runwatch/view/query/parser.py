"""Parse the text of a filter (manual: decisions, "Interface conventions").

Field names are those of the columns, their aliases, and dotted paths of the record's members.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from runwatch.base.closest_word import closest_word, closest_words
from runwatch.records.states import FINAL_STATES, LIVE_STATES
from runwatch.view.query.expressions import (
    AllOf,
    AnyOf,
    ContainsText,
    FieldCompares,
    FieldContains,
    FieldEquals,
    FuzzyText,
    HasField,
    HasFlag,
    MatchesPattern,
    Not,
    Query,
    QueryError,
    Term,
)
from runwatch.view.query.safe_regex import UnsafeRegexError, compile_safe_regex
from runwatch.view.query.value_types import comparison_refusal
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text import json_paths
from runwatch.view.text.values import parse_value

FILTER_FORMS: Final = (
    ("word", "somewhere in what the row says, its times left out"),
    ('"two words"', "the same, with spaces"),
    ("~word", "its letters in this order with others between; best match first, as in fzf"),
    ("/re/", "a regular expression"),
    ("!term", "not"),
    ("a b", "both"),
    ("a | b", "one of them; a b binds more tightly"),
    ("field:x", "the field contains x"),
    ("field=x  field!=x", "it is exactly x, or is not"),
    ("cost>=0.01  age<10m", "more or less: numbers, ages and dates, with > >= < <="),
    ("has:field", "it has a value"),
    ("is:live", "a state: is:final, is:live, is:problem, is:test"),
    (":name", "a named filter from the settings"),
)
"""Each form of a filter and what it means, as help and manual show them."""

MAX_FILTER_CHARACTERS: Final = 2000
_SPACE: Final = re.compile(r"\s*")
_NAME: Final = re.compile(r"([A-Za-z_][\w.\-\[\]\\]*)(!=|>=|<=|[:=><])")
_BARE: Final = re.compile(r"[^\s|]+")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_REGEX: Final = re.compile(r"/((?:[^/\\]|\\.)*)/(?=\s|\||$)", re.DOTALL)
_ENDS: Final = re.compile(r"\s|\||$")
_PLAIN: Final = re.compile(r"[\w./:@\-]+")

HINT: Final = "To search for text as it is, put it in double quotes."


def parse_filter(text: str, spec: ResourceSpec[Any], *, named: Mapping[str, str] | None = None) -> Query:
    """Parse a filter as typed; an empty one matches everything.

    Raises:
        QueryError: The filter has a syntax error, names an unknown field, flag or filter, or contains a refused
            pattern.
    """
    term = _Parser(text, spec, named or {}, ()).read()
    servers = {field.id: field.server_parameter for field in spec.all_fields() if field.server_parameter}
    return Query(text, term, servers)


def build_field_filter(field: str, *values: str) -> str:
    """Return the filter for rows with one of these values; empty if it would exceed the maximum length of a filter."""
    text = " | ".join(f"{field}={quote_value(value)}" for value in values)
    return text if len(text) <= MAX_FILTER_CHARACTERS else ""


def quote_value(value: str) -> str:
    """Format a value for use after an operator, in double quotes if needed."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return value if _PLAIN.fullmatch(value) else f'"{escaped}"'


class _Parser:
    def __init__(
        self,
        text: str,
        spec: ResourceSpec[Any],
        named: Mapping[str, str],
        inside: tuple[str, ...],
    ) -> None:
        if len(text) > MAX_FILTER_CHARACTERS:
            raise QueryError(f"a filter has at most {MAX_FILTER_CHARACTERS} characters", MAX_FILTER_CHARACTERS)
        self.text = text
        self.spec = spec
        self.named = named
        # The named filters that contain this text, to detect a filter that contains itself.
        self.inside = inside
        self.position = 0

    def read(self) -> Term:
        """Parse the whole text: alternatives, each a sequence of terms."""
        alternatives = [self._side_by_side()]
        while self.position < len(self.text):
            bar = self.position
            self.position += 1
            if not alternatives[-1].terms:
                raise QueryError("nothing before |", bar, HINT)
            alternatives.append(self._side_by_side())
            if not alternatives[-1].terms:
                raise QueryError("nothing after |", bar, HINT)
        return alternatives[0] if len(alternatives) == 1 else AnyOf(tuple(alternatives))

    def _side_by_side(self) -> AllOf:
        terms: list[Term] = []
        while True:
            self._skip_space()
            if self.position >= len(self.text) or self.text[self.position] == "|":
                return AllOf(tuple(terms))
            term = self._term()
            # A named filter without alternatives is inlined.
            terms.extend(term.terms if isinstance(term, AllOf) else (term,))

    def _skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        assert match is not None
        self.position = match.end()

    def _term(self) -> Term:
        start = self.position
        while self.text.startswith("!", self.position):
            self.position += 1
        negations = self.position - start
        if _ENDS.match(self.text, self.position):
            raise QueryError("nothing after !", start, HINT)
        term = self._plain()
        return Not(term) if negations % 2 else term

    def _plain(self) -> Term:
        start = self.position
        char = self.text[start]
        if char == '"':
            return ContainsText(self._quoted())
        if char == "~":
            return self._fuzzy()
        if char == "/":
            return self._regex()
        if char == ":":
            return self._named()
        match = _NAME.match(self.text, start)
        if match is None:
            return ContainsText(self._bare())
        name, operator = match[1], match[2]
        self.position = match.end()
        value_at = self.position
        value = self._value(f"{name}{operator}")
        if operator == ":" and name in {"is", "has"}:
            return self._is(value, value_at) if name == "is" else HasField(self._field(value, value_at))
        field = self._field(name, start)
        match operator:
            case ":":
                return FieldContains(field, value)
            case "=":
                return FieldEquals(field, value)
            case "!=":
                return Not(FieldEquals(field, value))
        bound = parse_value(value)
        refusal = comparison_refusal(self.spec, name, operator, bound)
        if bound is None or refusal is not None:
            raise QueryError(refusal or "", value_at)
        return FieldCompares(field, operator, bound)

    def _value(self, before: str) -> str:
        if self.text.startswith('"', self.position):
            return self._quoted()
        if _ENDS.match(self.text, self.position):
            raise QueryError(f"{before} has no value", self.position, HINT)
        return self._bare()

    def _bare(self) -> str:
        match = _BARE.match(self.text, self.position)
        assert match is not None
        self.position = match.end()
        return match[0]

    def _quoted(self) -> str:
        match = _QUOTED.match(self.text, self.position)
        if match is None:
            raise QueryError("the quote is not closed", self.position)
        self.position = match.end()
        return re.sub(r'\\(["\\])', r"\1", match[1])

    def _fuzzy(self) -> Term:
        self.position += 1
        return FuzzyText(self._value("~").lower())

    def _regex(self) -> Term:
        start = self.position
        match = _REGEX.match(self.text, start)
        if match is None:
            raise QueryError("the pattern is not closed by a /", start, HINT)
        self.position = match.end()
        try:
            return MatchesPattern(compile_safe_regex(match[1]))
        except UnsafeRegexError as error:
            raise QueryError(error.reason, start + 1 + error.position) from None

    def _named(self) -> Term:
        start = self.position
        self.position += 1
        name = "" if _ENDS.match(self.text, self.position) else self._bare()
        if name not in self.named:
            near = closest_word(name, self.named)
            raise QueryError(f"there is no filter named {name!r}", start, nearest=f":{near}" if near else "")
        if name in self.inside:
            raise QueryError(f"the filter {name!r} contains itself", start)
        inner = _Parser(self.named[name], self.spec, self.named, (*self.inside, name))
        try:
            return inner.read()
        except QueryError as error:
            reason = f"in the filter {name!r}: {error.reason}"
            raise QueryError(reason, start, error.hint, nearest=error.nearest, known=error.known) from None

    def _is(self, flag: str, position: int) -> Term:
        if flag in self.spec.flags:
            return HasFlag(flag)
        known = list(self.spec.flags)
        near = closest_words(flag, known, len(known))
        # Events of a run have the field "state".
        states = [name for name in ("status", "state") if self.spec.field(name) is not None]
        if flag in (*FINAL_STATES, *LIVE_STATES) and states:
            nearest = f"{states[0]}:{flag}"
        else:
            nearest = f"is:{near[0]}" if near else ""
        known.sort(key=lambda word: near.index(word) if word in near else len(near))
        raise QueryError(f"unknown is:{flag}", position, nearest=nearest, known=known or ("none",))

    def _field(self, name: str, position: int) -> str:
        field = self.spec.field(name)
        if field is not None:
            return field.id
        path = json_paths.parse_path(name)
        if len(path) > 1 or path[0] in self.spec.record.MEMBERS:
            return name
        known = [known for field in self.spec.all_fields() for known in (field.id, *field.aliases)]
        near = closest_word(name, [*known, *self.spec.record.MEMBERS])
        raise QueryError(f"there is no field {name!r}", position, HINT, nearest=near or "")
