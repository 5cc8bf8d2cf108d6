"""The command line in one table: every verb with its arguments, flags and the function that does it.

Parser, help, completion and tests are made from this table, so a verb is declared once. The module stays cheap on
purpose: it is all that ``runwatch --help`` imports beside argparse (DESIGN 7).
"""

from __future__ import annotations

from typing import NamedTuple


class Flag(NamedTuple):
    """One option.

    Attributes:
        name: The long name with its dashes.
        help: One line for the help text.
        metavar: The placeholder of its value; empty for a switch.
        kind: ``switch``, ``text``, ``texts`` (may be repeated), ``count`` (whole number, 0 or more) or ``number``.
        choices: The accepted values; empty accepts any.
        hidden: Whether the help text leaves it out.
    """

    name: str
    help: str
    metavar: str = ""
    kind: str = "switch"
    choices: tuple[str, ...] = ()
    hidden: bool = False


class Argument(NamedTuple):
    """One positional argument.

    Attributes:
        name: The placeholder, which is also its attribute in lower case.
        help: One line for the help text.
        takes: ``1``, ``?`` (may be left out), ``+`` (at least one) or ``*`` (any number).
        choices: The accepted values; empty accepts any.
    """

    name: str
    help: str
    takes: str = "1"
    choices: tuple[str, ...] = ()


class Verb(NamedTuple):
    """One thing the command line can do.

    Attributes:
        path: The words that call it.
        summary: One line for lists of verbs.
        run: ``module:function`` below :mod:`runwatch`; the function takes the call and answers the exit code.
        arguments: Positional arguments in order.
        flags: Its options, the shared ones included.
        notes: Further paragraphs of its help.
    """

    path: tuple[str, ...]
    summary: str
    run: str
    arguments: tuple[Argument, ...] = ()
    flags: tuple[Flag, ...] = ()
    notes: str = ""

    @property
    def name(self) -> str:
        """The words as they are typed."""
        return " ".join(self.path)


FORMATS = ("table", "json", "ndjson", "csv")

TARGET = (
    Flag("--profile", "the profile of the settings file to use", "NAME", "text"),
    Flag("--base-url", "the service to call, with or without /v1", "URL", "text"),
    Flag("--local", "use the local service, and start it when it is not running"),
    Flag("--read-only", "refuse everything that changes something"),
)
CONSOLE = (
    *TARGET,
    Flag("--theme", "the colours of the console", "NAME", "text"),
    Flag("--open", "the screen to begin with, and the id of what to show there", "SCREEN[/ID]", "text"),
)
"""The options of the console itself, which has no verb."""

FORMAT = (
    Flag("--format", "how data is printed (default: table)", "FORMAT", "text", FORMATS),
    Flag("--json", "short for --format json"),
)
LIMIT = Flag("--limit", "read at most N records (default: 1000, 0: all)", "N", "count")
FILTER = Flag("--filter", "keep the records that match, e.g. 'is:live age<10m'", "EXPRESSION", "text")
FIELDS = Flag("--fields", "print only these members, nested ones with dots", "A,B", "text")
STATUS = Flag("--status", "only records of this status", "STATUS", "text")
SINCE = Flag("--since", "only records since this moment or age, e.g. 2026-11-20 or 2h", "WHEN", "text")
YES = Flag("--yes", "do not ask before something is destroyed")
EXIT_STATUS = Flag("--exit-status", "exit 10 when a run failed, 12 when one expired, 11 when one was cancelled")

MODES = ("echo", "live")
REACTIONS = ("gate", "fallback", "repair_retry")

SETTING = Argument("NAME", "the setting, e.g. profiles.work.base_url")
PROFILE = Argument("PROFILE", "the profile")
RUN_ID = Argument("ID", "the run's id")
RUN_IDS = Argument("ID", "ids of runs", "+")

VERBS = (
    Verb(
        ("demo",),
        "the console on a throw-away local service whose runs move by themselves",
        "cli:demo",
        notes=(
            "Needs no settings, leaves nothing behind and spends nothing. On a terminal it is the console, with test"
            " runs that come and go by themselves."
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
            Flag("--allow-remote", "allow an address that other machines can reach"),
            Flag("--rate-limit-rpm", "answer 429 above N requests a minute (default: no limit)", "N", "count"),
            Flag("--allow-loopback-checks", "allow output checks, agents and webhooks on this machine, by plain http"),
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
            Flag("--verifier-id", "the output check to use; live runs only", "ID", "text"),
            Flag("--arm-id", "the one saved model that may run", "ID", "text"),
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
        (Argument("ID", "ids of runs", "*"),),
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
            Flag("--arm-id", "only receipts of runs that used this saved model", "ID", "text"),
            FILTER, LIMIT, FIELDS, *TARGET, *FORMAT,
        ),
    ),
    Verb(
        ("receipts", "show"), "show the receipt of a run", "commands.receipts:show", (RUN_ID,),
        (FIELDS, *TARGET, *FORMAT),
    ),
    Verb(
        ("problems", "list"),
        "list the problems met from this machine, newest first",
        "commands.problems:list_problems",
        flags=(SINCE, FILTER, LIMIT, FIELDS, TARGET[0], *FORMAT),
    ),
    Verb(
        ("problems", "find"),
        "find problems by six or more characters of their instance, or in a whole mail",
        "commands.problems:find",
        (Argument("TEXT", "part of an instance id, or - for text on standard input"),),
        (FIELDS, *FORMAT),
    ),
    Verb(
        ("problems", "show"),
        "show one problem with what to do next",
        "commands.problems:show",
        (Argument("INSTANCE", "the instance id, or six or more characters of it"),),
        (FIELDS, *FORMAT),
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
            Flag("--curl", "print each as a curl command, with $RUNWATCH_API_KEY in place of the key"),
            SINCE, FILTER, LIMIT, FIELDS, TARGET[0], *FORMAT,
        ),
    ),
    Verb(
        ("account",),
        "show who the service thinks you are, and what is left to spend",
        "commands.account:account",
        flags=(FIELDS, *TARGET, *FORMAT),
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
"""Every verb, in the order in which help lists them."""

GROUPS = {
    "runs": "runs: submit, follow and cancel them",
    "receipts": "receipts of final runs: model, checks and cost, never prompt or output",
    "problems": "problems met, kept on this machine, and what codes mean",
    "requests": "HTTP requests sent, kept on this machine",
    "config": "the settings file and the API keys of its profiles",
    "config key": "the API keys of profiles",
}
"""What the words mean that verbs stand behind."""
