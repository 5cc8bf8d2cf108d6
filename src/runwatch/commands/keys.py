"""``keys create|label|revoke``: the organization's API keys (wire reference 2.11)."""

from __future__ import annotations

from typing import Final

from runwatch.base.errors import UsageError
from runwatch.commands.call import Call
from runwatch.commands.outcomes import for_each
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session
from runwatch.commands.writing import with_given, write, writing
from runwatch.records.apikey import MAX_KEY_S, ApiKey
from runwatch.view.bounds import read_seconds
from runwatch.view.resources.organization import KEYS

CREATE: Final = "postApiKeys"
LABEL: Final = "patchApiKeysByApiKeyId"
REVOKE: Final = "postApiKeysByApiKeyIdRevoke"


def create(call: Call) -> int:
    """``keys create``: make a key and print it, this once; it is kept nowhere on this machine.

    Raises:
        UsageError: ``--expires`` is no length of time.
    """
    given = {
        "display_name": call.options.name,
        "role": call.options.role,
        "expires_in_s": _seconds(call.options.expires),
    }
    body = with_given({}, given) or None

    async def work(session: Session) -> int:
        made = as_record(ApiKey, await write(session, CREATE, "make an API key", body=body))
        print_record(session, KEYS, made)
        if made.raw.get("key"):
            call.output.note(
                "the key is shown this once; keep it now, for example with 'runwatch config key set PROFILE'"
            )
        else:
            call.output.warn("the service did not show the key; revoke this one and make another")
        if body is not None and "expires_in_s" in body and made.raw.get("expires_at") is None:
            call.output.warn("the service does not say when the key expires; it may never do")
        return 0

    return writing(call, CREATE, work)


def _seconds(text: str | None) -> int | None:
    if text is None:
        return None
    seconds = read_seconds(text, MAX_KEY_S)
    if seconds is None:
        raise UsageError(
            "The time after which the key expires is not usable",
            detail=f"--expires {text}",
            hint="Give a number with its unit, from 1s to 3650d, for example 30d or 12h.",
        )
    return seconds


def label(call: Call) -> int:
    """``keys label``: give a key another name."""
    key_id = call.options.id

    async def work(session: Session) -> int:
        body = {"display_name": call.options.name}
        value = await write(session, LABEL, f"label {key_id}", path={"api_key_id": key_id}, body=body)
        print_record(session, KEYS, as_record(ApiKey, value))
        return 0

    return writing(call, LABEL, work)


def revoke(call: Call) -> int:
    """``keys revoke``: one outcome a key; a revoked key never works again."""

    async def one(session: Session, key_id: str) -> str | None:
        value = await write(session, REVOKE, f"revoke {key_id}", path={"api_key_id": key_id})
        return value.get("status") if isinstance(value, dict) else None

    return for_each(call, REVOKE, one, asks="Revoke", singular="key", member="api_key_id", done="revoked")
