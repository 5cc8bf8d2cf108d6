"""``models save``: save a model of the catalog for use in runs."""

from __future__ import annotations

import sys
from typing import Any, Final

from runwatch.base.closest_word import did_you_mean
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.list_reader import read_all
from runwatch.commands.shared.record_printer import print_record
from runwatch.commands.shared.record_reader import list_record_names, parse_record_of_kind
from runwatch.commands.shared.session import CommandSession
from runwatch.commands.shared.writes import merge_options, read_idempotency_key, run_write, send_write
from runwatch.records.arm import Arm
from runwatch.records.model import CatalogEntry
from runwatch.view.actions.fields import DEFAULT_DATA_CLASS
from runwatch.view.resources.arms import ARMS

SAVE = "postArms"

KNOWN: Final = ("public", "sandbox", "tenant_internal")
"""Data classes in the specification; a service may have others."""


def save(call: Invocation) -> int:
    """``models save``: save as described by the catalog, with the requested data classes."""
    options, key = call.options, read_idempotency_key(call)
    data_classes = ask_data_classes(call)

    async def work(session: CommandSession) -> int:
        entry = await _entry(session, options.id)
        given = {
            "display_name": options.name,
            "capability_tags": options.capability_tag,
            "cost_class": options.cost_class,
        }
        body = merge_options(with_data_classes(call, entry, data_classes), given)
        print_outcome(session, await send_write(session, SAVE, f"save {options.id}", body=body, key=key))
        return 0

    return run_write(call, SAVE, work)


def print_outcome(session: CommandSession, value: object) -> None:
    """Print the saved model as returned by the service."""
    print_record(session, ARMS, parse_record_of_kind(Arm, value))


def ask_data_classes(call: Invocation) -> list[str] | None:
    """Return the data classes to grant, from ``--data-class`` or a prompt.

    Returns:
        The classes, or ``None`` if neither names any.
    """
    given: list[str] | None = call.options.data_class
    if given or not (call.stdin.isatty() and sys.stderr.isatty()):
        return given
    others = ", ".join(name for name in KNOWN if name != DEFAULT_DATA_CLASS)
    sys.stderr.write(f"Data classes that runs may give the model besides {DEFAULT_DATA_CLASS} ({others}) [none]: ")
    sys.stderr.flush()
    return call.stdin.readline().replace(",", " ").split() or [DEFAULT_DATA_CLASS]


def with_data_classes(
    call: Invocation, entry: CatalogEntry, data_classes: list[str] | None, *, is_known: bool = False
) -> dict[str, Any]:
    """Return the body that saves a catalog entry with ``public``, if allowed, and the requested data classes.

    Args:
        is_known: Whether the user knows already that ``public`` alone is granted.

    Raises:
        RunwatchError: The entry has no such body, or does not allow ``public`` and no class was requested.
    """
    template = entry.arm_registration_template
    if template is None:
        raise RunwatchError("The catalog does not say how to save this model", detail=entry.id)
    body = dict(template.raw)
    allowed = [str(name) for name in body.get("data_class_grants") or ()]
    if data_classes:
        usual = [DEFAULT_DATA_CLASS] if DEFAULT_DATA_CLASS in allowed else []
        return body | {"data_class_grants": list(dict.fromkeys([*usual, *data_classes]))}
    if DEFAULT_DATA_CLASS not in allowed:
        raise RunwatchError(
            "No data class was named for the model",
            detail=f"it may be granted {', '.join(allowed) or 'none'}",
            hint="Name one with --data-class.",
        )
    if len(allowed) > 1 and not is_known:
        others = ", ".join(name for name in allowed if name != DEFAULT_DATA_CLASS)
        call.output.note(f"runs may give it {DEFAULT_DATA_CLASS} data alone; --data-class adds others: {others}")
    return body | {"data_class_grants": [DEFAULT_DATA_CLASS]}


async def _entry(session: CommandSession, name: str) -> CatalogEntry:
    entries = await read_all(session, CatalogEntry)
    found = [entry for entry in entries if name in list_record_names(entry)]
    if not found:
        raise RunwatchError(
            f"The catalog has no model '{name}'",
            detail=did_you_mean(name, {known for entry in entries for known in list_record_names(entry)}),
            hint="'runwatch models list' shows the catalog.",
        )
    if len(found) > 1:
        ids = ", ".join(entry.id for entry in found)
        raise UsageError(
            f"Several sources serve '{name}'", detail=f"the deployments are {ids}", hint="Name one of them."
        )
    return found[0]
