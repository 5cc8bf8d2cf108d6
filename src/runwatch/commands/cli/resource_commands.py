"""Commands of the resources other than runs and receipts: models, checks, templates, sources, keys and so on.

``list``, ``show`` and the writes declared by a specification are derived from it on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runwatch.commands.cli.command_spec import (
    FIELDS,
    FILTER,
    FORMAT,
    LIMIT,
    MULTI_PROFILE_TARGET,
    SINCE,
    STATUS,
    TARGET,
    YES,
    ArgumentSpec,
    CommandSpec,
    OptionSpec,
)
from runwatch.records.named_models import NAMED_MODELS
from runwatch.view.resources.resource_index import RESOURCE_INDEX, ResourceEntry

if TYPE_CHECKING:
    from runwatch.view.spec.action import ResourceAction
    from runwatch.view.spec.action_parts import FormField
    from runwatch.view.spec.resource import ResourceSpec

NAME = OptionSpec("--name", "its display name", "NAME")
CAPABILITY = OptionSpec("--capability-tag", "what it can do; may be repeated", "TAG", "texts")
DATA_CLASS = OptionSpec("--data-class", "a data class it is granted besides public; may be repeated", "CLASS", "texts")
COST_CLASS = OptionSpec("--cost-class", "how expensive it is", "CLASS", choices=("economy", "standard", "premium"))
FROM = OptionSpec("--from", "take the request from this JSON file, - for standard input; options override it", "FILE")
DRY_RUN = OptionSpec("--dry-run", "check the request and print what would be sent; send nothing")
IDEMPOTENCY = OptionSpec("--idempotency-key", "a retry with the same key takes effect at most once", "KEY")
SECRET = (
    OptionSpec("--key-stdin", "read the key from standard input, or from a hidden prompt on a terminal"),
    OptionSpec("--key-command", "run this command without a shell and use its output as the key", "COMMAND"),
)
STOP = (
    OptionSpec("--days", "stop using the key after 30, 90, 180 or 365 days", "N", "count"),
    OptionSpec("--until", "stop using the key at the start of this day", "YYYY-MM-DD"),
    OptionSpec("--time-zone", "the time zone of that day (default: UTC)", "ZONE"),
    OptionSpec("--stage-only", "enter the key without testing or using it yet"),
)
AUTH_SCHEME = OptionSpec(
    "--auth-scheme", "how the source is called: api_key, none or another one that it lists", "SCHEME"
)
OFFERING = (
    OptionSpec("--deployment-id", "the model deployment to use", "ID"),
    OptionSpec("--source-id", "the source of the model, in place of a deployment", "ID"),
    AUTH_SCHEME,
    OptionSpec("--served-variant-id", "the model as that source serves it", "ID"),
)
PERIOD = (
    OptionSpec("--period", "a month, or today, 7d, 30d or month", "YYYY-MM"),
    OptionSpec("--first-day", "the first day", "YYYY-MM-DD"),
    OptionSpec("--last-day", "the last day", "YYYY-MM-DD"),
    # Their names in version 0.1.0.
    OptionSpec("--from", "the first day", "YYYY-MM-DD", hidden=True),
    OptionSpec("--to", "the last day", "YYYY-MM-DD", hidden=True),
)
OUTPUT = OptionSpec("--output", "write to this new file instead of standard output", "FILE")
FORCE = OptionSpec("--force", "replace the file if it exists")
LIST_OPTIONS = (FILTER, LIMIT, FIELDS, *MULTI_PROFILE_TARGET, *FORMAT)
SHOW_OPTIONS = (FIELDS, *TARGET, *FORMAT)


def _id(kind: str, takes: str = "1", *, noun: str = "") -> ArgumentSpec:
    noun = noun or kind
    return ArgumentSpec("ID", f"the {noun}'s id" if takes in "1?" else f"ids of {noun}s", takes, names=kind)


CHECK_ID = _id("verifier", noun="check")


RESOURCE_COMMANDS = (
    CommandSpec(
        ("models", "save"), "save a model of the catalog, so that runs can use it", "commands.models:save",
        (ArgumentSpec("ID", "the model's deployment id, or its key", names="model"),),
        (NAME, CAPABILITY, DATA_CLASS, COST_CLASS, IDEMPOTENCY, *TARGET, *FORMAT),
        notes="Missing values come from the catalog; you may give fewer tags and data classes than it grants.",
    ),
    CommandSpec(
        ("verifiers", "test"), "test the endpoint of an output check; exit 1 if it cannot be used",
        "commands.verifiers:test", (CHECK_ID,), (FIELDS, *TARGET, *FORMAT),
    ),
    CommandSpec(
        ("verifiers", "connect"),
        "enter the key of an output check, test it and use it",
        "commands.protected_keys:connect_verifier",
        (CHECK_ID,),
        (*SECRET, *STOP, *TARGET, *FORMAT),
        notes="Without an option for the key, a terminal asks how to enter it. Without a terminal, the address of a"
        " private page is printed on stderr, and the command waits until the key has been entered there.",
    ),
    CommandSpec(
        ("verifiers", "promote"), "test the key that was entered, and use it", "commands.protected_keys:promote",
        (CHECK_ID,), (*TARGET, *FORMAT),
    ),
    CommandSpec(
        ("verifiers", "revoke"), "stop using the key of an output check", "commands.protected_keys:revoke", (CHECK_ID,),
        (YES, *TARGET, *FORMAT),
    ),
    CommandSpec(
        ("verifiers", "connection"), "show the protected connection of an output check",
        "commands.protected_keys:connection", (CHECK_ID,),
        (OptionSpec("--operation", "also show the operation with this idempotency key", "KEY"), *SHOW_OPTIONS),
    ),
    CommandSpec(
        ("templates", "show"), "show a template with its blockers and next actions, or an application",
        "commands.templates:show", (ArgumentSpec("ID", "the template's or the application's id", names="template"),),
        SHOW_OPTIONS,
    ),
    CommandSpec(
        ("templates", "report"), "report what blocks templates, what to do next and what was decided on this machine",
        "commands.templates:report", flags=(OUTPUT, FORCE, *MULTI_PROFILE_TARGET, *FORMAT),
        notes="Markdown, or CSV with one row per blocker if --format or the file name says so.",
    ),
    CommandSpec(
        ("templates", "plan"), "show what applying a template would do and cost; changes nothing",
        "commands.templates:plan", (ArgumentSpec("TEMPLATE", "the template's id", names="template"),),
        (*OFFERING, *SHOW_OPTIONS),
    ),
    CommandSpec(
        ("templates", "apply"),
        "apply a template, once its plan is approved",
        "commands.templates:apply",
        (ArgumentSpec("TEMPLATE", "the template's id", names="template"),),
        (
            *OFFERING, OptionSpec("--digest", "the digest of the plan that you approve", "DIGEST"),
            OptionSpec("--issued-at", "when that plan was issued: its issued_at", "WHEN"), *SECRET, IDEMPOTENCY,
            OptionSpec("--yes", "approve the plan without a question"), *TARGET, *FORMAT,
        ),
        notes="Without --digest the template is planned first, and you confirm the plan. A paid run needs a second"
        " confirmation, with 'runwatch templates resume'.",
    ),
    CommandSpec(
        ("templates", "resume"),
        "resume an application that is waiting",
        "commands.templates:resume",
        (_id("application"),),
        (
            OptionSpec("--action", "what to do next, if not what the application asks for", "ACTION"),
            OptionSpec("--live-proof-digest", "the digest of the authorized paid run", "DIGEST"),
            *SECRET,
            OptionSpec("--yes", "authorize a paid run without a question"),
            *TARGET,
            *FORMAT,
        ),
    ),
    CommandSpec(
        ("templates", "select"), "select the model that an application proved; without an id, show which is selected",
        "commands.templates:select", (_id("application", "?"),), (*TARGET, *FORMAT),
    ),
    CommandSpec(
        ("agents", "connect"), "enter the key of a review agent, test it and use it",
        "commands.protected_keys:connect_agent", (_id("agent"),), (*SECRET, *STOP, *TARGET, *FORMAT),
    ),
    CommandSpec(
        ("github", "connect"), "connect a repository", "commands.reviews:connect",
        (ArgumentSpec("REPOSITORY", "the repository, as OWNER/NAME"),), (IDEMPOTENCY, *TARGET, *FORMAT),
    ),
    CommandSpec(
        ("sources", "list"), "list connections to model sources", "commands.sources:list_sources",
        flags=(OptionSpec("--available", "list the sources that can be connected instead"), STATUS, *LIST_OPTIONS),
    ),
    CommandSpec(
        ("sources", "connect"),
        "connect a model source, test it, and save a model of it",
        "commands.connect_source:connect",
        (ArgumentSpec("SOURCE", "the source; not needed with an address", "?", names="source_profile"),),
        (
            OptionSpec("--openai-compatible", "a server at this address that speaks OpenAI's protocol", "URL"),
            OptionSpec("--anthropic-compatible", "a server at this address that speaks Anthropic's protocol", "URL"),
            NAME,
            *SECRET,
            AUTH_SCHEME,
            OptionSpec("--protocol", "its protocol, e.g. openai_responses (default: the usual one)", "NAME"),
            OptionSpec("--price-input", "US dollars per million input tokens, for all its models", "USD"),
            OptionSpec("--price-output", "US dollars per million output tokens, for all its models", "USD"),
            OptionSpec(
                "--model",
                f"save this model, also from a source that lists none; may be repeated, {NAMED_MODELS} times at most",
                "MODEL",
                "texts",
            ),
            DATA_CLASS,
            *TARGET,
            *FORMAT,
        ),
        notes="Each step is printed on stderr. A new connection whose test fails is removed again. Connecting a source"
        " twice makes one connection, with or without /v1 in its address: values that you give are changed, and the"
        " others stay. Only another --name makes a second one. With --model only the named models are called, with"
        " one minimal call each, and those that answered before are not called again. A connection that was never"
        " tested, failed its last test or gets another key is tested with every model named for it. A server on"
        " this machine gets no key unless one is given. The key goes to a private page of the service, and never"
        " into an argument, a log or a response.",
    ),
    CommandSpec(
        ("sources", "test"), "test a connection; exit 1 if it cannot be used", "commands.sources:test",
        (_id("connection"),), (FIELDS, *TARGET, *FORMAT),
    ),
    CommandSpec(
        ("sources", "sync"),
        "read the list of models that a connection serves",
        "commands.sources:sync",
        (_id("connection"),),
        (
            OptionSpec(
                "--model",
                f"call this model once and add it; may be repeated, {NAMED_MODELS} times at most",
                "MODEL",
                "texts",
            ),
            OptionSpec("--remove", "remove this model until --model adds it again; may be repeated", "MODEL", "texts"),
            FIELDS,
            *TARGET,
            *FORMAT,
        ),
    ),
    CommandSpec(
        ("sources", "rotate"), "give a connection another key, and test it", "commands.sources:rotate",
        (_id("connection"),), (*SECRET, *TARGET, *FORMAT),
        notes="The local service tests the new key of a working connection first: if the test fails, the connection"
        " keeps its old key and stays usable. Elsewhere, and for a connection that is not usable now, the new key"
        " replaces the old one before the test, and nothing runs until a test has passed.",
    ),
    CommandSpec(
        ("webhooks", "deliveries"), "list deliveries to a webhook and their results",
        "commands.webhooks:deliveries", (_id("webhook"),), (STATUS, LIMIT, FIELDS, *TARGET, *FORMAT),
    ),
    CommandSpec(
        ("usage",), "show runs, tokens and spend of a period", "commands.reports:usage",
        flags=(*PERIOD, FIELDS, *MULTI_PROFILE_TARGET, *FORMAT),
        notes="With several profiles the table has a row for each, and a total.",
    ),
    CommandSpec(
        ("evals",), "show pass rates of output checks", "commands.reports:evals",
        flags=(*PERIOD[1:], FIELDS, *MULTI_PROFILE_TARGET, *FORMAT),
    ),
    CommandSpec(
        ("compliance", "export"), "export receipts, usage and decisions of a period", "commands.reports:export",
        flags=(*PERIOD, OUTPUT, FORCE, FIELDS, *TARGET, *FORMAT),
    ),
)  # fmt: skip
"""Commands that are not derived from a specification."""

_RUN: dict[tuple[str, ...], str] = {
    ("verifiers", "register"): "commands.verifiers:register",
    ("keys", "create"): "commands.api_keys:create",
}
"""Handlers of derived writes that print more than the record."""


def find_resource_command(entry: ResourceEntry, word: str) -> CommandSpec:
    """Return the command that a resource's specification defines: ``list``, ``show``, another list or a write.

    Raises:
        LookupError: There is none.
    """
    path = (entry.name, word)
    if word == "show":
        return _show_verb(path, entry.load())
    listed = entry if word == "list" else next((other for other in RESOURCE_INDEX if other.name == word), None)
    return _write_verb(path) if listed is None else _list_verb(path, listed.load())


def _list_verb(path: tuple[str, ...], spec: ResourceSpec[Any]) -> CommandSpec:
    flags = (*_server_flags(spec), *LIST_OPTIONS)
    return CommandSpec(path, spec.list_summary or f"list {spec.plural}", "commands.resources:list_records", flags=flags)


def _show_verb(path: tuple[str, ...], spec: ResourceSpec[Any]) -> CommandSpec:
    summary = spec.show_summary or f"show a {spec.singular}"
    argument = ArgumentSpec("ID", spec.id_help or f"the {spec.singular}'s id", names=spec.kind)
    return CommandSpec(path, summary, "commands.resources:show", (argument,), SHOW_OPTIONS)


def find_command_actions(words: tuple[str, ...]) -> tuple[ResourceSpec[Any], list[ResourceAction[Any]]]:
    """Return the resource and the actions of a command.

    The actions belong to the resource itself, or to one that is listed as its subcommand.

    Raises:
        LookupError: No action has this command.
    """
    verb, noun = " ".join(words), words[0]
    entries = {entry.name: entry for entry in RESOURCE_INDEX}
    for name in (noun, *entries[noun].subcommands.split()):
        if name not in entries:
            continue
        spec = entries[name].load()
        found = [
            each for each in (*spec.create_actions, *spec.actions) if each.command == verb and each.mutation is not None
        ]
        if found:
            return spec, found
    raise LookupError(f"no specification gives the verb '{verb}'")


def _write_verb(path: tuple[str, ...]) -> CommandSpec:
    """Return the command of a write, with its form fields as options."""
    spec, actions = find_command_actions(path)
    action, is_made = actions[0], actions[0] in spec.create_actions
    mutations = [each.mutation for each in actions if each.mutation is not None]
    fields = {
        field.option.name: field
        for mutation in mutations
        for field in mutation.option_fields
        if field.option is not None
    }
    arguments: list[ArgumentSpec] = []
    flags: list[OptionSpec] = []
    if not is_made:
        is_one = bool(fields) or not action.is_destructive
        text = (spec.id_help or f"the {spec.singular}'s id") if is_one else f"ids of {spec.singular}s"
        arguments.append(ArgumentSpec("ID", text, "1" if is_one else "+", names=spec.kind))
    for field in fields.values():
        if field.option is not None and field.option.is_argument:
            arguments.append(ArgumentSpec(field.option.name, field.option.help))
        else:
            flags += _field_flags(field)
    if fields and (is_made or mutations[0].changes_only):
        flags.append(FROM)
    if is_made:
        flags.append(IDEMPOTENCY)
    if fields:
        flags.append(DRY_RUN)
    if action.is_destructive:
        flags.append(YES)
    run = _RUN.get(path, "commands.resource_writes:run")
    summary = action.summary or action.label[:1].lower() + action.label[1:]
    return CommandSpec(path, summary, run, tuple(arguments), (*flags, *TARGET, *FORMAT), action.notes)


def _field_flags(field: FormField) -> Iterator[OptionSpec]:
    option = field.option
    assert option is not None
    kind = {"list": "texts", "number": "count" if option.is_whole else "number"}.get(field.kind, "text")
    choices = field.choices if field.kind == "choice" and not option.is_open else ()
    yield OptionSpec(option.name, option.help, option.metavar, kind, choices)
    no, text = option.negative
    if no:
        yield OptionSpec(no, text)


def option_attribute(name: str) -> str:
    return name.lstrip("-").replace("-", "_").lower()


def _server_flags(spec: ResourceSpec[Any]) -> Iterator[OptionSpec]:
    """Yield the options of a list for server filters, besides ``--filter``."""
    wire = spec.record.WIRE
    filters = () if wire is None else wire.filters
    for name in filters:
        if name in {"status", "since"}:
            continue
        field = spec.field(name)
        kind = next((link.kind for link in spec.links if f"{link.kind}_id" == name), "")
        what, metavar = (kind, "ID") if kind else (name.replace("_", " "), name.upper())
        choices = () if field is None else field.choices
        flag = f"--{name.replace('_', '-')}"
        yield OptionSpec(flag, f"only {spec.plural} of this {what}", metavar, choices=choices, names=kind)
    if "status" in spec.record.MEMBERS:
        yield STATUS
    if "since" in filters:
        yield SINCE
