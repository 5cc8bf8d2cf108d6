"""The past of the sample organization: a month of runs, produced by the service's own code.

It is made once, next to the service's database file, and moved into place when complete, so an interrupted start leaves
nothing half done. The same seed and time produce the same past, ids included; only API keys are always new.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from runwatch.base.clock import Clock, format_iso
from runwatch.base.errors import DataError
from runwatch.base.files import write_atomic
from runwatch.base.json import dumps
from runwatch.base.log import keep_secret
from runwatch.base.network.service_file import SAMPLE_KEYS, SAMPLE_LABS
from runwatch.base.secrets.sealing import MasterKeys
from runwatch.base.secrets.secret import Secret
from runwatch.records.requests.arm import SkillArmRequest
from runwatch.records.requests.run import RunRequest
from runwatch.service.access import api_keys
from runwatch.service.access.authentication import Principal, add_key, add_tenant, ensure_owner, local_tenant, new_key
from runwatch.service.access.database_vault import DatabaseVault
from runwatch.service.access.key_uses import store_use
from runwatch.service.access.vault import Vault
from runwatch.service.address_policy import PUBLIC, OrganizationPolicies
from runwatch.service.backends.backend import Backend
from runwatch.service.backends.sqlite import SqliteFile
from runwatch.service.checks.evaluation import evaluate
from runwatch.service.database import SingleWriterDatabase
from runwatch.service.execution import runs, submission
from runwatch.service.execution.engine import EmbeddedEngine
from runwatch.service.execution.state_machine import RunState
from runwatch.service.execution.step_runner import StepRunner
from runwatch.service.ids import seeded_ids
from runwatch.service.models import arm_json, arms
from runwatch.service.models.providers.providers import Providers
from runwatch.service.models.providers.sample_sources import SAMPLE_SOURCES
from runwatch.service.options import ServeOptions
from runwatch.service.organization import proposals
from runwatch.service.sample import models, registrations
from runwatch.service.sample.check_calls import SampleCheckClient
from runwatch.service.sample.run_kinds import HISTORY, INCIDENT, REPAIR, RunKind, build_request
from runwatch.service.sample.simulated_clock import SimulatedClock
from runwatch.service.sample.tools import Organization, Tools
from runwatch.service.tables import sample_organizations_table, tenants_table
from runwatch.service.transaction import Row, Transaction

DAYS: Final = 30

SETUP: Final = timedelta(days=1)
"""How long before the first day the organization was set up."""

MARGIN: Final = timedelta(minutes=30)
"""How long before now the last run starts; it takes a few minutes at most."""

_HOURS: Final = (6.0, 21.0, 13.0)
"""First, last and busiest hour of a working day."""


class PlannedRun(NamedTuple):
    at: datetime
    work: RunKind


def plan_runs(works: Sequence[RunKind], count: int, now: datetime, chance: Random) -> list[PlannedRun]:
    """Plan runs within the last :data:`DAYS` days, oldest first: the minimum of each kind, the rest by weight.

    If ``count`` is below the sum of the minimums, the last kinds are left out.
    """
    needed = [work for work in works for _ in range(work.least)][:count]
    others = chance.choices(works, [work.weight for work in works], k=count - len(needed))
    chosen = [*needed, *others]
    chance.shuffle(chosen)
    moments = sorted(_moment(now, chance) for _ in chosen)
    return [PlannedRun(at, work) for at, work in zip(moments, chosen, strict=True)]


def plan_incident(works: Sequence[RunKind], count: int, now: datetime) -> list[PlannedRun]:
    """Plan the runs of :data:`~runwatch.service.sample.run_kinds.INCIDENT`, if the total leaves room for them."""
    if count < len(INCIDENT) + sum(work.least for work in works):
        return []
    return [PlannedRun(now - timedelta(minutes=minutes), work) for minutes, work in INCIDENT]


def _moment(now: datetime, chance: Random) -> datetime:
    while True:
        day = (now - timedelta(days=chance.randrange(DAYS))).replace(hour=0, minute=0, second=0, microsecond=0)
        at = day + timedelta(hours=chance.triangular(*_HOURS))
        if now - timedelta(days=DAYS) < at < now - MARGIN:
            return at


SEED: Final = 20_261
"""Seed of every choice in the sample organization."""

OWNER_NAME: Final = "Sample Organization"
LABS_NAME: Final = SAMPLE_LABS
NEWCOMERS_NAME: Final = "Sample Newcomers"

LABS_RUNS: Final = 6
PACE: Final = 25.0
"""Factor by which past test runs were slower than usual, so that some could be cancelled and some expire."""

_LONGEST: Final = timedelta(hours=1)
"""Longest time of a run; none comes near it."""

_BY_OWNER: Final = 0.25
"""Share of the runs submitted with the owner's key."""

