"""Applications of templates: the steps that call a source, and the order of all steps."""

from __future__ import annotations

from functools import partial
from typing import Final

from runwatch.records.requests.template import ByokOffering
from runwatch.service.access.authentication import Principal
from runwatch.service.models import connections, model_sync
from runwatch.service.models.providers.types import ProviderError
from runwatch.service.service_context import ServiceContext
from runwatch.service.setup import applications
from runwatch.service.setup.applications import Advance
from runwatch.service.setup.plans import is_offered
from runwatch.service.setup.templates import OrganizationState
from runwatch.service.transaction import Row, Transaction

MAX_ROUNDS: Final = 4
"""Limit of rounds with the source, above what an application needs: a test, a model list, and the steps after them."""


async def advance_application(context: ServiceContext, principal: Principal, application_id: str) -> str | None:
    """Take every due step of an application; return the page of a handoff started by that, if any."""
    continue_url = None

    def step(transaction: Transaction) -> Advance:
        row = applications.find(transaction, principal.tenant_id, application_id)
        return applications.advance(transaction, row, context, principal)

    for _ in range(MAX_ROUNDS):
        moved = await context.database.write(step)
        continue_url = moved.continue_url or continue_url
        for run in moved.accepted:
            context.engine.drive(run)
        if moved.test is not None:
            await _test(context, principal, application_id, moved.test)
        elif moved.sync is not None:
            await _sync(context, principal, application_id, moved.sync)
        else:
            break
    return continue_url


async def _test(context: ServiceContext, principal: Principal, application_id: str, connection: Row) -> None:
    try:
        found = await connections.test(context.vault, context.providers, connection)
    except ProviderError as error:
        await context.database.write(partial(connections.record_failure, tested=connection, error=error))
        await _stop(context, principal, application_id, "connection_test_failed")
        return
    await context.database.write(lambda transaction: connections.record_pass(transaction, connection, found))


async def _sync(context: ServiceContext, principal: Principal, application_id: str, connection: Row) -> None:
    try:
        found = await connections.ask(context.vault, context.providers, connection)
    except ProviderError:
        await _stop(context, principal, application_id, "deployment_not_listed")
        return

    def sync(transaction: Transaction) -> bool:
        model_sync.sync(transaction, connection, found)
        row = applications.find(transaction, principal.tenant_id, application_id)
        offering = ByokOffering(**row["byok_offering"])
        estate = OrganizationState.of(transaction, principal.tenant_id)
        return any(is_offered(arm, estate.connection_of(arm), offering) for arm in estate.ready(row["template_id"]))

    if not await context.database.write(sync):
        await _stop(context, principal, application_id, "deployment_not_listed")


async def _stop(context: ServiceContext, principal: Principal, application_id: str, failure_code: str) -> None:
    def stop(transaction: Transaction) -> None:
        row = applications.find(transaction, principal.tenant_id, application_id)
        applications.change(transaction, row, state="action_required", failure_code=failure_code)

    await context.database.write(stop)
