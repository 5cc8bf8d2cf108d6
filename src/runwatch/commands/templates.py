"""``templates show|report|plan|apply|resume|select``: from a template to a proved model (wire reference 2.7)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from runwatch.api.errors import ApiProblem
from runwatch.api.operations import list_operation
from runwatch.base.errors import RunwatchError, UsageError
from runwatch.base.shell import runwatch_command
from runwatch.commands.call import Call
from runwatch.commands.entry import enter, read_key, tell_page
from runwatch.commands.exits import DONE, REFUSED
from runwatch.commands.export_file import check_free, save
from runwatch.commands.profiles import asks_for_several, read_each
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session, with_session
from runwatch.commands.writing import given_key, may_write, with_given, write, writing
from runwatch.records.template import Application, Plan, Selection, Template
from runwatch.view.decisions import decisions_of
from runwatch.view.drawn import decimal_text
from runwatch.view.eligibility import TemplateFacts
from runwatch.view.exports import Form, encoded, form_of
from runwatch.view.next_actions import AUTHORIZE, resume_action
from runwatch.view.resources.applications import APPLICATION, PLAN, SELECTION
from runwatch.view.resources.templates import TEMPLATES
from runwatch.view.template_report import HEADER, OWNED_HEADER, Reported, owned_rows, report_over, rows
from runwatch.view.template_report import report as template_report

PLAN_IT: Final = "postTenantTemplatePlans"
APPLY: Final = "postTenantTemplateApplications"
RESUME: Final = "postTenantTemplateApplicationsByApplicationIdResume"
READ: Final = "getTenantTemplateApplicationsByApplicationId"
SELECT: Final = "postTenantModelSelection"


def show(call: Call) -> int:
    """``templates show``: a template with its blockers and next actions, or an application by its id."""
    wanted = call.options.id

    async def work(session: Session) -> int:
        async for page in session.client.pages(list_operation(Template)):
            for template in page.records:
                if template.id == wanted:
                    print_record(session, TEMPLATES, template)
                    return DONE
        try:
            _print(session, await _read(session, wanted))
        except ApiProblem as problem:
            if problem.status != 404:
                raise
            raise RunwatchError(
                f"There is no template and no application '{wanted}'",
                hint="runwatch templates list shows the templates.",
                support_id=problem.support_id,
            ) from None
        return DONE

    return with_session(call, work)


def report(call: Call) -> int:
    """``templates report``: what blocks each template, what clears it, and what was decided on it on this machine."""
    check_free(call, call.options.output)

    async def read(session: Session) -> list[TemplateFacts]:
        pages = session.client.pages(list_operation(Template))
        found = [template async for page in pages for template in page.records if isinstance(template, Template)]
        decisions = decisions_of(await session.notes.of(await session.scope(), Template.KIND))
        return [TemplateFacts(template, decisions.get(template.id)) for template in found]

    if asks_for_several(call):
        each = read_each(call, read)
        reports = [Reported(got.profile, got.value) for got in each.got]
        # A file that people decide by says what is missing from it.
        reports += [Reported(profile, (), failure=str(error)) for profile, error in each.failed.items()]
        _report(call, lambda form: report_over(form, reports, call.clock.now()), owned_rows(reports), OWNED_HEADER)
        return each.code

    async def work(session: Session) -> int:
        facts = await read(session)
        profile = session.client.target.profile
        _report(call, lambda form: template_report(form, facts, profile, call.clock.now()), rows(facts), HEADER)
        return DONE

    return with_session(call, work)


def _report(
    call: Call,
    written: Callable[[Form], Iterable[str]],
    flat: Iterable[tuple[str | None, ...]],
    header: Sequence[str],
) -> None:
    """Print the report, or write it into the file that the options name."""
    name = call.options.output
    form = form_of(name) if name is not None else None
    if call.output.is_json and name is None:
        call.output.json([dict(zip(header, row, strict=True)) for row in flat])
        return
    as_csv = form == "csv" or (form is None and call.output.form == "csv")
    pieces = written("csv" if as_csv else "md")
    if name is None:
        call.output.clean_block("".join(pieces))
    else:
        save(call, name, [encoded(text) for text in pieces])


def plan(call: Call) -> int:
    """``templates plan``: what applying would do and cost at most; exit 1 when something stands in its way."""

    async def work(session: Session) -> int:
        made = await _plan(session, _subject(call))
        print_record(session, PLAN, made)
        return REFUSED if made.is_blocked or made.blockers else DONE

    return with_session(call, work)


def apply(call: Call) -> int:
    """``templates apply``: plan, approve and apply; an approved plan is named by --digest and --issued-at."""
    options, key = call.options, given_key(call) or str(uuid.uuid4())
    if (options.digest is None) != (options.issued_at is None):
        raise UsageError("--digest and --issued-at go together", detail="both stand in the plan that they approve")
    subject = _subject(call)
    choice = may_write(call, APPLY)
    approved = {"digest": options.digest, "issued_at": options.issued_at}
    if options.digest is None:
        approved = {}

        async def look(session: Session) -> int:
            made = await _plan(session, subject)
            approved.update(digest=made.digest, issued_at=made.issued_at)
            for sentence in _sentences(made):
                call.output.note(sentence)
            return REFUSED if made.is_blocked else DONE

        if with_session(call, look, choice) == REFUSED:
            raise RunwatchError(
                "The template cannot be applied now",
                hint=f"What clears each blocker: {runwatch_command('templates show', options.template)}",
            )
        if not call.confirm(f"Apply {options.template} on {choice.target.profile} ({choice.target.host})?"):
            call.output.note("nothing was changed")
            return REFUSED
    secret = _key(call)
    body = {**subject, **approved, "application_key": key}

    async def work(session: Session) -> int:
        value = await write(session, APPLY, f"apply {options.template}", body=body, key=key)
        return await _go_on(session, _application(value), secret)

    return with_session(call, work, choice)


def resume(call: Call) -> int:
    """``templates resume``: do what the application waits for; a live proof spends money and is confirmed."""
    options, application_id = call.options, call.options.id
    choice = may_write(call, RESUME)
    found: list[Application] = []

    async def look(session: Session) -> int:
        found.append(await _read(session, application_id))
        return DONE

    with_session(call, look, choice)
    action = options.action or _action_of(found[0])
    body: dict[str, Any] = {"action": action}
    if action == AUTHORIZE:
        proof = found[0].live_proof
        body["live_proof_digest"] = options.live_proof_digest or (None if proof is None else proof.digest)
        if body["live_proof_digest"] is None:
            raise RunwatchError(
                "The application offers no live proof", hint=runwatch_command("templates show", application_id)
            )
        if not call.confirm(f"Run the paid live proof of {application_id} on {choice.target.profile}?"):
            call.output.note("nothing was changed")
            return REFUSED
    secret = _key(call)

    async def work(session: Session) -> int:
        path = {"application_id": application_id}
        value = await write(session, RESUME, f"{action} {application_id}", path=path, body=body)
        return await _go_on(session, _application(value), secret)

    return with_session(call, work, choice)


def select(call: Call) -> int:
    """``templates select``: make the model of a proved application the selected one; without one, show which is."""
    application_id = call.options.id
    if application_id is None:

        async def look(session: Session) -> int:
            value = (await session.client.request("getTenantModelSelection")).value
            chosen = value.get("selection") if isinstance(value, dict) else None
            if chosen is None:
                call.output.note("no model is selected")
                if call.output.is_json:
                    call.output.json(None, indent=None)
                return DONE
            print_record(session, SELECTION, as_record(Selection, chosen))
            return DONE

        return with_session(call, look)

    async def work(session: Session) -> int:
        value = await write(session, SELECT, f"select {application_id}", body={"application_id": application_id})
        print_record(session, SELECTION, as_record(Selection, value))
        return DONE

    return writing(call, SELECT, work)


def _subject(call: Call) -> dict[str, Any]:
    """What is planned or applied.

    Raises:
        UsageError: the parts of an offering are not all given.
    """
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
    return with_given(
        subject, {"model_deployment_id": options.deployment_id, "byok_offering": offering if given else None}
    )


async def _plan(session: Session, subject: dict[str, Any]) -> Plan:
    from runwatch.base.json import dumps_body

    answer = await session.client.request(PLAN_IT, body=dumps_body(subject))
    record = as_record(Plan, answer.value)
    assert isinstance(record, Plan)
    return record


def _sentences(made: Plan) -> list[str]:
    """What a person approves, in sentences."""
    spend = "unknown" if made.maximum_spend_usd is None else f"{decimal_text(made.maximum_spend_usd)} USD"
    said = [f"this spends at most: {spend}; a paid run is asked about once more"]
    said += [f"it does: {effect.description}" for effect in made.effects or () if effect.description]
    said += [f"in its way: {blocker.detail or blocker.code}" for blocker in made.blockers or ()]
    return said


async def _read(session: Session, application_id: str) -> Application:
    answer = await session.client.request(READ, path={"application_id": application_id})
    return _application(answer.value)


def _application(value: object) -> Application:
    record = as_record(Application, value)
    assert isinstance(record, Application)
    return record


def _action_of(application: Application) -> str:
    """The resume action for what the application waits for.

    Raises:
        RunwatchError: it waits for nothing that a resume does.
    """
    action = resume_action(application)
    if action is None:
        detail = application.next_action and application.next_action.detail
        raise RunwatchError(
            "There is nothing to resume",
            detail=f"the application is {application.state}" + (f": {detail}" if detail else ""),
            hint="--action names an action of your own choice.",
        )
    return action


def _key(call: Call) -> Any:
    """The key of a source that the application may ask for; nobody is asked before it does."""
    return read_key(call, "the model source", may_ask=False)


async def _go_on(session: Session, application: Application, secret: Any) -> int:
    """Enter the key that the application waits for, if one was given, and print the application."""
    consent = application.consent
    if consent is not None and consent.continue_url and secret is not None:

        async def is_done() -> bool:
            return (await _read(session, application.id)).state != "consent_pending"

        await enter(session, dict(consent.raw), secret, is_done)
        path = {"application_id": application.id}
        value = await write(session, RESUME, f"go on {application.id}", path=path, body={"action": "poll_consent"})
        application = _application(value)
    _print(session, application)
    if application.next_action is not None and application.next_action.detail:
        session.call.output.note(f"next: {application.next_action.detail}")
    return REFUSED if application.state == "failed_safe" else DONE


def _print(session: Session, application: Application) -> None:
    """Print an application; for people the address of a private page stands on stderr, apart from the data."""
    consent = application.consent
    if consent is not None and consent.continue_url and not session.call.output.is_json:
        tell_page(session.call, consent.continue_url)
        shown = {name: value for name, value in consent.raw.items() if name != "continue_url"}
        application = Application({**application.raw, "consent": shown})
    print_record(session, APPLICATION, application)
