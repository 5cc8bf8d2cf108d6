"""The index of all resources: name, location of the specification, and subcommands.

Cheap to import, because ``runwatch --help`` and shell completion read it. Specifications are loaded by
:mod:`runwatch.view.resources.registry`, or one at a time by :meth:`ResourceEntry.load`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from runwatch.view.spec.resource import ResourceSpec


class ResourceEntry(NamedTuple):
    """One resource.

    Attributes:
        name: Plural name, also the first word of its commands.
        spec: Its specification: ``module:NAME`` below :mod:`runwatch.view.resources`.
        summary: Text for its commands in ``runwatch --help``; empty for a resource without commands.
        subcommands: ``list`` and ``show`` follow from the specification, the name of another resource lists that one,
            and other words are commands of the specification's actions.
    """

    name: str
    spec: str
    summary: str = ""
    subcommands: str = "list show"

    def load(self) -> ResourceSpec[Any]:
        module, _, name = self.spec.partition(":")
        spec: ResourceSpec[Any] = getattr(import_module(f"runwatch.view.resources.{module}"), name)
        return spec


RESOURCE_INDEX: Final = (
    ResourceEntry(
        "runs", "runs:RUNS", "runs: submit, follow and cancel them",
        "submit list show events watch cancel result add",
    ),
    ResourceEntry(
        "receipts", "receipts:RECEIPTS", "receipts of final runs: model, checks and cost, never prompt or output",
        "list show compare export",
    ),
    ResourceEntry("events", "events:EVENTS"),
    ResourceEntry(
        "models", "models:MODELS", "the model catalog: what can be saved and run",
        "list show save deployments definitions",
    ),
    ResourceEntry("arms", "arms:ARMS", "saved models, agents and skills", "list show create edit disable"),
    ResourceEntry(
        "verifiers", "verifiers:VERIFIERS", "output checks and their protected keys",
        "list show register update retire test connect promote revoke connection",
    ),
    ResourceEntry(
        "templates", "templates:TEMPLATES", "guided setups of a first working model, and what blocks each",
        "list show report plan apply resume select",
    ),
    ResourceEntry("agents", "reviews:AGENTS", "review agents for repositories", "list show register connect"),
    ResourceEntry("credentials", "reviews:CREDENTIALS", "references to secrets", "list"),
    ResourceEntry("github", "reviews:GITHUB", "connections to GitHub repositories", "list connect"),
    ResourceEntry(
        "sources", "sources:SOURCES", "connections to model sources, with your own keys",
        "list connect test sync rotate disconnect",
    ),
    ResourceEntry("profiles", "sources:PROFILES"),
    ResourceEntry("deployments", "models:DEPLOYMENTS"),
    ResourceEntry("definitions", "models:DEFINITIONS"),
    ResourceEntry(
        "proposals", "organization:PROPOSALS", "proposed repairs of skills, to be approved or rejected",
        "list show approve reject",
    ),
    ResourceEntry("keys", "organization:KEYS", "the organization's API keys", "list create label revoke"),
    ResourceEntry(
        "webhooks", "webhooks:WEBHOOKS", "addresses that are notified when runs end",
        "list show create rotate remove deliveries replay",
    ),
    ResourceEntry("deliveries", "webhooks:DELIVERIES"),
    ResourceEntry(
        "problems", "problems:PROBLEMS", "problems recorded on this machine, and what codes mean",
        "list find show explain",
    ),
    ResourceEntry("requests", "requests:REQUESTS", "HTTP requests recorded on this machine", "list"),
    ResourceEntry("account", "account:ACCOUNT"),
)  # fmt: skip
"""All resources, in the order of the console's screens and of the help."""
