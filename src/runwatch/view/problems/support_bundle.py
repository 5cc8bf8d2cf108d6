"""The support bundle: one problem with everything needed to understand it, and no private data.

It contains the problem, the requests of the same call, activity within a few minutes around it, versions and settings.
Not in the specification. Redaction happens only here, over the finished bundle: members with secret-sounding names,
user name, query and tokens in addresses, and anything that looks like a key.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from runwatch import __version__
from runwatch.base.clock import format_iso
from runwatch.base.json import ExactNumber, dumps
from runwatch.base.log import REDACTED, redact
from runwatch.view.problems.activity import ActivityEntry
from runwatch.view.problems.explanations import explain_code, next_step, support_block
from runwatch.view.problems.journal_entries import ProblemEntry, RequestEntry

BUNDLE_FORMAT: Final = "runwatch-support-bundle"
"""Value of the member ``form``; distinguishes a bundle from other JSON."""

BUNDLE_VERSION: Final = 1
"""Increased when a member changes its meaning."""

MAX_NEARBY_REQUESTS: Final = 200
"""Maximum number of activity entries in a bundle; those nearest in time are kept."""

_SECRET_NAMES: Final = re.compile(
    r"(?i)(?:^|_)(?:api_?key|token|secrets?|password|passphrase|bearer|authorization|cookie|credentials?|key_command)$"
    r"|continue_url|^code_verifier$"
)
_END: Final = r"\s\"'<>"
_ADDRESS: Final = re.compile(
    rf"(?i)\b([a-z][a-z0-9+.-]{{1,20}}://)(?:[^/?#@{_END}]*@)?([^/?#{_END}]*)(/[^?#{_END}]*)?([?#][^{_END}]*)?"
)
_TOKEN_SEGMENT: Final = re.compile(r"(?=[^/]*[0-9A-Z])[^/]{16,}")
_PARAMETER: Final = re.compile(rf"(?i)\b(intent|token|code|secret|signature|sig)=[^&{_END}]+")
_KEY_LIKE: Final = re.compile(
    r"(?i)\bbearer\s+[^\s\"']+|\bsolverapi_[a-z0-9]+_[\w-]{6,}|\b(?:sk|rk|pk|ghp|gho|xox[abp])[-_][\w-]{12,}"
)
_SET: Final = "set"
_PRIVATE_SETTINGS: Final = ("key_command", "ca_file", "filters")


def build_bundle(
    problem: ProblemEntry,
    around: Iterable[ActivityEntry],
    *,
    made_at: datetime,
    settings: Sequence[Mapping[str, Any]] = (),
    versions: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Build the bundle of one problem, ready to be written as JSON.

    The activity around it may contain the problem itself; settings are given as ``key``, ``value`` and ``source``. The
    versions are those of this process unless others are given.
    """
    near = [each for each in around if not _is_itself(each, problem)]
    call = [each for each in near if _is_of_call(each, problem)]
    others = sorted((each for each in near if each not in call), key=lambda each: abs(float(each.offset_s or 0)))
    others = sorted(others[:MAX_NEARBY_REQUESTS], key=lambda each: str(each.raw.get("time")))
    code = problem.code or problem.problem.code or ""
    whole = {
        "form": BUNDLE_FORMAT,
        "form_version": BUNDLE_VERSION,
        "made_at": format_iso(made_at),
        "versions": dict(read_versions() if versions is None else versions),
        "problem": dict(problem.raw),
        "means": explain_code(code).sentence,
        "next": next_step(code, problem.status),
        "support_block": support_block(problem),
        "requests": [dict(each.raw) for each in call],
        "around": [dict(each.raw) for each in others],
        "settings": [_setting(row) for row in settings],
    }
    cleaned: dict[str, Any] = redact_secrets(whole)
    return cleaned


def encode_bundle(content: Mapping[str, Any]) -> bytes:
    """Encode a bundle as indented ASCII JSON."""
    return (dumps(dict(content), indent=2) + "\n").encode("ascii")


def build_bundle_name(problem: ProblemEntry, made_at: datetime) -> str:
    """Return the name of a bundle's file: letters, digits and dashes, whatever the instance contains."""
    own = re.sub(r"[^0-9A-Za-z]+", "", problem.instance or "")[:8] or "without-instance"
    return f"problem-{own}-{made_at:%Y%m%dT%H%M%SZ}.json"


