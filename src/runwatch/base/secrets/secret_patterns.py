"""Recognition of secrets in a text that may only name one (manual: security, "Misplaced secrets")."""

from __future__ import annotations

import base64
import re
from functools import cache
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from runwatch.base.lazy_pattern import lazy_pattern

_KEYS: Final = (
    (r"-----BEGIN [A-Z0-9 ]{1,40}-----", "a PEM block"),
    (r"(?i:bearer)[\s:]{1,8}(?=\S{0,200}[0-9])\S{16,}", "a bearer token"),
    (r"solverapi_(?:live|test)_[A-Za-z0-9_-]{8,}", "a key of this API"),
    (r"sk-(?:ant|proj|or|svcacct|admin|lf|live|test)-[A-Za-z0-9_-]{8,}", "a key of a model provider"),
    (r"(?i:sk)-(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}", "a key of a model provider"),
    (r"(?:gsk|fw|r8|csk|tgp_v1)_[A-Za-z0-9_-]{20,}", "a key of a model provider"),
    (r"(?:pplx|xai|nvapi|csk)-[A-Za-z0-9_-]{20,}", "a key of a model provider"),
    (r"hf_[A-Za-z0-9]{16,}", "a Hugging Face token"),
    (r"gh[pousr]_[A-Za-z0-9]{16,}", "a GitHub token"),
    (r"github_pat_[A-Za-z0-9_]{16,}", "a GitHub token"),
    (r"gl(?:pat|ptt|dt|rt|rtr|cbt|ft|oas|soat|agent|imt)-[A-Za-z0-9_.-]{16,}", "a GitLab token"),
    (r"xox[abceoprs]-[A-Za-z0-9-]{8,}", "a Slack token"),
    (r"xapp-[0-9]-[A-Za-z0-9-]{8,}", "a Slack token"),
    (r"(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])", "an AWS access key"),
    (r"AIza[A-Za-z0-9_-]{30,}", "a Google key"),
    (r"ya29\.[A-Za-z0-9_-]{16,}", "a Google token"),
    (r"GOCSPX-[A-Za-z0-9_-]{16,}", "a Google key"),
    (r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}", "a JSON web token"),
    (r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,}", "a Stripe key"),
    (r"whsec_[A-Za-z0-9+/=_-]{16,}", "a signing secret"),
    (r"hv[sbr]\.[A-Za-z0-9_-]{16,}", "a Vault token"),
    (r"dapi[0-9a-f]{32}", "a Databricks token"),
    (r"(?:npm_|dckr_pat_|dop_v1_|shpat_|lin_api_)[A-Za-z0-9_-]{16,}", "an access token"),
    (r"pypi-[A-Za-z0-9_-]{16,}", "an access token"),
    (r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "a SendGrid key"),
    (r"AGE-SECRET-KEY-1[A-Z0-9]{16,}", "an age key"),
    (r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/?#@:]*:[^\s/?#@]+@", "a URL with a password"),
)
"""How well-known keys begin, with the words for an error; none matches inside a word."""

_HINTS: Final = (
    (r"(?i:authorization)\s*:\s*\S+", "an Authorization header"),
    (r"(?i:bearer)[\s:]+[^\s]{6,}", "a bearer token"),
    (r"(?i:password|passwd|pwd)\s*[=:]\s*\S{4,}", "a password"),
    (r"solverapi_[A-Za-z0-9_-]+", "a key of this API"),
    (r"(?i:sk-(?:ant|proj|or|svcacct|admin|lf|live|test))-[A-Za-z0-9_-]{8,}", "a key of a model provider"),
    (r"(?i:sk)-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}", "a key of a model provider"),
    (r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}", "a JSON web token"),
    (r"eyJ[A-Za-z0-9_+/-]{24,}", "a JSON web token"),
    (r"pypi-[A-Za-z0-9_-]{8,}", "an access token"),
    (r"key-[0-9a-f]{32}", "a Mailgun key"),
)
"""Forms that prose and ids may have too; a name of a secret has none of them."""

_SECRET_PARAMETERS: Final = frozenset(
    {
        "accesskey", "accesstoken", "apikey", "authtoken", "bearer", "clientsecret", "passwd", "password", "privatekey",
        "pwd", "secret", "secretkey", "sig", "signature", "token", "xamzcredential", "xamzsecuritytoken",
        "xamzsignature", "xgoogsignature",
    }
)  # fmt: skip
"""Query parameters with secret values, in lower case without separators."""

_PARAMETER_CHARACTERS: Final = 8
"""Shorter values are names and numbers."""

_LONG_CHARACTERS: Final = 24
"""Minimum letters and digits of a text that is checked for randomness."""

_TOKEN_CHARACTERS: Final = 16
"""Minimum letters and digits in a row that are checked."""

_WORD_SHARE: Final = 0.5
"""Share of words below which a row of letters and digits is random; for long rows :data:`_LONG_SHARE`."""

_LONG_SHARE: Final = 0.6

_AWS_FORM: Final = r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9/+]{40}"
"""A secret key of AWS, which has no distinctive start."""

_DIGITS_OF_NAMES: Final = frozenset({4, 8, 12})
"""Lengths of years, dates and account numbers."""

_SHORTEST_KEY: Final = 16
"""A shorter text of small letters and underscores is no key, except one of this API."""

_NAME: Final = lazy_pattern(r"[a-z_]*")
_JUDGED_CHARACTERS: Final = 4096