_DECISIONS: Final = (
    ("approved", None),
    ("rejected", "Sample reason: the old wording is what our readers know."),
    (None, None),
)
"""Decisions on successive proposals, and their reasons; ``None`` leaves one open."""

_GATEWAY: Final = "Sample Gateway, own account"
_NORTH: Final = "Sample North, own account"
_CLOUD: Final = "Sample Cloud, own account"
"""Connections with the organization's own keys: one ended, one with a refused key, one untested."""

_UNFINISHED: Final = "sample.db"
_LABS_WORKS: Final = (RunKind(name="plain"), RunKind(name="checked", check="non-empty"))


async def make_history(
    backend: Backend,
    options: ServeOptions,
    keys: MasterKeys,
    owner_key: Secret,
    clock: Clock,
    origin: str,
    count: int,
    seed: int = SEED,
) -> Secret:
    """Fill a new database with the sample organization and its past; return the owner's key.

    The caller holds the data directory's lock, and has checked that the database is new.

    Args:
        count: Number of finished runs of the owner's organization, at least one.

    Raises:
        DataError: The data directory is unusable, or a past run does not end.
    """
    file = backend.path if isinstance(backend, SqliteFile) else None
    unfinished = options.data_dir / _UNFINISHED
    if file is not None:
        for left in (unfinished, *(unfinished.with_name(f"{_UNFINISHED}{end}") for end in ("-wal", "-shm"))):
            left.unlink(missing_ok=True)
    now = clock.now()
    past = SimulatedClock(now - timedelta(days=DAYS) - SETUP)
    database = await asyncio.to_thread(SingleWriterDatabase.open, unfinished if file else backend, past)
    calls = SampleCheckClient(past)
    try:
        with seeded_ids(seed):
            # The sample sources are inside this service: nothing is called before it listens.
            providers = Providers(calls, past, lambda _: PUBLIC)
            vault = Vault(options.data_dir, keys) if backend.keys is None else DatabaseVault(database, backend.keys)
            tools = Tools(database, past, vault, providers, calls, options, origin)
            history = _History(tools, Random(seed))  # noqa: S311 - nothing here is a secret
            owner_key = await history.run(owner_key, now, count)
    except BaseException:
        await asyncio.to_thread(database.discard)
        raise
    await asyncio.to_thread(database.close)
    if file is not None:
        await asyncio.to_thread(_put_in_place, unfinished, file)
    return owner_key


