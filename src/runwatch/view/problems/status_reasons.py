"""Why a saved model, an output check or an agent cannot be used: the words of the service, short and in plain English.

The service says it in a sentence, or in a code. Both begin with what matters, because a list cuts their end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runwatch.base.lazy_pattern import lazy_pattern
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText, json_text, line
from runwatch.view.text.shell_commands import add_service
from runwatch.view.text.styled_text import CellText, StyledText

_TEXTS: Final[Mapping[str, str]] = {
    "absent_from_feed": "its provider no longer lists it",
    "authentication_failed": "its key is missing or refused",
    "connection_expired": "its key has expired",
    "connection_revoked": "its key was revoked",
    "dns_resolution_failed": "its host name is not known",
    "drift": "its data classes changed",
    "endpoint_unreachable": "no response",
    "not_ready": "its last test did not pass",
    "operator_suspended": "disconnected or removed",
    "private_range_rejected": "its address is private",
    "probe_timeout": "no response in time",
    "provider_deprecated": "its provider takes it off",
    "response_incompatible": "its response is not valid",
    "scheme_rejected": "its address is not https",
}

_CODE: Final = lazy_pattern(r"[a-z0-9]+(?:_[a-z0-9]+)+")


def status_reason_text(reason: str) -> str:
    """Return a reason in words; a sentence as it is, and a code that is not known with spaces. Not safe text."""
    return _TEXTS.get(reason) or (reason.replace("_", " ") if _CODE.fullmatch(reason) else reason)


def status_reason_cell(reason: str, _: RenderContext) -> SafeText:
    """Format a reason for a list."""
    return line(status_reason_text(reason))


def detail_status_reason(reason: object, context: RenderContext) -> CellText:
    """Format a reason for a detail, whole, with the code that filters know it by."""
    if reason is None or reason == "":
        return StyledText(line(context.glyphs.nothing), Role.QUIET)
    if not isinstance(reason, str):
        return line(json_text(reason), None)
    text = add_service(status_reason_text(reason), context.service)
    return line(text if text == reason or " " in reason else f"{text} ({reason})", None)