REMOVED: Final = "[removed]"
"""What is shown in place of a secret."""

_UUID: Final = r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])"
# One or more words, followed by hexadecimal digits or Crockford's base 32, as in ids.
_ID: Final = (
    r"(?<![0-9A-Za-z])[A-Za-z][A-Za-z0-9]{0,31}[_:./-](?:[0-9a-f]{8,128}|[0-9A-HJKMNP-TV-Z]{26})(?![0-9A-Za-z])"
)


def find_secret(text: str) -> str | None:
    """Return the kind of secret in a text, in words for an error, or ``None`` for a text that looks like a plain name.

    A text holds a secret if a well-known key begins in it, if it is a URL with a password or a key among its
    parameters, or if it is long and looks random. The words never repeat any part of the text.
    """
    text = text[:_JUDGED_CHARACTERS]
    if _is_short_name(text):
        return None
    # A copied key may contain a line break or an invisible character; an address may contain escapes.
    for spelling in dict.fromkeys((text, "".join(text.split()), _visible(text), unquote(text))):
        found = _match(_KEYS + _HINTS, spelling) or _basic(spelling) or _in_url(spelling)
        if found is not None:
            return found
    return "a long random text" if _looks_random(_visible(text).strip()) else None


def find_known_key(text: str) -> str | None:
    """Return the kind of key in a text of any kind, in words for an error, or ``None``.

    Only well-known keys and URLs with a password count, so that ids, names and prose pass.
    """
    text = text[:_JUDGED_CHARACTERS]
    if _is_short_name(text):
        return None
    for spelling in dict.fromkeys((text, text if text.isprintable() else _visible(text), unquote(text))):
        found = _match(_KEYS, spelling)
        if found is not None:
            return found
    return None


def remove_known_keys(text: str) -> str:
    """Return a text with ``[removed]`` in place of every well-known key; in place of all of it if one is written with
    escapes or invisible characters.
    """
    if find_known_key(text) is None:
        return text
    kept = _anywhere(_KEYS).sub(REMOVED, text)
    return kept if find_known_key(kept) is None else REMOVED


def _is_short_name(text: str) -> bool:
    """Return whether a text is one of those that no form fits, as nearly all members of a request are called."""
    return len(text) < _SHORTEST_KEY and _NAME.fullmatch(text) is not None and "solverapi_" not in text


def _visible(text: str) -> str:
    return "".join(character for character in text if character.isprintable())


@cache
def _anywhere(forms: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    """Return one pattern for all forms. It is compiled at first use, because the console's start does not need it."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(f'(?:{form})' for form, _ in forms)})")


def _match(forms: tuple[tuple[str, str], ...], text: str) -> str | None:
    found = _anywhere(forms).search(text)
    if found is None:
        return None
    return next(words for form, words in forms if re.compile(form).match(text, found.start()))


def _basic(text: str) -> str | None:
    """Recognize credentials of HTTP's Basic scheme: a name and a password in base64."""
    match = re.search(r"(?i)(?<![a-z0-9])basic\s+([a-z0-9+/]{8,}={0,2})", text)
    if match is None:
        return None
    try:
        packed = base64.b64decode(match[1] + "=" * (-len(match[1]) % 4))
    except ValueError:
        return None
    return "a user name and password" if b":" in packed else None


def _in_url(text: str) -> str | None:
    if "?" not in text:
        return None
    try:
        query = urlsplit(text.strip()).query
    except ValueError:
        return None
    for name, value in parse_qsl(query):
        plain = re.sub(r"[^a-z]", "", name.lower())
        if plain in _SECRET_PARAMETERS and len(value) >= _PARAMETER_CHARACTERS:
            return "a URL with a key among its parameters"
    return None


def _looks_random(text: str) -> bool:
    if re.fullmatch(r"[0-9A-Fa-f]{32,}", text) or re.fullmatch(_AWS_FORM, text):
        return True
    rest = re.sub(_ID, " ", re.sub(_UUID, " ", text))
    if sum(character.isalnum() for character in rest) < _LONG_CHARACTERS:
        return False
    tokens = re.findall(rf"[A-Za-z0-9]{{{_TOKEN_CHARACTERS},}}", rest)
    if any(_is_random(token) for token in tokens):
        return True
    # A base64 key may have separators anywhere; a name with a scheme or a file ending has other characters too.
    return bool(tokens) and bool(re.fullmatch(r"[A-Za-z0-9+/_=-]{32,}", text)) and _word_share(text) < _WORD_SHARE


def _is_random(token: str) -> bool:
    """Return whether a row of letters and digits does not consist of words."""
    if token.isdigit():
        return False
    return _word_share(token) < (_LONG_SHARE if len(token) >= _LONG_CHARACTERS else _WORD_SHARE)


def _word_share(text: str) -> float:
    """Return the share of words among the letters and digits of a text."""
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+", text)
    return sum(len(piece) for piece in pieces if _is_word(piece)) / sum(map(len, pieces))


def _is_word(piece: str) -> bool:
    """Return whether a piece can be spoken: letters with vowels, or the digits of a year or an account."""
    if piece.isdigit():
        return len(piece) in _DIGITS_OF_NAMES
    vowels = sum(letter in "aeiouy" for letter in piece.lower())
    return len(piece) >= 3 and vowels * 5 >= len(piece) and not re.search(r"(?i)[^aeiouy]{5}", piece)
