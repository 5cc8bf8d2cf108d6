"""``arms create|edit|disable``: saved models, agents and skills."""

from __future__ import annotations

from typing import Any, Final

from runwatch.base.errors import UsageError
from runwatch.commands.call import Call
from runwatch.commands.outcomes import for_each
from runwatch.commands.resources import as_record, print_record
from runwatch.commands.session import Session
from runwatch.commands.writing import body_from, given_key, need, with_given, write, writing
from runwatch.records.arm import Arm
from runwatch.view.resources.arms import ARMS

CREATE: Final = "postArms"
EDIT: Final = "patchArmsByArmId"
DISABLE: Final = "deleteArmsByArmId"


def create(call: Call) -> int:
    """``arms create``: save a model, an agent or a skill from options or from a file."""
    body, key = _body(call), given_key(call)
    flags = {"kind": "--kind", "display_name": "--name", "capability_tags": "--capability-tag"}
    need(body, {**flags, "data_class_grants": "--data-class"})

    async def work(session: Session) -> int:
        print_outcome(session, await write(session, CREATE, f"save {body['display_name']}", body=body, key=key))
        return 0

    return writing(call, CREATE, work)


def edit(call: Call) -> int:
    """``arms edit``: change what options or a file name; everything else stays."""
    body, arm_id = _body(call), call.options.id
    if not body:
        raise UsageError("Nothing is to be changed", hint="runwatch arms edit --help lists what can be.")

    async def work(session: Session) -> int:
        value = await write(session, EDIT, f"change {arm_id}", path={"arm_id": arm_id}, body=body)
        print_record(session, ARMS, as_record(Arm, value))
        return 0

    return writing(call, EDIT, work)


def disable(call: Call) -> int:
    """``arms disable``: one outcome an option; nothing enables one again."""

    async def one(session: Session, arm_id: str) -> str | None:
        value = await write(session, DISABLE, f"disable {arm_id}", path={"arm_id": arm_id})
        return value.get("status") if isinstance(value, dict) else None

    return for_each(call, DISABLE, one, asks="Disable", singular="arm", member="arm_id", done="disabled")


def print_outcome(session: Session, value: object) -> None:
    """Print what came of saving an option, as the service answered it."""
    print_record(session, ARMS, as_record(Arm, value))


def _body(call: Call) -> dict[str, Any]:
    """The members that the options and ``--from`` give.

    Raises:
        UsageError: a file cannot be used.
    """
    options = call.options
    body = with_given(
        body_from(call),
        {
            "kind": options.kind,
            "display_name": options.name,
            "capability_tags": options.capability_tag,
            "data_class_grants": options.data_class,
            "cost_class": options.cost_class,
            "model_deployment_id": options.deployment_id,
            "provider": options.provider,
            "model_id": options.model_id,
            "credential_ref": options.credential_ref,
        },
    )
    if options.url is not None:
        body["endpoint"] = {"url": options.url, "auth_ref": options.auth_ref or ""}
    if options.max_runtime_s is not None:
        body["lifecycle"] = {**body.get("lifecycle", {}), "max_runtime_s": options.max_runtime_s}
    if options.artifact is not None:
        body["artifact"] = _artifact(call)
    return body


def _artifact(call: Call) -> dict[str, Any]:
    try:
        content = call.read_input(call.options.artifact).decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("The skill is not UTF-8 text", detail=str(call.options.artifact)) from None
    return {
        "content": content,
        "version": call.options.artifact_version or "1",
        "editable_regions": call.options.editable_region or [],
    }