def _put_in_place(unfinished: Path, path: Path) -> None:
    """Move the finished database into place once it is on disk."""
    descriptor = os.open(unfinished, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    unfinished.replace(path)


class _History:
    def __init__(self, tools: Tools, chance: Random) -> None:
        # No organization is the owner's yet; the sample checks are called anyway.
        policy = OrganizationPolicies("", tools.options, tools.origin)
        runner = StepRunner(
            tools.database,
            tools.clock,
            tools.vault,
            tools.providers,
            partial(evaluate, tools.calls, tools.vault, tools.database, policy),
            PACE,
        )
        self._tools = tools
        self._chance = chance
        self._engine = EmbeddedEngine(runner)
        self._keys: list[dict[str, Any]] = []
        self._looked_at = 0

    async def run(self, owner_key: Secret, now: datetime, count: int) -> Secret:
        """Produce all past events in order; return the owner's key."""
        clock = self._tools.clock
        key, main = await self._found(owner_key)
        await self._set_up(main)
        labs = await self._organization(LABS_NAME)
        await models.serve(self._tools, labs, "sample_north")
        for name in ("ember-small", "ember-large"):
            labs.arms[name] = await models.save(self._tools, labs, name)
        labs.checks["non-empty"] = await registrations.register_check(
            self._tools, labs, "non-empty", "Sample: not empty", ("public",)
        )
        await self._organization(NEWCOMERS_NAME)
        # The very first proposal was never decided and has expired.
        await self._work(main, PlannedRun(clock.now() + timedelta(hours=1), REPAIR))
        chores = self._chores(main)
        late = plan_incident(HISTORY, count - 1, now)
        planned = [(run, main) for run in plan_runs(HISTORY, max(0, count - 1 - len(late)), now, self._chance)]
        planned += [(run, main) for run in late]
        planned += [(run, labs) for run in plan_runs(_LABS_WORKS, LABS_RUNS, now, self._chance)]
        planned.sort(key=lambda pair: pair[0].at)
        for position, (run, who) in enumerate(planned):
            while chores and chores[0][0] * len(planned) <= position:
                clock.move_to(run.at)
                await chores.pop(0)[1]()
            run_id = await self._work(who, run)
            if run.work is REPAIR:
                await self._decide(main, run_id)
        for _, chore in chores:
            await chore()
        # The dashboard has read to the end.
        reader = next(made["api_key_id"] for made in self._keys if made["role"] == "reader")
        await self._tools.database.write(partial(_use, key_id=reader))
        self._write_keys()
        return key

    async def _found(self, owner_key: Secret) -> tuple[Secret, Organization]:
        """Create the owner's organization, with a key for every role."""

        def effect(transaction: Transaction) -> tuple[Secret, Organization]:
            key = ensure_owner(transaction, owner_key, shared_from=self._tools.options.shared_name)
            tenant_id = local_tenant(transaction)
            transaction.change(tenants_table, {"tenant_id": tenant_id}, display_name=OWNER_NAME)
            (owner,) = api_keys.list_all(transaction, tenant_id)
            runner_id = self._add_key(transaction, tenant_id, OWNER_NAME, "runner", "Sample automation")
            self._add_key(transaction, tenant_id, OWNER_NAME, "reader", "Sample dashboard")
            principal = Principal(tenant_id, owner["api_key_id"], owner["role"])
            old = add_key(transaction, tenant_id, new_key(), role="runner", display_name="Sample former colleague")
            _use(transaction, old)
            api_keys.revoke(transaction, principal, old)
            transaction.add(
                sample_organizations_table, tenant_id=tenant_id, api_key_id=runner_id, origin=self._tools.origin
            )
            return key, Organization(principal, runner_id)

        return await self._tools.database.write(effect)

    async def _organization(self, name: str) -> Organization:
        def effect(transaction: Transaction) -> Organization:
            tenant_id = add_tenant(transaction, name)
            key_id = self._add_key(transaction, tenant_id, name, "owner", "owner")
            return Organization(Principal(tenant_id, key_id, "owner"), key_id)

        return await self._tools.database.write(effect)

    def _add_key(self, transaction: Transaction, tenant_id: str, organization: str, role: str, name: str) -> str:
        key = new_key()
        keep_secret(key)
        key_id = add_key(transaction, tenant_id, key, role=role, display_name=name)
        key_entry = {"organization": organization, "tenant_id": tenant_id, "role": role, "api_key_id": key_id}
        self._keys.append({**key_entry, "api_key": key.reveal()})
        return key_id

    async def _set_up(self, main: Organization) -> None:
        """Set up what the owner's organization had from the first day."""
        tools = self._tools
        for source in SAMPLE_SOURCES:
            await models.serve(tools, main, source.source_id)
        for name in models.MODELS:
            main.arms[name] = await models.save(tools, main, name)
        main.arms["no-route"] = await models.save_without_route(tools, main)
        await models.save_skills(tools, main)
        await registrations.add_checks(tools, main)
        await registrations.add_references(tools, main)
        await registrations.add_agents(tools, main)

    def _chores(self, main: Organization) -> list[tuple[float, Callable[[], Awaitable[object]]]]:
        """Return the owner's other activities, each with the share of the runs that precedes it."""
        tools = self._tools

        async def use_an_own_account() -> None:
            for name, model in ((_GATEWAY, "river-pro"), (_NORTH, "ember-next")):
                source_id = models.MODELS[model][0]
                connection = await models.connect(tools, main, source_id, name, models.SOURCE_KEY)
                await models.test_and_sync(tools, connection)
                main.arms[name] = await models.save(tools, main, model, connection["connection_id"])
                main.connections[name] = connection["connection_id"]

        async def lose_it() -> None:
            await models.disconnect(tools, main, main.connections[_GATEWAY])
            await models.spoil(tools, main, "sample_north", main.connections[_NORTH])

        return [
            (0.2, use_an_own_account),
            (0.5, partial(models.disable, tools, main, main.arms["ember-next"])),
            (0.7, lose_it),
            (0.9, partial(models.connect, tools, main, "sample_cloud", _CLOUD, models.SOURCE_KEY)),
        ]

    async def _work(self, who: Organization, planned: PlannedRun) -> str:
        clock, work = self._tools.clock, planned.work
        clock.move_to(planned.at)
        content = build_request(work, self._chance, who.arms, who.checks)
        key_id = who.principal.key_id if self._chance.random() < _BY_OWNER else who.runner_id
        request = RunRequest.model_validate(content)

        def accept(transaction: Transaction) -> RunState:
            _use(transaction, key_id)
            return submission.submit(transaction, who.tenant_id, key_id, request, content)

        run = await self._tools.database.write(accept)
        if work.cancel_after_s is not None:
            moment = clock.now() + timedelta(seconds=work.cancel_after_s)
            clock.interrupt_at(moment, partial(self._cancel, who, run.execution_id))
        clock.until = clock.now() + _LONGEST
        self._engine.drive(run)
        await self._engine.settled()
        clock.let_be()
        clock.until = None
        ended = await self._tools.database.read(lambda transaction: runs.load(transaction, run.execution_id))
        if not ended.is_final:
            raise DataError(
                "The sample organization cannot be created",
                detail=f"One of its past runs, {run.execution_id}, did not end; the log says why.",
                hint="Start the service without --sample.",
            )
        return run.execution_id

    async def _cancel(self, who: Organization, run_id: str) -> None:
        cancel = partial(submission.cancel, tenant_id=who.tenant_id, key_id=who.principal.key_id, execution_id=run_id)
        await self._tools.database.write(cancel)
        self._engine.let_go(run_id)

    async def _decide(self, main: Organization, run_id: str) -> None:
        """Approve, reject or leave the proposal made by a run, a few minutes later.

        After an approval the owner restores the old text of the skill, so that later runs have something to repair.
        """
        clock = self._tools.clock
        decision, reason = _DECISIONS[self._looked_at % len(_DECISIONS)]
        self._looked_at += 1
        if decision is None:
            return
        clock.move_to(clock.now() + timedelta(minutes=self._chance.randint(3, 9)))

        def effect(transaction: Transaction) -> Row | None:
            made = proposals.page(transaction, main.tenant_id, status="pending", arm_id=None, before=None, limit=1)
            for row in made:
                if row["execution_id"] == run_id:
                    before = arms.find(transaction, main.tenant_id, row["arm_id"])
                    proposals.decide(transaction, main.principal, row["proposal_id"], decision, reason)
                    return before if decision == "approved" else None
            return None

        replaced = await self._tools.database.write(effect)
        if replaced is not None:
            clock.move_to(clock.now() + timedelta(minutes=self._chance.randint(3, 9)))
            await self._tools.database.write(partial(_put_back, main=main, before=replaced))

    def _write_keys(self) -> None:
        """Write the keys to a file readable only by the owner of the data directory."""
        content = {"note": "Keys of the sample organizations. They open nothing else.", "keys": self._keys}
        write_atomic(self._tools.options.data_dir / SAMPLE_KEYS, f"{dumps(content, readable=True)}\n".encode("ascii"))


def _use(transaction: Transaction, key_id: str) -> None:
    store_use(transaction, key_id, format_iso(transaction.now))


def _put_back(transaction: Transaction, main: Organization, before: Row) -> None:
    request = SkillArmRequest.model_validate(arm_json.arm_request_json(before))
    key_id = main.principal.key_id
    arms.revise(transaction, main.tenant_id, before["arm_id"], request, frozenset({"artifact"}), acted_by=key_id)
