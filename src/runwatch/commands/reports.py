"""``usage``, ``evals`` and ``compliance export``: reports on a period (manual: interface, "Usage"; manual: interface,
"Evaluation summary and compliance export").
"""

from __future__ import annotations

from typing import Any

from runwatch.api.errors import ApiError
from runwatch.base.errors import UsageError
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.export_file import check_not_existing, save_export
from runwatch.commands.shared.profile_reader import is_multi_profile, read_profiles
from runwatch.commands.shared.record_printer import RecordPrinter, print_record
from runwatch.commands.shared.record_reader import parse_record_of_kind
from runwatch.commands.shared.session import CommandSession, run_in_session
from runwatch.records.compliance import ComplianceExport
from runwatch.records.evaluation import EvalSummary
from runwatch.records.record import Record
from runwatch.records.usage import Usage
from runwatch.view.reports.compliance import DIGEST_DIFFERS, DIGEST_MATCHES, digest_agrees, export_text
from runwatch.view.reports.period import PERIODS, parse_period
from runwatch.view.resources.organization import COMPLIANCE, EVALS, USAGE
from runwatch.view.spec.resource import ResourceSpec


def usage(call: Invocation) -> int:
    """``usage``: print runs, tokens and money of a period by arm, key and day; for several profiles side by side."""
    if is_multi_profile(call) and call.output.form == "table" and call.options.fields is None:
        return _side_by_side(call)
    return _report(call, "getUsage", Usage, USAGE)


def _side_by_side(call: Invocation) -> int:
    """Print a row for each profile, as in the console, and their total."""
    from runwatch.view.reports.profile_usage import PROFILE_USAGE, ProfileUsage, combined_total_text

    query = _query(call)

    async def read(session: CommandSession) -> ProfileUsage:
        used = parse_record_of_kind(Usage, (await session.client.request("getUsage", query=query)).value)
        try:
            account = await session.client.get_account()
        except ApiError as error:
            # Print the usage anyway; the quota column stays empty.
            session.call.output.warn(f"the quota cannot be read: {error.title}")
            account = None
        return ProfileUsage(session.client.target.profile, used, account)

    each = read_profiles(call, read)
    found = list(each.got.values())
    if found:
        values = [usage.raw for usage in found]
        RecordPrinter(call, each.settings, PROFILE_USAGE).records(values, dict(enumerate(found)))
        missing = [ProfileUsage(name) for name in each.failed]
        if total := combined_total_text([*found, *missing]):
            call.output.text(f"\n{total}\n")
    return each.code


def evals(call: Invocation) -> int:
    """``evals``: print the daily results of output checks."""
    return _report(call, "getEvalSummary", EvalSummary, EVALS)


def _report(call: Invocation, operation: str, kind: type[Record], spec: ResourceSpec[Any]) -> int:
    query = _query(call)

    async def read(session: CommandSession) -> Record:
        return parse_record_of_kind(kind, (await session.client.request(operation, query=query)).value)

    if is_multi_profile(call):
        from runwatch.commands.shared.profile_printer import ProfilePrinter

        each = read_profiles(call, read)
        ProfilePrinter(call, each.settings, spec).print_records(each)
        return each.code

    async def work(session: CommandSession) -> int:
        print_record(session, spec, await read(session))
        return 0

    return run_in_session(call, work)


def export(call: Invocation) -> int:
    """``compliance export``: write receipts, usage and decisions of a period to stdout or a file."""
    query, name = _query(call), call.options.output

    check_not_existing(call, name)

    async def work(session: CommandSession) -> int:
        result = await session.client.request("getComplianceExport", query=query)
        exported = parse_record_of_kind(ComplianceExport, result.value)
        _show_digest(call, exported)
        if name is None:
            print_record(session, COMPLIANCE, exported)
            return 0
        save_export(call, name, export_text(exported))
        return 0

    return run_in_session(call, work)


def _show_digest(call: Invocation, exported: ComplianceExport) -> None:
    """Report whether the digest matches the receipts. A service may attest other bytes (manual: interface, "Evaluation
    summary and compliance export").
    """
    agrees = digest_agrees(exported)
    if agrees:
        call.output.note(DIGEST_MATCHES)
    elif agrees is False:
        call.output.warn(DIGEST_DIFFERS)


def _query(call: Invocation) -> dict[str, str | None]:
    """Return the period of the options. A name such as ``7d`` becomes the current dates."""
    options = call.options
    start, end, period = options.first_day or options["from"], options.last_day or options.to, options.period
    if period is not None and (start is not None or end is not None):
        raise UsageError("--period cannot be used with --first-day or --last-day", hint="Leave one of them out.")
    if period in PERIODS:
        return dict(PERIODS[period].at(call.clock.now()).query())
    if period is not None:
        parse_period(period, call.clock.now())
    return {"period": period, "from": start, "to": end}
