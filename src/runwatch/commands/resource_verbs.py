"""The verbs of the resources beside runs and receipts: models, checks, templates, sources, keys and the like.

``list`` and ``show`` are made from a resource's specification when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runwatch.commands.forms import (
    FIELDS,
    FILTER,
    FORMAT,
    LIMIT,
    SEVERAL,
    SINCE,
    STATUS,
    TARGET,
    YES,
    Argument,
    Flag,
    Verb,
)
from runwatch.view.resource_index import RESOURCE_INDEX, ResourceEntry

if TYPE_CHECKING:
    from runwatch.view.resource import ResourceSpec

NAME = Flag("--name", "what it is to be called", "NAME", "text")
CAPABILITY = Flag("--capability-tag", "what it can do; may be repeated", "TAG", "texts")
DATA_CLASS = Flag("--data-class", "a data class it is granted; may be repeated", "CLASS", "texts")
COST_CLASS = Flag("--cost-class", "how expensive it is", "CLASS", "text", ("economy", "standard", "premium"))
ENDPOINT = (
    Flag("--url", "where it is reached", "URL", "text"),
    Flag("--auth-ref", "the id of a credential reference, never a key", "REF", "text"),
)
FROM = Flag("--from", "take the request from this JSON file, - for standard input; options win over it", "FILE", "text")
IDEMPOTENCY = Flag("--idempotency-key", "asking again with the same key does it once at most", "KEY", "text")
SECRET = (
    Flag("--key-stdin", "read the key from standard input; on a terminal from a hidden prompt"),
    Flag("--key-command", "run this command without a shell, and take what it prints as the key", "COMMAND", "text"),
)
STOP = (
    Flag("--days", "stop using the key after 30, 90, 180 or 365 days", "N", "count"),
    Flag("--until", "stop using the key when this day begins", "YYYY-MM-DD", "text"),
    Flag("--time-zone", "the zone in which that day begins (default: UTC)", "ZONE", "text"),
    Flag("--stage-only", "enter the key, and neither test nor use it yet"),
)
OFFERING = (
    Flag("--deployment-id", "the model deployment to use", "ID", "text"),
    Flag("--source-id", "the source of an offering", "ID", "text"),
    Flag("--auth-scheme", "how the source is authorised", "SCHEME", "text"),
    Flag("--served-variant-id", "the served variant of an offering", "ID", "text"),
)
PERIOD = (
    Flag("--period", "a month, or one of today, 7d, 30d and month", "YYYY-MM", "text"),
    Flag("--from", "the first day", "YYYY-MM-DD", "text"),
    Flag("--to", "the last day", "YYYY-MM-DD", "text"),
)
OUTPUT = Flag("--output", "write into this new file instead of standard output", "FILE", "text")
FORCE = Flag("--force", "replace the file when it is there already")
LISTED = (FILTER, LIMIT, FIELDS, *SEVERAL, *FORMAT)
SHOWN = (FIELDS, *TARGET, *FORMAT)
SAVED = (
    NAME, CAPABILITY, DATA_CLASS, COST_CLASS,
    Flag("--deployment-id", "the model deployment that it stands for", "ID", "text"),
    Flag("--provider", "the provider of a model without a deployment", "NAME", "text"),
    Flag("--model-id", "the provider's name of the model", "ID", "text"),
    Flag("--credential-ref", "the connection to use: its id or auth_binding_ref", "REF", "text"),
    *ENDPOINT,
    Flag("--max-runtime-s", "how long an agent may work on one run", "SECONDS", "count"),
    Flag("--artifact", "a skill: the file with its text, - for standard input", "FILE", "text"),
    Flag("--artifact-version", "the skill's version (default: 1)", "VERSION", "text"),
    Flag("--editable-region", "a part of the skill that a repair may change; may be repeated", "NAME", "texts"),
    FROM,
)  # fmt: skip
CHECK = (
    NAME,
    Flag("--version-name", "the version of the check", "VERSION", "text"),
    *ENDPOINT,
    DATA_CLASS,
    Flag("--deterministic", "declare that it always judges the same output the same way"),
    FROM,
)


def _id(kind: str, takes: str = "1", *, noun: str = "") -> Argument:
    noun = noun or kind
    return Argument("ID", f"the {noun}'s id" if takes in "1?" else f"ids of {noun}s", takes, names=kind)


CHECK_ID = _id("verifier", noun="check")


RESOURCE_VERBS = (
    Verb(
        ("models", "save"),
        "save a model of the catalog, so that runs can use it",
        "commands.models:save",
        (Argument("ID", "the model's deployment id, or its key", names="model"),),
        (NAME, CAPABILITY, DATA_CLASS, COST_CLASS, IDEMPOTENCY, *TARGET, *FORMAT),
        notes="What is not given is taken from the catalog; tags and data classes may be fewer than it grants.",
    ),
    Verb(
        ("arms", "create"),
        "save a model, an agent or a skill",
        "commands.arms:create",
        flags=(
            Flag("--kind", "what it is", "KIND", "text", ("model", "agent", "skill")),
            *SAVED, IDEMPOTENCY, *TARGET, *FORMAT,
        ),
        notes="A model of the catalog is saved more easily with 'runwatch models save'.",
    ),
    Verb(
        ("arms", "edit"), "change a saved model, agent or skill", "commands.arms:edit", (_id("arm"),),
        (*SAVED, *TARGET, *FORMAT),
    ),
    Verb(
        ("arms", "disable"), "disable saved models, agents or skills for good", "commands.arms:disable",
        (_id("arm", "+"),), (YES, *TARGET, *FORMAT),
    ),
    Verb(
        ("verifiers", "register"),
        "register an output check",
        "commands.verifiers:register",
        flags=(*CHECK, IDEMPOTENCY, *TARGET, *FORMAT),
        notes="The endpoint's key is never given here: 'runwatch verifiers connect' enters it on a private page.",
    ),
    Verb(
        ("verifiers", "update"), "change an output check", "commands.verifiers:update", (CHECK_ID,),
        (*CHECK, Flag("--not-deterministic", "withdraw that declaration"), *TARGET, *FORMAT),
    ),
    Verb(
        ("verifiers", "retire"), "retire output checks", "commands.verifiers:retire",
        (_id("verifier", "+", noun="check"),), (YES, *TARGET, *FORMAT),
    ),
    Verb(
        ("verifiers", "test"), "probe the endpoint of an output check; exit 1 when it cannot be used",
        "commands.verifiers:test", (CHECK_ID,), (FIELDS, *TARGET, *FORMAT),
    ),
    Verb(
        ("verifiers", "connect"),
        "enter the key of an output check, test it and use it",
        "commands.connections:connect_verifier",
        (CHECK_ID,),
        (*SECRET, *STOP, *TARGET, *FORMAT),
        notes="Without a key source a person at a terminal is asked; otherwise the address of the private page is told"
        " on stderr, and this waits until somebody has entered the key there.",
    ),
    Verb(
        ("verifiers", "promote"), "test the key that was entered, and use it", "commands.connections:promote",
        (CHECK_ID,), (*TARGET, *FORMAT),
    ),
    Verb(
        ("verifiers", "revoke"), "stop using the key of an output check", "commands.connections:revoke",
        (CHECK_ID,), (YES, *TARGET, *FORMAT),
    ),
    Verb(
        ("verifiers", "connection"), "show the protected connection of an output check",
        "commands.connections:connection", (CHECK_ID,),
        (Flag("--operation", "also tell about the operation of this key", "KEY", "text"), *SHOWN),
    ),
    Verb(
        ("templates", "show"), "show a template with its blockers and next actions, or an application",
        "commands.templates:show", (Argument("ID", "the template's or the application's id", names="template"),), SHOWN,
    ),
    Verb(
        ("templates", "report"), "report what blocks templates, what to do next and what was decided on this machine",
        "commands.templates:report", flags=(OUTPUT, FORCE, *SEVERAL, *FORMAT),
        notes="Markdown, or CSV with a row a blocker where --format or the file's ending says so.",
    ),
    Verb(
        ("templates", "plan"), "show what applying a template would do and cost; changes nothing",
        "commands.templates:plan", (Argument("TEMPLATE", "the template", names="template"),), (*OFFERING, *SHOWN),
    ),
    Verb(
        ("templates", "apply"),
        "apply a template, once its plan is approved",
        "commands.templates:apply",
        (Argument("TEMPLATE", "the template", names="template"),),
        (
            *OFFERING,
            Flag("--digest", "the digest of the plan that is approved", "DIGEST", "text"),
            Flag("--issued-at", "when that plan was issued, as it says", "WHEN", "text"),
            *SECRET, IDEMPOTENCY, Flag("--yes", "approve the plan without being asked"), *TARGET, *FORMAT,
        ),
        notes="Without --digest it is planned first, and the plan is asked about. A paid run is asked about once more,"
        " by 'runwatch templates resume'.",
    ),
    Verb(
        ("templates", "resume"),
        "go on with an application that waits for something",
        "commands.templates:resume",
        (_id("application"),),
        (
            Flag("--action", "the action, where it is not the one that the application asks for", "ACTION", "text"),
            Flag("--live-proof-digest", "the digest of the paid run that is authorized", "DIGEST", "text"),
            *SECRET, Flag("--yes", "authorize a paid run without being asked"), *TARGET, *FORMAT,
        ),
    ),
    Verb(
        ("templates", "select"), "select the model that an application proved; without an id, show which is selected",
        "commands.templates:select", (_id("application", "?"),), (*TARGET, *FORMAT),
    ),
    Verb(
        ("agents", "register"),
        "register a review agent for a connected repository",
        "commands.reviews:register",
        flags=(
            Flag("--repository", "the repository, as OWNER/NAME", "REPOSITORY", "text"),
            NAME, *ENDPOINT,
            Flag("--max-runtime-s", "how long it may work on one run (default: 1800)", "SECONDS", "count"),
            FROM, IDEMPOTENCY, *TARGET, *FORMAT,
        ),
    ),
    Verb(
        ("agents", "connect"), "enter the key of a review agent, test it and use it",
        "commands.connections:connect_agent", (_id("agent"),), (*SECRET, *STOP, *TARGET, *FORMAT),
    ),
    Verb(
        ("github", "connect"), "begin to connect a repository", "commands.reviews:connect",
        (Argument("REPOSITORY", "the repository, as OWNER/NAME"),), (IDEMPOTENCY, *TARGET, *FORMAT),
    ),
    Verb(
        ("sources", "list"), "list connections to model sources", "commands.sources:list_sources",
        flags=(Flag("--available", "list the sources that can be connected instead"), STATUS, *LISTED),
    ),
    Verb(
        ("sources", "connect"),
        "connect a model source, test it, and save a model of it",
        "commands.connect_source:connect",
        (Argument("SOURCE", "the source; left out where an address is given", "?", names="source_profile"),),
        (
            Flag("--openai-compatible", "a server at this address that speaks OpenAI's protocol", "URL", "text"),
            Flag("--anthropic-compatible", "a server at this address that speaks Anthropic's protocol", "URL", "text"),
            NAME,
            *SECRET,
            Flag("--auth-scheme", "how the source is authorised", "SCHEME", "text"),
            Flag("--protocol", "the protocol profile, where it is another one", "PROFILE", "text"),
            Flag("--price-input", "US dollars per million input tokens, for every model there", "USD", "text"),
            Flag("--price-output", "US dollars per million output tokens", "USD", "text"),
            Flag("--model", "save this model; the source needs no list of models; may be repeated", "MODEL", "texts"),
            DATA_CLASS, *TARGET, *FORMAT,
        ),
        notes="Each step is told on stderr. A connection whose test fails is removed again, and connecting a source"
        " twice makes one connection. With --model the test is one smallest call of the model. A server on this machine"
        " gets no key unless one is given. The key is entered on a private page of the service and stands in no"
        " argument, log or answer.",
    ),
    Verb(
        ("sources", "test"), "test a connection; exit 1 when it cannot be used", "commands.sources:test",
        (_id("connection"),), (FIELDS, *TARGET, *FORMAT),
    ),
    Verb(
        ("sources", "sync"), "read which models a connection serves", "commands.sources:sync", (_id("connection"),),
        (
            Flag("--model", "add this model, which the source does not list; may be repeated", "MODEL", "texts"),
            FIELDS, *TARGET, *FORMAT,
        ),
    ),
    Verb(
        ("sources", "rotate"), "give a connection another key, and test it", "commands.sources:rotate",
        (_id("connection"),), (*SECRET, *TARGET, *FORMAT),
    ),
    Verb(
        ("sources", "disconnect"), "disconnect sources, and disable the models over them",
        "commands.sources:disconnect", (_id("connection", "+"),), (YES, *TARGET, *FORMAT),
    ),
    Verb(
        ("proposals", "approve"), "approve a proposal", "commands.proposals:approve", (_id("proposal"),),
        (*TARGET, *FORMAT),
    ),
    Verb(
        ("proposals", "reject"), "reject a proposal", "commands.proposals:reject", (_id("proposal"),),
        (Flag("--reason", "why", "TEXT", "text"), *TARGET, *FORMAT),
    ),
    Verb(
        ("keys", "create"),
        "make an API key and print it, this once",
        "commands.keys:create",
        flags=(
            NAME, Flag("--role", "what it may do, where the service has roles", "ROLE", "text"),
            Flag("--expires", "after how long it expires, for example 30d or 12h; never when left out", "TIME", "text"),
            *TARGET, *FORMAT,
        ),
    ),
    Verb(
        ("keys", "label"), "give an API key another name", "commands.keys:label",
        (_id("api_key", noun="key"), Argument("NAME", "its new name")), (*TARGET, *FORMAT),
    ),
    Verb(
        ("keys", "revoke"), "revoke API keys for good", "commands.keys:revoke", (_id("api_key", "+", noun="key"),),
        (YES, *TARGET, *FORMAT),
    ),
    Verb(
        ("webhooks", "create"),
        "add a webhook and print its signing secret, this once",
        "commands.webhooks:create",
        flags=(
            Flag("--url", "where runs that ended are told", "URL", "text"),
            Flag("--event", "what it is told of; may be repeated", "TYPE", "texts"),
            FROM, *TARGET, *FORMAT,
        ),
        notes="Events are execution.completed, execution.failed, execution.cancelled and execution.expired.",
    ),
    Verb(
        ("webhooks", "rotate"), "give a webhook another signing secret and print it, this once",
        "commands.webhooks:rotate", (_id("webhook"),), (*TARGET, *FORMAT),
    ),
    Verb(
        ("webhooks", "remove"), "remove webhooks with their secrets and deliveries", "commands.webhooks:remove",
        (_id("webhook", "+"),), (YES, *TARGET, *FORMAT),
    ),
    Verb(
        ("webhooks", "deliveries"), "list what was delivered to a webhook, and what came of it",
        "commands.webhooks:deliveries", (_id("webhook"),), (STATUS, LIMIT, FIELDS, *TARGET, *FORMAT),
    ),
    Verb(
        ("webhooks", "replay"), "deliver the same event again", "commands.webhooks:replay", (_id("delivery"),),
        (*TARGET, *FORMAT),
    ),
    Verb(
        ("usage",), "show runs, tokens and money of a period", "commands.reports:usage",
        flags=(*PERIOD, FIELDS, *SEVERAL, *FORMAT),
        notes="The table of several profiles has a row for each, and below them their total.",
    ),
    Verb(
        ("evals",), "show how output checks have judged", "commands.reports:evals",
        flags=(*PERIOD[1:], FIELDS, *SEVERAL, *FORMAT),
    ),
    Verb(
        ("compliance", "export"), "export receipts, usage and decisions of a period", "commands.reports:export",
        flags=(*PERIOD, OUTPUT, FORCE, FIELDS, *TARGET, *FORMAT),
    ),
)  # fmt: skip
"""Those of them that do not follow from a specification."""


def resource_verb(entry: ResourceEntry, word: str) -> Verb:
    """The verb behind a resource's name that its specification gives: ``list``, ``show`` or a list of another resource.

    Raises:
        LookupError: nothing gives it.
    """
    path = (entry.name, word)
    if word == "show":
        return _show_verb(path, entry.load())
    listed = entry if word == "list" else next((other for other in RESOURCE_INDEX if other.name == word), None)
    if listed is None:
        raise LookupError(f"no specification gives the verb '{entry.name} {word}'")
    return _list_verb(path, listed.load())


def _list_verb(path: tuple[str, ...], spec: ResourceSpec[Any]) -> Verb:
    flags = (*_server_flags(spec), *LISTED)
    return Verb(path, spec.list_summary or f"list {_title(spec)}", "commands.resources:list_records", flags=flags)


def _show_verb(path: tuple[str, ...], spec: ResourceSpec[Any]) -> Verb:
    summary = spec.show_summary or f"show a {spec.singular}"
    argument = Argument("ID", spec.id_help or f"the {spec.singular}'s id", names=spec.kind)
    return Verb(path, summary, "commands.resources:show", (argument,), SHOWN)


def _server_flags(spec: ResourceSpec[Any]) -> Iterator[Flag]:
    """The options by which a list is narrowed, beside ``--filter``."""
    wire = spec.record.WIRE
    filters = () if wire is None else wire.filters
    for name in filters:
        if name in {"status", "since"}:
            continue
        field = spec.field(name)
        kind = next((link.kind for link in spec.links if f"{link.kind}_id" == name), "")
        what, metavar = (kind, "ID") if kind else (name.replace("_", " "), name.upper())
        choices = () if field is None else field.choices
        yield Flag(_option_name(name), f"only {_title(spec)} of this {what}", metavar, "text", choices, names=kind)
    if "status" in spec.record.MEMBERS:
        yield STATUS
    if "since" in filters:
        yield SINCE


def _option_name(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def _title(spec: ResourceSpec[Any]) -> str:
    """What the records are called within a sentence."""
    title = spec.title.partition(" · ")[0]
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]
