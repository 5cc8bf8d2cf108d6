"""The command line: every verb with its arguments, flags and the function that does it.

Parser, help, completion and tests are made from this module, so a verb is declared once: here, or by the specification
of a resource that :mod:`runwatch.view.resource_index` names. The module is cheap to import, because ``runwatch --help``
needs it (DESIGN 7); a specification is loaded when its verb is asked for.
"""

from __future__ import annotations

from functools import cache

from runwatch.commands.forms import (
    CONSOLE,
    EXIT_STATUS,
    FIELDS,
    FILTER,
    FORMAT,
    LIMIT,
    MODES,
    PROFILE,
    REACTIONS,
    RUN_ID,
    RUN_IDS,
    SETTING,
    SEVERAL,
    SINCE,
    STATUS,
    TARGET,
    YES,
    Argument,
    Flag,
    Verb,
)
from runwatch.commands.resource_verbs import FORCE, OUTPUT, RESOURCE_VERBS, resource_verb
from runwatch.view.resource_index import RESOURCE_INDEX

__all__ = [
    "CONSOLE", "FORMAT", "TARGET", "Argument", "Flag", "Verb",
    "all_options", "find_option", "group_summary", "paths", "verb_at", "verbs",
]  # fmt: skip

_DECLARED = (
    Verb(
        ("demo",),
        "the console on a throw-away local service whose runs move by themselves",
        "cli:demo",
        notes=(
            "Needs no settings, leaves nothing behind and spends nothing. On a terminal it is the console on a sample"
            " organization."
        ),
    ),
    Verb(
        ("serve",),
        "run the local service alone",
        "cli:serve",
        flags=(
            Flag("--host", "the address to listen on (default: 127.0.0.1)", "ADDRESS", "text"),
            Flag("--port", "the port to listen on (default: the last one, or any free one)", "PORT", "count"),
            Flag("--data-dir", "where the service keeps its data", "DIR", "text"),
            Flag("--json", "print one JSON line with address and key once it accepts connections"),
            Flag("--stop", "stop the service of this data directory instead"),
            Flag("--rotate-master-key", "seal the secrets of this data directory with a new master key instead"),
            Flag("--allow-remote", "allow an address that other machines can reach"),
            Flag("--rate-limit-rpm", "answer 429 above N requests a minute (default: no limit)", "N", "count"),
            Flag("--allow-loopback-checks", "allow output checks, agents and webhooks on this machine, by plain http"),
            Flag("--allow-signup", "let anyone who reaches the service make an organization with a key of its own"),
            Flag("--provider-config", "a TOML file that names further sources of models, never keys", "FILE", "text"),
            Flag("--sample", "begin with a sample organization, whose models and checks cost nothing and call nobody"),
            Flag("--sample-runs", "how many finished runs the sample organization has", "N", "count", hidden=True),
            Flag("--balance-usd", "set the balance; live runs are accepted while it is above zero", "USD", "number"),
            Flag("--quota-executions", "answer 429 above N runs of a calendar month (default: no limit)", "N", "count"),
            Flag("--concurrency", "work on N live runs at once; others wait (default: no limit)", "N", "count"),
            Flag("--idle-exit-s", "end after N seconds without caller and live run", "N", "number", hidden=True),
            Flag("--pace", "multiply the waits of test runs", "FACTOR", "number", hidden=True),
        ),
    ),
    Verb(
        ("runs", "submit"),
        "submit a run",
        "commands.submit:submit",
        flags=(
            Flag("--mode", "echo is a test run and free, live calls a model and spends money", "MODE", "text", MODES),
            Flag("--objective", "what the run is to do, up to 4,000 characters", "TEXT", "text"),
            Flag("--objective-file", "read the objective from a file, - for standard input", "FILE", "text"),
            Flag("--data-class", "a data class the run may touch; may be repeated", "CLASS", "texts"),
            Flag("--max-cost-usd", "stop further provider calls at this spend", "USD", "number"),
            Flag("--max-runtime-s", "end the run after so many seconds", "SECONDS", "count"),
            Flag("--verifier-id", "the output check to use; live runs only", "ID", "text", names="verifier"),
            Flag("--arm-id", "the one saved model that may run", "ID", "text", names="arm"),
            Flag("--on-eval", "what a verdict may cause; may be repeated", "REACTION", "texts", REACTIONS),
            Flag("--cost-coefficient", "weight of cost against quality, 0 to 1", "NUMBER", "number"),
            Flag("--inputs", "a JSON file sent along as the task's inputs", "FILE", "text"),
            Flag("--from", "send this JSON file as the whole request, - for standard input", "FILE", "text"),
            Flag("--idempotency-key", "the same key with the same body never starts a second run", "KEY", "text"),
            Flag("--resend", "send a kept request of unknown outcome again, byte for byte", "KEY", "text"),
            Flag("--watch", "follow the run's events to its end"),
            Flag("--dry-run", "print what would be sent, and send nothing"),
            EXIT_STATUS, *TARGET, *FORMAT,
        ),
        notes="The mode is always sent, because the service's own default is live, which spends money.",
    ),
    Verb(
        ("runs", "list"),
        "list runs, newest first",
        "commands.runs:list_runs",
        flags=(STATUS, SINCE, FILTER, LIMIT, FIELDS, *TARGET, *FORMAT),
        notes="Where the service has no list of runs, the runs submitted or added here are read one by one.",
    ),
    Verb(("runs", "show"), "show a run", "commands.runs:show", (RUN_ID,), (FIELDS, *TARGET, *FORMAT)),
    Verb(
        ("runs", "events"),
        "print the events a run has now",
        "commands.runs:events",
        (RUN_ID,),
        (Flag("--after", "only events after this one", "EVENT", "text"), FIELDS, *TARGET, *FORMAT),
        notes="With --json one event is one line, exactly as the service sent it.",
    ),
    Verb(
        ("runs", "watch"),
        "follow runs to their final event, one line an event",
        "commands.watch:watch",
        (Argument("ID", "ids of runs", "*", names="run"),),
        (Flag("--all", "every run that is not final now"), EXIT_STATUS, *TARGET, *FORMAT),
        notes=(
            "Events kept on this machine come first, then new ones; a lost connection or a restarted service loses"
            " none. A service that is silent for 15 minutes ends it. With --json one event is one line, exactly as the"
            " service sent it. --all takes those of the newest 1,000 runs that are live when it starts, and ends with"
            " the last of them."
        ),
    ),
    Verb(("runs", "cancel"), "cancel runs", "commands.runs:cancel", (RUN_IDS,), (YES, *TARGET, *FORMAT)),
    Verb(
        ("runs", "result"),
        "print the model output of a completed live run",
        "commands.runs:result",
        (RUN_ID,),
        (*TARGET, *FORMAT),
        notes="A test run has no result content.",
    ),
    Verb(
        ("runs", "add"),
        "put runs on the watch list",
        "commands.runs:add",
        (Argument("ID", "ids of runs, - for one a line on standard input", "+"),),
        (Flag("--no-check", "do not read the runs first"), *TARGET, *FORMAT),
    ),
    Verb(
        ("receipts", "list"),
        "list receipts, newest first",
        "commands.receipts:list_receipts",
        flags=(
            STATUS,
            SINCE,
            Flag("--arm-id", "only receipts of runs that used this saved model", "ID", "text", names="arm"),
            FILTER, LIMIT, FIELDS, *SEVERAL, *FORMAT,
        ),
    ),
    Verb(
        ("receipts", "show"), "show the receipt of a run", "commands.receipts:show", (RUN_ID,),
        (FIELDS, *TARGET, *FORMAT),
    ),
    Verb(
        ("receipts", "compare"),
        "show every value in which the receipts of two runs differ",
        "commands.receipts:compare",
        (RUN_ID, Argument("OTHER", "the other run's id", names="run")),
        (*TARGET, *FORMAT),
    ),
    Verb(
        ("receipts", "export"),
        "write receipts to a file, as NDJSON, CSV, JSON or Markdown",
        "commands.receipts:export",
        flags=(
            STATUS,
            SINCE,
            Flag("--arm-id", "only receipts of runs that used this saved model", "ID", "text", names="arm"),
            OUTPUT, FORCE, LIMIT, *TARGET,
        ),
        notes="The ending of the file says how: .ndjson, .csv, .json or .md; standard output gets NDJSON.",
    ),
    *RESOURCE_VERBS,
    Verb(
        ("problems", "list"),
        "list the problems met from this machine, newest first",
        "commands.problems:list_problems",
        flags=(
            SINCE, FILTER, LIMIT, FIELDS,
            Flag("--profile", "only problems of this profile, or of several: A,B", "NAME", "text", names="profiles"),
            *FORMAT,
        ),
    ),
    Verb(
        ("problems", "find"),
        "find problems by their instance, a whole mail, or what happened around a time",
        "commands.problems:find",
        (
            Argument(
                "TEXT",
                "six or more characters of an instance id, or - for text on standard input; with --at, words that"
                " have to stand in what is found",
                "?",
            ),
        ),
        (
            Flag("--at", "problems, requests and ended runs around this time, e.g. 2026-11-22T03:10", "WHEN", "text"),
            Flag("--within", "with --at: how far to both sides (default: 5m)", "SPAN", "text"),
            Flag("--tz", "with --at: the zone of the time, e.g. Europe/Berlin or local (default: UTC)", "ZONE", "text"),
            FILTER, FIELDS, *FORMAT,
        ),
        notes=(
            "Looks through what this machine keeps, and through the store of the local service where that is running:"
            " it keeps every problem that it answered, with its cause."
        ),
    ),
    Verb(
        ("problems", "show"),
        "show one problem with what to do next",
        "commands.problems:show",
        (Argument("INSTANCE", "the instance id, or six or more characters of it", names="problem"),),
        (
            Flag("--bundle", "write the problem and what is around it to a new file, for support", "FILE", "text"),
            FORCE, FIELDS, *FORMAT,
        ),
    ),
    Verb(
        ("problems", "explain"),
        "explain an error code or a run's reason; without one, all of them",
        "commands.problems:explain",
        (Argument("CODE", "an error code or a reason", "?"),),
        FORMAT,
    ),
    Verb(
        ("requests", "list"),
        "list the HTTP requests sent from this machine, newest first",
        "commands.requests:list_requests",
        flags=(
            Flag("--curl", "print each as a curl command, which takes the key from 'config header'"),
            SINCE, FILTER, LIMIT, FIELDS, TARGET[0], *FORMAT,
        ),
    ),
    Verb(
        ("account",),
        "show who the service thinks you are, and what is left to spend",
        "commands.account:account",
        flags=(
            Flag("--top-up", "begin to add sample credit, which is no money", "USD", "number"),
            FIELDS, *TARGET, *FORMAT,
        ),
    ),
    Verb(
        ("open",),
        "show records that were kept in a file, or a support bundle, without any service",
        "cli:open_file",
        (Argument("FILE", "JSON or lines of JSON, - for standard input"),),
        (FIELDS, *FORMAT),
    ),
    Verb(
        ("doctor",),
        "check settings, data, terminal and service, with the next step for each",
        "commands.doctor:doctor",
        flags=(*TARGET, *FORMAT),
    ),
    Verb(("config", "path"), "print where the settings file is", "commands.config:path", flags=FORMAT),
    Verb(
        ("config", "show"),
        "show every setting, its value and where it comes from",
        "commands.config:show",
        flags=(*TARGET, *FORMAT),
    ),
    Verb(("config", "get"), "print one setting", "commands.config:get", (SETTING,), FORMAT),
    Verb(
        ("config", "set"),
        "change one setting in the settings file",
        "commands.config:set_value",
        (SETTING, Argument("VALUE", "its new value")),
    ),
    Verb(("config", "unset"), "remove one setting from the settings file", "commands.config:unset", (SETTING,)),
    Verb(("config", "validate"), "check the settings file", "commands.config:validate", flags=FORMAT),
    Verb(
        ("config", "header"),
        "print the Authorization header of a profile, for curl -H @-",
        "commands.config:header",
        flags=(*TARGET[:3], Flag("--show", "print it although standard output is a terminal")),
        notes="The line holds the API key. Pipe it, so that the key is in no argument and no file.",
    ),
    Verb(
        ("config", "key", "set"),
        "store a profile's API key, typed hidden or read from standard input",
        "commands.config:key_set",
        (PROFILE,),
    ),
    Verb(("config", "key", "forget"), "remove a profile's stored API key", "commands.config:key_forget", (PROFILE,)),
    Verb(
        ("schema",),
        "print the JSON schema of a request, or the members of a record",
        "commands.schema:schema",
        (Argument("KIND", "what to describe; left out, the kinds are listed", "?"),),
    ),
    Verb(
        ("completion",),
        "print a completion script for a shell",
        "commands.completion:completion",
        (Argument("SHELL", "the shell", choices=("bash", "zsh", "fish")),),
    ),
)  # fmt: skip
"""The verbs that do not follow from a specification."""

