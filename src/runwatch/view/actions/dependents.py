"""Dependents of a record that is about to be deleted, as far as the known records show.

Deployments depend on a source connection, arms on a deployment, and runs on arms and output checks (manual: interface,
"Resources"). Nothing is read here; the caller passes the known records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runwatch.records.agent import ReviewAgent
from runwatch.records.arm import Arm
from runwatch.records.github import GithubConnection
from runwatch.records.model import CatalogEntry, Deployment
from runwatch.records.record import Record
from runwatch.records.run import Run
from runwatch.records.source import SourceConnection
from runwatch.records.template import Template
from runwatch.records.verifier import Verifier
from runwatch.view.runs.run_facts import RunFacts
from runwatch.view.text.format import counted, short_id

KnownRecords = Mapping[type[Record], Sequence[Record]]
MAX_NAMED: Final = 3
"""Maximum number of dependents of one kind that are named; the others are counted."""

_HANGS: Final[Mapping[type[Record], tuple[type[Record], ...]]] = {
    SourceConnection: (Deployment, Arm, Template, Run),
    Deployment: (Arm, Template, Run),
    Arm: (Template, Run),
    Verifier: (Run,),
    GithubConnection: (ReviewAgent,),
}


@dataclass(frozen=True, slots=True)
class Dependents:
    """Records of one kind that depend on another record: what one is called on screen, and their names in the order of
    ids.
    """

    noun: str
    ids: tuple[str, ...]
    names: tuple[str, ...]


def find_dependent_kinds(subject: object) -> tuple[type[Record], ...]:
    """Return the kinds whose records can depend on a record."""
    return next((kinds for kind, kinds in _HANGS.items() if isinstance(subject, kind)), ())


def find_dependents(subject: Any, known: KnownRecords) -> tuple[Dependents, ...]:
    """Return the dependents of a record by kind. Kinds without any are omitted."""
    if isinstance(subject, SourceConnection):
        found = _of_deployments([each for each in _of(known, Deployment) if each.connection_id == subject.id], known)
        found["template"] += [
            it for it in _of(known, Template) if _connection_of(it) == subject.id and it not in found["template"]
        ]
    elif isinstance(subject, Deployment):
        found = {**_of_deployments([subject], known), "deployment": []}
    elif isinstance(subject, Arm):
        found = _of_arms([subject], known)
    elif isinstance(subject, Verifier):
        found = {"live run": [run for run in _live(known) if RunFacts(run).verifier_id.value == subject.id]}
    elif isinstance(subject, GithubConnection):
        found = {"agent": [agent for agent in _of(known, ReviewAgent) if agent.repository == subject.repository]}
    else:
        return ()
    return tuple(
        Dependents(noun, tuple(record.id for record in records), tuple(_name(record) for record in records))
        for noun, records in found.items()
        if records
    )


def describe_dependents(found: Sequence[Dependents], unread: Sequence[str] = ()) -> str:
    """Describe the dependents of a record in a sentence, and name the kinds whose lists could not be read."""
    parts = []
    for each in found:
        names = [short_id(name) if name in each.ids else name for name in each.names[:MAX_NAMED]]
        more = f" and {len(each.ids) - MAX_NAMED} more" if len(each.ids) > MAX_NAMED else ""
        parts.append(f"{counted(len(each.ids), each.noun)} ({', '.join(names)}{more})")
    said = f"Used by {'; '.join(parts)}." if parts else "No known dependents."
    return f"{said} Not known: the lists of {', '.join(unread)} could not be read." if unread else said


def _of_deployments(deployments: list[Deployment], known: KnownRecords) -> dict[str, list[Any]]:
    ids = {deployment.id for deployment in deployments}
    arms = [arm for arm in _of(known, Arm) if arm.model_deployment_id in ids and arm.status != "disabled"]
    templates = [template for template in _of(known, Template) if _entry(template).id in ids]
    return {"deployment": deployments, **_of_arms(arms, known), "saved model": arms, "template": templates}


def _of_arms(arms: list[Arm], known: KnownRecords) -> dict[str, list[Any]]:
    ids = {arm.id for arm in arms}
    return {"live run": [run for run in _live(known) if RunFacts(run).arm_id.value in ids]}


def _live(known: KnownRecords) -> list[Run]:
    return [run for run in _of(known, Run) if not run.is_final]


def _of(known: KnownRecords, kind: type[Any]) -> list[Any]:
    return [record for record in known.get(kind, ()) if isinstance(record, kind)]


def _entry(template: Template) -> CatalogEntry:
    return template.catalog_row or CatalogEntry({})


def _connection_of(template: Template) -> str | None:
    connection = _entry(template).connection
    return None if connection is None else connection.connection_id


def _name(record: Any) -> str:
    name = getattr(record, "display_name", None) or getattr(record, "upstream_ref", None)
    return name if isinstance(name, str) and name else str(record.id)
