"""``models save``: save a model of the catalog so that runs can use it."""

from __future__ import annotations

from typing import Any

from runwatch.api.operations import list_operation
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.commands.arms import print_outcome
from runwatch.commands.call import Call
from runwatch.commands.resources import names_of
from runwatch.commands.session import Session
from runwatch.commands.writing import given_key, with_given, write, writing
from runwatch.records.model import CatalogEntry

SAVE = "postArms"


def save(call: Call) -> int:
    """``models save``: as the catalog says, or with fewer tags and data classes than it grants."""
    options, key = call.options, given_key(call)

    async def work(session: Session) -> int:
        entry = await _entry(session, options.id)
        given = {
            "display_name": options.name,
            "capability_tags": options.capability_tag,
            "data_class_grants": options.data_class,
            "cost_class": options.cost_class,
        }
        body = with_given(template_of(entry), given)
        print_outcome(session, await write(session, SAVE, f"save {options.id}", body=body, key=key))
        return 0

    return writing(call, SAVE, work)


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
