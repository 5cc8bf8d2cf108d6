"""``templates show|report|plan|apply|resume|select``: from a template to a proved model (manual: interface, "Tenant
templates").
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from runwatch.api.errors import ApiProblem
from runwatch.api.operations import list_operation
from runwatch.base.closest_word import did_you_mean
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.json import encode_body
from runwatch.base.shell_words import runwatch_command
from runwatch.commands.cli.exit_codes import REFUSED, SUCCESS
from runwatch.commands.cli.invocation import Invocation
from runwatch.commands.shared.export_file import check_not_existing, save_export
from runwatch.commands.shared.list_reader import read_all
from runwatch.commands.shared.profile_reader import is_multi_profile, read_profiles
from runwatch.commands.shared.record_printer import print_record
from runwatch.commands.shared.record_reader import parse_record_of_kind, read_one
from runwatch.commands.shared.secret_entry import enter_secret, print_page_address, read_secret
from runwatch.commands.shared.session import CommandSession, ServiceChoice, in_session, run_in_session
from runwatch.commands.shared.writes import (
    confirm_on,
    merge_options,
    read_idempotency_key,
    require_write_access,
    send_write,
    writes,
)
from runwatch.records.template import Application, Plan, Selection, Template
from runwatch.view.export.file_formats import FileFormat, encode_for_file, format_from_name
from runwatch.view.export.template_report import (
    HEADER,
    MULTI_PROFILE_HEADER,
    ProfileTemplates,
    multi_profile_rows,
    render_multi_profile_report,
    report_rows,
)
from runwatch.view.export.template_report import render_report as template_report
from runwatch.view.resources.applications import APPLICATION, PLAN, SELECTION
from runwatch.view.resources.templates import TEMPLATES
from runwatch.view.templates.decisions import group_decisions
from runwatch.view.templates.eligibility import TemplateFacts
from runwatch.view.templates.next_actions import AUTHORIZE, resume_action
from runwatch.view.text.safe_text import plain_decimal

PLAN_IT: Final = "postTenantTemplatePlans"
APPLY: Final = "postTenantTemplateApplications"
RESUME: Final = "postTenantTemplateApplicationsByApplicationIdResume"
READ: Final = "getTenantTemplateApplicationsByApplicationId"
SELECT: Final = "postTenantModelSelection"


@in_session
async def show(session: CommandSession) -> int:
    """``templates show``: print a template with its blockers and next actions, or an application."""
    wanted = session.call.options.id
    names: list[str] = []
    async for page in session.client.pages(list_operation(Template)):
        for template in page.records:
            if template.id == wanted:
                print_record(session, TEMPLATES, template)
                return SUCCESS
            names.append(template.id)
    try:
        _print(session, await _read(session, wanted))
    except ApiProblem as problem:
        if problem.status != 404:
            raise
        raise RunwatchError(
            f"There is no template and no application '{wanted}'",
            detail=did_you_mean(wanted, names),
            hint="'runwatch templates list' shows the templates.",
            support_id=problem.support_id,
        ) from None
    return SUCCESS


def report(call: Invocation) -> int:
    """``templates report``: print what blocks each template, what clears it, and the local decisions."""
    check_not_existing(call, call.options.output)

    async def read(session: CommandSession) -> list[TemplateFacts]:
        found = await read_all(session, Template)
        decisions = group_decisions(await session.notes.list_for(await session.scope(), Template.KIND))
        return [TemplateFacts(template, decisions.get(template.id)) for template in found]

    if is_multi_profile(call):
        each = read_profiles(call, read)
        reports = [ProfileTemplates(profile, facts) for profile, facts in each.got.items()]
        # The report is a basis for decisions, so it states what is missing.
        reports += [ProfileTemplates(profile, (), failure=str(error)) for profile, error in each.failed.items()]
        _report(
            call,
            lambda form: render_multi_profile_report(form, reports, call.clock.now()),
            multi_profile_rows(reports),
            MULTI_PROFILE_HEADER,
        )
        return each.code

    async def work(session: CommandSession) -> int:
        facts = await read(session)
        profile = session.client.target.profile
        _report(call, lambda form: template_report(form, facts, profile, call.clock.now()), report_rows(facts), HEADER)
        return SUCCESS

    return run_in_session(call, work)


def _report(
    call: Invocation,
    written: Callable[[FileFormat], Iterable[str]],
    flat: Iterable[tuple[str | None, ...]],
    header: Sequence[str],
) -> None:
    """Print the report, or write it to the file named by the options."""
    name = call.options.output
    form = format_from_name(name) if name is not None else None
    if call.output.is_json and name is None:
        call.output.json([dict(zip(header, row, strict=True)) for row in flat])
        return
    as_csv = form == "csv" or (form is None and call.output.form == "csv")
    pieces = written("csv" if as_csv else "md")
    if name is None:
        call.output.clean_block("".join(pieces))
    else:
        save_export(call, name, [encode_for_file(text) for text in pieces])


@in_session
async def plan(session: CommandSession) -> int:
    """``templates plan``: print what applying would do and its maximum cost; exit 1 if there are blockers."""
    made = await _plan(session, _subject(session.call))
    print_record(session, PLAN, made)
    return REFUSED if made.is_blocked or made.blockers else SUCCESS


def apply(call: Invocation) -> int:
    """``templates apply``: plan, approve and apply. ``--digest`` and ``--issued-at`` identify an approved plan."""
    options, key = call.options, read_idempotency_key(call) or str(uuid.uuid4())
    if (options.digest is None) != (options.issued_at is None):
        raise UsageError("--digest and --issued-at go together", detail="the plan that they approve has both")
    subject = _subject(call)
    choice = require_write_access(call, APPLY)
    approved = {"digest": options.digest, "issued_at": options.issued_at}
    if options.digest is None:
        made = run_in_session(call, lambda session: _plan(session, subject), choice)
        approved = {"digest": made.digest, "issued_at": made.issued_at}
        for sentence in _sentences(made):
            call.output.note(sentence)
        if made.is_blocked:
            raise RunwatchError(
                "The template cannot be applied now",
                hint=f"How to clear each blocker: {runwatch_command('templates show', options.template)}",
            )
        if not confirm_on(call, choice, f"Apply {options.template}"):
            return REFUSED
    body = {**subject, **approved, "application_key": key}
    return _send(call, choice, APPLY, f"apply {options.template}", body, key=key)


def resume(call: Invocation) -> int:
    """``templates resume``: do what the application waits for. A live proof spends money and needs confirmation."""
    options, application_id = call.options, call.options.id
    choice = require_write_access(call, RESUME)
    found = run_in_session(call, lambda session: _read(session, application_id), choice)
    action = options.action or _action_of(found)
    body: dict[str, Any] = {"action": action}
    if action == AUTHORIZE:
        proof = found.live_proof
        body["live_proof_digest"] = options.live_proof_digest or (None if proof is None else proof.digest)
        if body["live_proof_digest"] is None:
            raise RunwatchError(
                "The application offers no live proof", hint=runwatch_command("templates show", application_id)
            )
        if not confirm_on(call, choice, f"Run the paid live proof of {application_id}"):
            return REFUSED
    return _send(call, choice, RESUME, f"{action} {application_id}", body, record_id=application_id)


def select(call: Invocation) -> int:
    """``templates select``: select the model of a proved application; without an id, print the selected one."""
    return _show_selected(call) if call.options.id is None else _select(call)


@in_session
async def _show_selected(session: CommandSession) -> int:
    value = (await session.client.request("getTenantModelSelection")).value
    chosen = value.get("selection") if isinstance(value, dict) else None
    if chosen is not None:
        print_record(session, SELECTION, parse_record_of_kind(Selection, chosen))
        return SUCCESS
    session.call.output.note("no model is selected")
    if session.call.output.is_json:
        session.call.output.json(None, indent=None)
    return SUCCESS


@writes(SELECT)
async def _select(session: CommandSession) -> int:
    application_id = session.call.options.id
    value = await send_write(session, SELECT, f"select {application_id}", body={"application_id": application_id})
    print_record(session, SELECTION, parse_record_of_kind(Selection, value))
    return SUCCESS


def _subject(call: Invocation) -> dict[str, Any]:
    """Return what to plan or apply."""
    options = call.options
    offering = {
        "source_id": options.source_id,
        "auth_scheme": options.auth_scheme,
        "served_variant_id": options.served_variant_id,
    }
    given = [name for name, value in offering.items() if value is not None]
    if given and len(given) < len(offering):
        raise UsageError("--source-id, --auth-scheme and --served-variant-id go together")
    subject: dict[str, Any] = {"template_id": options.template}
    return merge_options(
        subject, {"model_deployment_id": options.deployment_id, "byok_offering": offering if given else None}
    )


async def _plan(session: CommandSession, subject: dict[str, Any]) -> Plan:
    result = await session.client.request(PLAN_IT, body=encode_body(subject))
    return parse_record_of_kind(Plan, result.value)


def _sentences(made: Plan) -> list[str]:
    """Describe in sentences what the user approves."""
    spend = "unknown" if made.maximum_spend_usd is None else f"{plain_decimal(made.maximum_spend_usd)} USD"
    said = [f"this spends at most: {spend}; a paid run is asked about once more"]
    said += [f"it does: {effect.description}" for effect in made.effects or () if effect.description]
    said += [f"blocked: {blocker.detail or blocker.code}" for blocker in made.blockers or ()]
    return said


async def _read(session: CommandSession, application_id: str) -> Application:
    return await read_one(session, READ, application_id, Application)


def _action_of(application: Application) -> str:
    """Return the resume action for what the application waits for."""
    action = resume_action(application)
    if action is None:
        detail = application.next_action and application.next_action.detail
        raise RunwatchError(
            "Nothing to resume",
            detail=f"the application is {application.state}" + (f": {detail}" if detail else ""),
            hint="--action chooses an action.",
        )
    return action


def _send(
    call: Invocation, choice: ServiceChoice, operation: str, label: str, body: dict[str, Any], **write: Any
) -> int:
    """Send a write of an application, and enter the key that it may require and that was given."""
    secret = read_secret(call, "the model source", may_ask=False)

    async def work(session: CommandSession) -> int:
        value = await send_write(session, operation, label, body=body, **write)
        return await _go_on(session, parse_record_of_kind(Application, value), secret)

    return run_in_session(call, work, choice)


async def _go_on(session: CommandSession, application: Application, secret: Any) -> int:
    """Enter the key that the application waits for, if one was given, and print the application."""
    consent = application.consent
    if consent is not None and consent.continue_url and secret is not None:

        async def is_done() -> bool:
            return (await _read(session, application.id)).state != "consent_pending"

        await enter_secret(session, dict(consent.raw), secret, is_done)
        label, body = f"go on {application.id}", {"action": "poll_consent"}
        value = await send_write(session, RESUME, label, record_id=application.id, body=body)
        application = parse_record_of_kind(Application, value)
    _print(session, application)
    if application.next_action is not None and application.next_action.detail:
        session.call.output.note(f"next: {application.next_action.detail}")
    return REFUSED if application.state == "failed_safe" else SUCCESS


def _print(session: CommandSession, application: Application) -> None:
    """Print an application. In text output the address of a private page goes to stderr, separate from the data."""
    consent = application.consent
    if consent is not None and consent.continue_url and not session.call.output.is_json:
        print_page_address(session, consent.continue_url)
        shown = {name: value for name, value in consent.raw.items() if name != "continue_url"}
        application = Application({**application.raw, "consent": shown})
    print_record(session, APPLICATION, application)