_GROUPS = {
    "compliance": "what auditors ask for",
    "config": "the settings file and the API keys of its profiles",
    "config key": "the API keys of profiles",
}
_FIRST = (("demo",), ("serve",))
_BY_PATH = {verb.path: verb for verb in _DECLARED}


@cache
def paths() -> tuple[tuple[str, ...], ...]:
    """The words of every verb, in the order in which help lists them; loads no specification."""
    nouns = [(entry.name, word) for entry in RESOURCE_INDEX if entry.summary for word in entry.verbs.split()]
    return tuple(dict.fromkeys((*_FIRST, *nouns, *_BY_PATH)))


@cache
def verb_at(path: tuple[str, ...]) -> Verb | None:
    """The verb of these words, or ``None``; loads at most the specification that it follows from.

    Raises:
        LookupError: the resource index names a verb that nothing gives.
    """
    if path in _BY_PATH:
        return _BY_PATH[path]
    if path not in paths():
        return None
    noun, word = path
    return resource_verb(next(entry for entry in RESOURCE_INDEX if entry.name == noun), word)


@cache
def verbs() -> tuple[Verb, ...]:
    """Every verb, in the order in which help lists them; loads every specification."""
    return tuple(verb for verb in map(verb_at, paths()) if verb is not None)


def find_option(name: str) -> Flag | None:
    """An option by its name, of whatever verb; a name takes a value everywhere or nowhere."""
    return _COMMON.get(name) or all_options().get(name)


@cache
def all_options() -> dict[str, Flag]:
    """Every option of every verb by its name; loads every specification."""
    return {flag.name: flag for flags in (CONSOLE, *(verb.flags for verb in verbs())) for flag in flags}


_COMMON = {flag.name: flag for flags in (CONSOLE, *(verb.flags for verb in _DECLARED)) for flag in flags}


def group_summary(path: tuple[str, ...]) -> str:
    """What the words mean that further words of verbs are behind."""
    name = " ".join(path)
    return _GROUPS.get(name) or next(entry.summary for entry in RESOURCE_INDEX if entry.name == name)
