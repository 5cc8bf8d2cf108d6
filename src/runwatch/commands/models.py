"""``models save``: save a model of the catalog so that runs can use it."""

from __future__ import annotations

import sys
from typing import Any, Final

from runwatch.api.operations import list_operation
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.commands.call import Call
from runwatch.commands.resources import as_record, names_of, print_record
from runwatch.commands.session import Session
from runwatch.commands.writing import given_key, with_given, write, writing
from runwatch.records.arm import Arm
from runwatch.records.model import CatalogEntry
from runwatch.view.resources.arms import ARMS

SAVE = "postArms"

KNOWN: Final = ("public", "sandbox", "tenant_internal")
"""The data classes that the specification shows; a service may have others."""

DEFAULT_CLASS: Final = "public"
"""The data class of a saved model when none is named."""


def save(call: Call) -> int:
    """``models save``: as the catalog says, with the data classes that were asked for."""
    options, key = call.options, given_key(call)
    data_classes = ask_data_classes(call)

    async def work(session: Session) -> int:
        entry = await _entry(session, options.id)
        given = {
            "display_name": options.name,
            "capability_tags": options.capability_tag,
            "cost_class": options.cost_class,
        }
        body = with_given(with_data_classes(call, entry, data_classes), given)
        print_outcome(session, await write(session, SAVE, f"save {options.id}", body=body, key=key))
        return 0

    return writing(call, SAVE, work)


def print_outcome(session: Session, value: object) -> None:
    """Print what came of saving a model, as the service answered it."""
    print_record(session, ARMS, as_record(Arm, value))


def ask_data_classes(call: Call) -> list[str] | None:
    """The data classes that a model is to be granted, from ``--data-class`` or from a user at the terminal.

    Returns:
        The classes, or ``None`` when neither names any.
    """
    given: list[str] | None = call.options.data_class
    if given or not (call.stdin.isatty() and sys.stderr.isatty()):
        return given
    sys.stderr.write(f"Data classes that runs may give the model ({', '.join(KNOWN)}) [{DEFAULT_CLASS}]: ")
    sys.stderr.flush()
    return call.stdin.readline().replace(",", " ").split() or [DEFAULT_CLASS]


def with_data_classes(call: Call, entry: CatalogEntry, data_classes: list[str] | None) -> dict[str, Any]:
    """The body that saves a catalog entry with some data classes; with ``public`` alone where none were asked for.

    Raises:
        RunwatchError: the entry has no such body, or may not be given ``public`` and no class was asked for.
    """
    body = template_of(entry)
    allowed = [str(name) for name in body.get("data_class_grants") or ()]
    if data_classes:
        return body | {"data_class_grants": data_classes}
    if DEFAULT_CLASS not in allowed:
        raise RunwatchError(
            "No data class was named for the model",
            detail=f"it may be granted {', '.join(allowed) or 'none'}",
            hint="Name one with --data-class.",
        )
    if len(allowed) > 1:
        others = ", ".join(name for name in allowed if name != DEFAULT_CLASS)
        call.output.note(f"runs may give it {DEFAULT_CLASS} data alone; --data-class grants others: {others}")
    return body | {"data_class_grants": [DEFAULT_CLASS]}


def template_of(entry: CatalogEntry) -> dict[str, Any]:
    """The body that saves a catalog entry as it is.

    Raises:
        RunwatchError: the entry has none.
    """
    template = entry.arm_registration_template
    if template is None:
        raise RunwatchError("The catalog does not say how this model is saved", detail=entry.id)
    return dict(template.raw)


async def catalog(session: Session) -> list[CatalogEntry]:
    """The whole catalog.

    Raises:
        ApiError: it cannot be read.
    """
    return [entry async for page in session.client.pages(list_operation(CatalogEntry)) for entry in page.records]


async def _entry(session: Session, name: str) -> CatalogEntry:
    found = [entry for entry in await catalog(session) if name in names_of(entry)]
    if not found:
        raise RunwatchError(f"The catalog has no model '{name}'", hint="runwatch models list shows what can be saved.")
    if len(found) > 1:
        ids = ", ".join(entry.id for entry in found)
        raise UsageError(
            f"Several sources serve '{name}'", detail=f"the deployments are {ids}", hint="Name one of them."
        )
    return found[0]
