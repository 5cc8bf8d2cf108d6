"""Open the service of a data directory: build the parts of every package and connect them."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from runwatch.base.clock import Clock, Timers
from runwatch.base.errors import DataError
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.base.secrets.secret import Secret
from runwatch.service.access.authentication import ActiveKeys, ensure_owner, local_tenant
from runwatch.service.access.database_vault import DatabaseVault
from runwatch.service.access.key_uses import KeyUses
from runwatch.service.access.vault import Vault
from runwatch.service.address_policy import OrganizationPolicies
from runwatch.service.backends.backend import Backend
from runwatch.service.backends.data_directory import refuse_paired
from runwatch.service.backends.sqlite import SqliteFile
from runwatch.service.checks import bindings
from runwatch.service.checks.evaluation import evaluate
from runwatch.service.database import ServiceDatabase
from runwatch.service.errors import make_package_error
from runwatch.service.execution.engine import EmbeddedEngine, Engine
from runwatch.service.execution.step_runner import StepRunner
from runwatch.service.http.context import RequestContext
from runwatch.service.http.lists.cursors import Cursors
from runwatch.service.http.problem_responder import ProblemResponder
from runwatch.service.http.rate_limits import AnonymousLimits, RateLimiter, SharedRateLimiter
from runwatch.service.models.provider_config import configured_sources
from runwatch.service.models.providers.providers import Providers
from runwatch.service.options import ServeOptions
from runwatch.service.organization import wallet
from runwatch.service.organization.closed_secrets import find_closed
from runwatch.service.organization.webhook_sender import WebhookSender
from runwatch.service.outbound import OutboundClient
from runwatch.service.sample.check_addresses import update_check_addresses
from runwatch.service.tables import connections_table, handoffs_table, local_owner_table, webhooks_table
from runwatch.service.transaction import Transaction

DATABASE_FILE: Final = "service.db"


async def open_service_context(
    options: ServeOptions,
    keys: MasterKeys,
    offered_key: Secret,
    *,
    clock: Clock,
    origin: str,
    timers: Timers | None = None,
) -> tuple[RequestContext, Secret]:
    """Open the service of a data directory and resume its live runs; return it with the owner's key.

    The caller holds the directory's lock.

    Args:
        offered_key: The owner's key as far as it is known; see
            :func:`runwatch.service.access.authentication.ensure_owner`.
        origin: Scheme, host and port of the service for callers on this machine.

    Raises:
        DataError: The database is unusable.
        LocalServiceError: It is another service's, or its secrets have another master key.
        UsageError: The provider configuration is unusable.
    """
    timers = timers or asyncio.get_running_loop()
    sources = await asyncio.to_thread(configured_sources, options.provider_config, sample=options.sample)
    backend = find_backend(options, keys)
    is_new = options.sample and options.sample_runs is not None and await asyncio.to_thread(backend.is_new)
    if is_new and options.sample_runs is not None:
        from runwatch.service.sample.history import make_history

        offered_key = await make_history(backend, options, keys, offered_key, clock, origin, options.sample_runs)
    database = await asyncio.to_thread(ServiceDatabase.open, backend, clock)
    outbound = OutboundClient()
    try:
        vault = (
            Vault(options.data_dir, keys) if backend.keys is None else await DatabaseVault.open(database, backend.keys)
        )
        key = await database.write(partial(_set_up_owner, options, offered_key))
        policy = OrganizationPolicies(await database.read(local_tenant), options, origin)
        providers = Providers(outbound, clock, policy.providers)
        judge = partial(evaluate, outbound, vault, database, policy)
        context = RequestContext(
            clock=clock,
            database=database,
            keys=await database.read(partial(ActiveKeys.load, clock=clock)),
            key_uses=KeyUses(database, clock, timers),
            engine=_make_engine(options, backend, StepRunner(database, clock, vault, providers, judge, options.pace)),
            problems=ProblemResponder(database, clock, timers),
            rate_limit=SharedRateLimiter(options.rate_limit_rpm, clock, database)
            if options.is_shared
            else RateLimiter(options.rate_limit_rpm, clock),
            cursors=await database.write(Cursors.load),
            strangers=AnonymousLimits(clock, options.rate_limit_rpm),
            timers=timers,
            vault=vault,
            outbound=outbound,
            providers=providers,
            configured_sources=sources,
            deliverer=WebhookSender(database, vault, outbound, policy, clock, is_shared=options.is_shared),
            options=options,
            reach_policy=policy,
            origin=origin,
        )
        context.touch()
        if options.sample:
            await database.write(partial(update_check_addresses, origin=origin))
        await bindings.destroy_all_retired(database, vault)
        await vault.sweep(await database.read(named_handles))
        context.closed_handles = frozenset(await vault.take_over())
        closed = await database.read(partial(find_closed, context.closed_handles))
        context.closed_secrets = tuple(secret.advice for secret in closed)
        await context.engine.resume()
        if options.max_runs != 0:
            context.deliverer.start()
    except BaseException:
        await outbound.close()
        await asyncio.to_thread(database.close)
        raise
    return context, key


def find_backend(options: ServeOptions, keys: MasterKeys | None = None) -> Backend:
    """Return the database of these options, not yet open.

    Args:
        keys: The master keys; other processes have to have one of them, and to seal with one.

    Raises:
        DataError: The data directory belongs to another database.
        UsageError: The address is unusable, or the package for PostgreSQL is not installed.
    """
    file = options.data_dir / DATABASE_FILE
    if options.database is None:
        refuse_paired(options.data_dir)
        return SqliteFile(file)
    if file.exists():
        raise DataError(
            "This data directory has an embedded database",
            detail=str(file),
            hint="Name another one with --data-dir: it holds the keys that belong to the PostgreSQL database.",
        )
    try:
        from runwatch.service.backends.job_queue import JobQueue
        from runwatch.service.backends.postgresql import PostgresDatabase
    except ImportError as error:
        raise make_package_error(error) from error
    if not options.is_shared:
        return PostgresDatabase(options.database, options.data_dir)
    role = "-api" if options.max_runs == 0 else "" if options.has_interface else "-worker"
    return PostgresDatabase(options.database, options.data_dir, JobQueue(), f"runwatch{role}", keys)


def _make_engine(options: ServeOptions, backend: Backend, runner: StepRunner) -> Engine:
    if backend.queue is None or options.max_runs is None:
        return EmbeddedEngine(runner)
    from runwatch.service.execution.job_engine import JobEngine

    return JobEngine(runner, parameters=backend.parameters, max_runs=options.max_runs)


def named_handles(transaction: Transaction) -> set[str]:
    """Return the handles of secrets named by some row; a crash may have left others in the vault."""
    tables = (handoffs_table, connections_table, webhooks_table)
    named = {row["secret_handle"] for table in tables for row in transaction.list_all(table, {})}
    return bindings.named_handles(transaction) | (named - {None})


def _set_up_owner(options: ServeOptions, offered_key: Secret, transaction: Transaction) -> Secret:
    """Give the owner a working key, and the owner's organization the limits of this start.

    A worker beside other processes needs no key.
    """
    is_first = options.has_interface or not transaction.count(local_owner_table, {})
    key = ensure_owner(transaction, offered_key, shared_from=options.shared_name) if is_first else offered_key
    tenant_id = local_tenant(transaction)
    if options.balance_usd is not None:
        wallet.set_start_balance(transaction, tenant_id, options.balance_usd)
    wallet.set_limits(
        transaction,
        tenant_id,
        executions_per_month=options.quota_executions,
        concurrency=options.concurrency,
    )
    return key