def read_versions() -> dict[str, str]:
    """Return the versions of runwatch, Python and the system."""
    return {
        "runwatch": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}".strip(),
    }


def redact_secrets(value: Any) -> Any:
    """Redact members with secret names, keys, and tokens in addresses from a JSON value."""
    if isinstance(value, Mapping):
        return {
            _text(str(name)): REDACTED if _is_secret(str(name), inner) else redact_secrets(inner)
            for name, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redact_secrets(inner) for inner in value]
    return _text(value) if isinstance(value, str) else value


def parse_bundle(
    content: Mapping[str, Any],
) -> tuple[list[ActivityEntry], list[ProblemEntry], list[RequestEntry], list[dict[str, Any]]]:
    """Read a bundle: all its activity, the problem itself first, and the problems, requests and runs of that.

    Members may be missing.
    """
    activity: list[ActivityEntry] = []
    problems: list[ProblemEntry] = []
    requests: list[RequestEntry] = []
    runs: list[dict[str, Any]] = []
    own, found = content.get("problem"), [content.get(name) for name in ("requests", "around")]
    listed = [raw for part in found if isinstance(part, list) for raw in part if isinstance(raw, dict)]
    if isinstance(own, dict):
        kept = {name: value for name, value in own.items() if name != "raw"} | {"kept": own.get("raw")}
        listed.insert(0, {"offset_s": 0, **kept, "what": "problem"})
    for raw in listed:
        activity.append(ActivityEntry(raw))
        members = {key: value for key, value in raw.items() if key not in _ONLY_AROUND}
        response = raw.get("kept")
        if raw.get("what") == "request":
            requests.append(RequestEntry(members))
        elif raw.get("what") == "problem":
            problems.append(ProblemEntry(members | ({"raw": response} if isinstance(response, dict) else {})))
        elif raw.get("what") == "run":
            runs.append({"execution_id": raw.get("run_id"), "status": raw.get("state"), **_run(response)})
    return activity, problems, requests, runs


def is_bundle(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("form") == BUNDLE_FORMAT


_ONLY_AROUND: Final = frozenset({"what", "found_in", "offset_s", "kept"})


def _run(kept: object) -> dict[str, Any]:
    """Return the run kept with its end. A run that no list showed has only an event, which is not a run."""
    return kept if isinstance(kept, dict) and "event_id" not in kept and "status" in kept else {}


def _is_itself(it: ActivityEntry, problem: ProblemEntry) -> bool:
    if it.what != "problem":
        return False
    return it.instance == problem.instance if problem.instance else it.raw.get("time") == problem.raw.get("time")


def _is_of_call(it: ActivityEntry, problem: ProblemEntry) -> bool:
    """Whether an entry is an attempt of the call that met the problem: the same key, or the same time and path."""
    if it.what != "request":
        return False
    if problem.key is not None and it.key == problem.key:
        return True
    return (it.raw.get("time"), it.method, it.path) == (problem.raw.get("time"), problem.method, problem.path)


def _setting(row: Mapping[str, Any]) -> dict[str, Any]:
    names = str(row.get("key", "")).split(".")
    value = row.get("value")
    is_private = names[0] in _PRIVATE_SETTINGS or names[-1] in _PRIVATE_SETTINGS
    shown = (_SET if value else value) if is_private else value
    # Other members, such as the file of a setting, are not needed.
    return {"setting": row.get("key"), "value": shown, "source": row.get("source")}


def _is_secret(name: str, value: object) -> bool:
    # Only text and numbers can be secrets; objects with such a name are searched instead.
    is_value = isinstance(value, (str, int, float, ExactNumber)) and not isinstance(value, bool)
    return is_value and _SECRET_NAMES.search(name) is not None


def _text(text: str) -> str:
    text = _ADDRESS.sub(_address, redact(text))
    text = _PARAMETER.sub(lambda match: f"{match[1]}={REDACTED}", text)
    return _KEY_LIKE.sub(REDACTED, text)


def _address(match: re.Match[str]) -> str:
    scheme, host, path, rest = match.groups()
    shown = _TOKEN_SEGMENT.sub(REDACTED, path or "")
    return f"{scheme}{host}{shown}{f'?{REDACTED}' if rest else ''}"
