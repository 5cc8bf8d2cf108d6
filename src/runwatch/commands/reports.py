"""``usage``, ``evals`` and ``compliance export``: what was used, judged and decided (wire reference 2.9 and 2.12)."""

from __future__ import annotations

from typing import Any

from runwatch.api.errors import ApiError
from runwatch.base.errors import UsageError
from runwatch.commands.call import Call
from runwatch.commands.export_file import check_free, save
from runwatch.commands.printing import Printer
from runwatch.commands.profiles import asks_for_several, read_each
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session, with_session
from runwatch.records.compliance import ComplianceExport
from runwatch.records.evaluation import EvalSummary
from runwatch.records.record import Record
from runwatch.records.usage import Usage
from runwatch.view.compliance import CHECKED, DIFFERS, digest_agrees, file_text
from runwatch.view.period import PERIODS
from runwatch.view.resource import ResourceSpec
from runwatch.view.resources.organization import COMPLIANCE, EVALS, USAGE


def usage(call: Call) -> int:
    """``usage``: runs, tokens and money of a period, by option, key and day; of several profiles side by side."""
    if asks_for_several(call) and call.output.form == "table" and call.options.fields is None:
        return _side_by_side(call)
    return _report(call, "getUsage", Usage, USAGE)


def _side_by_side(call: Call) -> int:
    """A row for each profile, as the console shows them, and below them what they add up to."""
    from runwatch.view.profile_usage import PROFILE_USAGE, ProfileUsage, total_words

    query = _query(call)

    async def read(session: Session) -> ProfileUsage:
        used = as_record(Usage, (await session.client.request("getUsage", query=query)).value)
        assert isinstance(used, Usage)
        try:
            account = await session.client.get_account()
        except ApiError as error:
            # What was used is told all the same; the column of the quota stays empty.
            session.call.output.warn(f"the quota cannot be read: {error.title}")
            account = None
        return ProfileUsage(session.client.target.profile, used, account)

    each = read_each(call, read)
    found = [got.value for got in each.got]
    if found:
        Printer(call, each.settings, PROFILE_USAGE).records([one.raw for one in found], dict(enumerate(found)))
        missing = [ProfileUsage(name) for name in each.failed]
        if total := total_words([*found, *missing]):
            call.output.text(f"\n{total}\n")
    return each.code


def evals(call: Call) -> int:
    """``evals``: how output checks have judged, day by day."""
    return _report(call, "getEvalSummary", EvalSummary, EVALS)


def _report(call: Call, operation: str, kind: type[Record], spec: ResourceSpec[Any]) -> int:
    query = _query(call)

    async def read(session: Session) -> Record:
        return as_record(kind, (await session.client.request(operation, query=query)).value)

    if asks_for_several(call):
        from runwatch.commands.owned import OwnedPrinter

        each = read_each(call, read)
        OwnedPrinter(call, each.settings, spec).single(each)
        return each.code

    async def work(session: Session) -> int:
        print_record(session, spec, await read(session))
        return 0

    return with_session(call, work)


def export(call: Call) -> int:
    """``compliance export``: receipts, usage and decisions of a period, to stdout or into a file."""
    query, name = _query(call), call.options.output

    check_free(call, name)

    async def work(session: Session) -> int:
        answer = await session.client.request("getComplianceExport", query=query)
        exported = as_record(ComplianceExport, answer.value)
        assert isinstance(exported, ComplianceExport)
        _tell_digest(call, exported)
        if name is None:
            print_record(session, COMPLIANCE, exported)
            return 0
        save(call, name, file_text(exported))
        return 0

    return with_session(call, work)


def _tell_digest(call: Call, exported: ComplianceExport) -> None:
    """Say whether the digest is that of the receipts; a service may attest other bytes (wire reference 2.12)."""
    agrees = digest_agrees(exported)
    if agrees:
        call.output.note(CHECKED)
    elif agrees is False:
        call.output.warn(DIFFERS)


def _query(call: Call) -> dict[str, str | None]:
    """The period of the options; a name such as ``7d`` becomes the days that it means now.

    Raises:
        UsageError: the options contradict each other.
    """
    options = call.options
    start, end, period = options["from"], options.to, options.period
    if period is not None and (start is not None or end is not None):
        raise UsageError("--period excludes --from and --to")
    if period in PERIODS:
        return dict(PERIODS[period].at(call.clock.now()).query())
    return {"period": period, "from": start, "to": end}
