"""The command line: every command with its arguments, options and handler.

Parser, help, completion and tests are derived from this module, so a command is declared once: here, or by the
specification of a resource in :mod:`runwatch.view.resources.resource_index`. Cheap to import, because ``runwatch
--help`` needs it (manual: measurements, "Targets"); specifications are loaded only for their commands.
"""

from __future__ import annotations

from functools import cache

from runwatch.commands.cli.command_spec import (
    CONSOLE,
    DATABASE,
    EXIT_STATUS,
    FIELDS,
    FILTER,
    FORMAT,
    LIMIT,
    MODES,
    MULTI_PROFILE_TARGET,
    PROFILE,
    REACTIONS,
    RUN_FILTER,
    RUN_ID,
    RUN_IDS,
    SETTING,
    SINCE,
    STATUS,
    TARGET,
    YES,
    ArgumentSpec,
    CommandSpec,
    OptionSpec,
)
from runwatch.commands.cli.resource_commands import FORCE, OUTPUT, RESOURCE_COMMANDS, find_resource_command
from runwatch.view.resources.resource_index import RESOURCE_INDEX

_DECLARED = (
    CommandSpec(
        ("demo",),
        "the console on a temporary local service with simulated runs",
        "cli:demo",
        notes=(
            "Needs no settings, leaves nothing behind and costs nothing. On a terminal it opens the console on a sample"
            " organization."
        ),
    ),
    CommandSpec(
        ("serve",),
        "run the local service without the console",
        "cli:serve",
        flags=(
            OptionSpec("--local", "what serve does anyway; accepted because other commands take it"),
            OptionSpec("--host", "the address to listen on (default: 127.0.0.1)", "ADDRESS"),
            OptionSpec("--port", "the port (default: the last one used, or any free one)", "PORT", "count"),
            OptionSpec("--data-dir", "where the service keeps its data (default: the local service's)", "DIR"),
            DATABASE,
            OptionSpec("--api-only", "with a database: serve the interface and leave runs to other processes"),
            OptionSpec("--worker-only", "with a database: work on runs, --concurrency N at once; serve no interface"),
            OptionSpec("--json", "print one JSON line with address and key when it accepts connections"),
            OptionSpec("--status", "with a database: show its processes and waiting runs; start nothing"),
            OptionSpec("--stop", "stop the service of this data directory; start nothing"),
            OptionSpec(
                "--rotate-master-key", "seal the secrets of this data directory with a new master key; start nothing"
            ),
            OptionSpec("--allow-remote", "allow a --host that other machines can reach"),
            OptionSpec("--public-url", "the https address at which callers reach it through a proxy", "URL"),
            OptionSpec("--rate-limit-rpm", "refuse with 429 above N requests a minute", "N", "count"),
            OptionSpec(
                "--allow-loopback-checks", "allow output checks, agents and webhooks on this machine, by plain http"
            ),
            OptionSpec("--allow-signup", "let any caller create an organization with its own key"),
            OptionSpec("--provider-config", "a TOML file with more model sources; it holds no keys", "FILE"),
            OptionSpec(
                "--sample", "start with a sample organization; its models and checks are simulated and cost nothing"
            ),
            OptionSpec(
                "--sample-runs", "how many finished runs the sample organization has", "N", "count", hidden=True
            ),
            OptionSpec(
                "--balance-usd", "set the balance in US dollars; live runs are accepted while it is above 0", "USD",
                "number",
            ),
            OptionSpec("--quota-executions", "refuse with 429 above N runs in a calendar month", "N", "count"),
            OptionSpec("--concurrency", "run at most N runs at once, test runs too; others wait", "N", "count"),
            OptionSpec("--idle-exit-s", "exit after N seconds without caller or live run", "N", "number", hidden=True),
            OptionSpec("--pace", "multiply the waits of test runs", "FACTOR", "number", hidden=True),
        ),
    ),
    CommandSpec(
        ("admin", "copy"),
        "copy the data of an embedded service into an empty PostgreSQL database",
        "cli:copy_data",
        flags=(
            OptionSpec("--source-dir", "the data directory to copy (default: the local service's)", "DIR"),
            DATABASE,
            OptionSpec("--data-dir", "the data directory of the service on PostgreSQL (default: its usual one)", "DIR"),
            OptionSpec("--json", "print one JSON object with rows and digest of each table"),
        ),
        notes=(
            "Both services must be stopped. The source stays as it is. Every row is read back and compared before the"
            " copy is committed: the database then has all rows, or none."
        ),
    ),
    CommandSpec(
        ("web",),
        "the console in a browser, for users without a terminal",
        "cli:web",
        flags=(
            OptionSpec("--host", "the address to listen on (default: 127.0.0.1)", "ADDRESS"),
            OptionSpec("--port", "the port (default: any free one)", "PORT", "count"),
            OptionSpec("--max-consoles", "how many consoles run at once (default: 4)", "N", "count"),
            OptionSpec("--allow-writes", "allow changes; without it every console is read-only"),
            OptionSpec("--tls-cert", "certificate chain (PEM), needed for other machines", "FILE"),
            OptionSpec("--tls-key", "its private key (PEM)", "FILE"),
            *TARGET[:3],
            *CONSOLE[4:],
        ),
        notes=(
            "Prints a link that works once, for one browser; a used link is replaced by a new one. Sessions and"
            " consoles end with the server. Needs the extra web; without it, the"
            " command prints the line that installs it."
        ),
    ),
    CommandSpec(
        ("runs", "submit"),
        "submit a run",
        "commands.submit:submit",
        flags=(
            OptionSpec("--mode", "echo: a free test run; live: calls a model and costs money", "MODE", choices=MODES),
            OptionSpec("--objective", "what the run should do, up to 4,000 characters", "TEXT"),
            OptionSpec("--objective-file", "read the objective from a file, - for standard input", "FILE"),
            OptionSpec(
                "--data-class", "a data class the run may touch, e.g. public; may be repeated", "CLASS", "texts"
            ),
            OptionSpec("--max-cost-usd", "stop further provider calls at this spend", "USD", "number"),
            OptionSpec("--max-runtime-s", "expire the run after this many seconds", "SECONDS", "count"),
            OptionSpec("--verifier-id", "the output check to use; live runs only", "ID", names="verifier"),
            OptionSpec("--arm-id", "the only saved model that may run", "ID", names="arm"),
            OptionSpec(
                "--on-eval",
                "what a check's verdict may do: gate stops the run, fallback calls another saved model, repair_retry"
                " repairs a skill and tries again; may be repeated",
                "REACTION", "texts", REACTIONS,
            ),
            OptionSpec(
                "--cost-coefficient", "how a model is chosen: from 0, low price, to 1, quality", "NUMBER", "number"
            ),
            OptionSpec("--inputs", "a JSON file to send as the task's inputs, - for standard input", "FILE"),
            OptionSpec("--from", "send this JSON file as the whole request, - for standard input", "FILE"),
            OptionSpec("--idempotency-key", "the same key with the same body never starts a second run", "KEY"),
            OptionSpec("--resend", "send the unconfirmed request with this idempotency key again", "KEY"),
            OptionSpec("--watch", "follow the run's events to its end"),
            OptionSpec("--dry-run", "print what would be sent; send nothing"),
            EXIT_STATUS,
            *TARGET,
            *FORMAT,
        ),
        notes="The mode is always sent, because the service's own default is live, which spends money.",
    ),
    CommandSpec(
        ("runs", "list"), "list runs, newest first", "commands.runs:list_runs",
        flags=(STATUS, SINCE, RUN_FILTER, LIMIT, FIELDS, *TARGET, *FORMAT),
        notes="If the service has no list of runs, the runs submitted or added here are read one by one.",
    ),
    CommandSpec(("runs", "show"), "show a run", "commands.runs:show", (RUN_ID,), (FIELDS, *TARGET, *FORMAT)),
    CommandSpec(
        ("runs", "events"), "print a run's events so far", "commands.runs:events", (RUN_ID,),
        (OptionSpec("--after", "only events after the one with this id", "ID"), FIELDS, *TARGET, *FORMAT),
        notes="With --json each event is one line, exactly as the service sent it.",
    ),
    CommandSpec(
        ("runs", "watch"),
        "follow runs to their final event, one line per event",
        "commands.watch:watch",
        (ArgumentSpec("ID", "ids of runs", "*", names="run"),),
        (OptionSpec("--all", "follow every live run"), EXIT_STATUS, *TARGET, *FORMAT),
        notes=(
            "Events stored on this machine come first, then new ones; none is lost when the connection or the service"
            " fails. It ends when the service does not respond for 15 minutes. With --json each event is one line,"
            " exactly as the service sent it. --all follows the live runs among the newest 1,000 and ends with the last"
            " of them."
        ),
    ),
    CommandSpec(("runs", "cancel"), "cancel runs", "commands.runs:cancel", (RUN_IDS,), (YES, *TARGET, *FORMAT)),
    CommandSpec(
        ("runs", "result"), "print the model output of a completed live run", "commands.runs:result", (RUN_ID,),
        (*TARGET, *FORMAT), notes="A test run has no result content.",
    ),
    CommandSpec(
        ("runs", "add"), "add runs to the watch list", "commands.runs:add",
        (ArgumentSpec("ID", "run ids, or - to read one per line from standard input", "+"),),
        (OptionSpec("--no-check", "do not check that the runs exist"), *TARGET, *FORMAT),
    ),
    CommandSpec(
        ("receipts", "list"),
        "list receipts, newest first",
        "commands.receipts:list_receipts",
        flags=(
            STATUS, SINCE,
            OptionSpec("--arm-id", "only receipts of runs that used this saved model", "ID", names="arm"),
            FILTER, LIMIT, FIELDS, *MULTI_PROFILE_TARGET, *FORMAT,
        ),
    ),
    CommandSpec(
        ("receipts", "show"), "show the receipt of a run", "commands.receipts:show", (RUN_ID,),
        (FIELDS, *TARGET, *FORMAT),
    ),
    CommandSpec(
        ("receipts", "compare"), "show the differences between two receipts",
        "commands.receipts:compare", (RUN_ID, ArgumentSpec("OTHER", "the other run's id", names="run")),
        (*TARGET, *FORMAT),
    ),
    CommandSpec(
        ("receipts", "export"),
        "write receipts to a file, as NDJSON, CSV, JSON or Markdown",
        "commands.receipts:export",
        flags=(
            STATUS, SINCE,
            OptionSpec("--arm-id", "only receipts of runs that used this saved model", "ID", names="arm"),
            FILTER, OUTPUT, FORCE, LIMIT, *TARGET,
        ),
        notes="The file name's extension chooses the format: .ndjson, .csv, .json or .md. Standard output gets NDJSON.",
    ),
    *RESOURCE_COMMANDS,
    CommandSpec(
        ("problems", "list"),
        "list the problems seen on this machine, newest first",
        "commands.problems:list_problems",
        flags=(
            SINCE,
            FILTER,
            LIMIT,
            FIELDS,
            OptionSpec("--profile", "only problems of this profile, or of several: A,B", "NAME", names="profiles"),
            *FORMAT,
        ),
    ),
    CommandSpec(
        ("problems", "find"),
        "find problems by instance id, by pasted text, by their words, or by time",
        "commands.problems:find",
        (
            ArgumentSpec(
                "TEXT",
                "six or more characters of an instance id, words of the title, detail or field messages, or - for text"
                " on standard input; with --at, words that the results must contain",
                "?",
            ),
        ),
        (
            OptionSpec("--at", "problems, requests and ended runs around this time, e.g. 2026-11-22T03:10", "WHEN"),
            OptionSpec("--within", "with --at: how far to search before and after (default: 5m)", "DURATION"),
            OptionSpec("--tz", "with --at: the zone of the time, e.g. Europe/Berlin or local (default: UTC)", "ZONE"),
            FILTER,
            FIELDS,
            *FORMAT,
        ),
        notes=(
            "Searches this machine's journal and, if the local service is running, its own record of every problem with"
            " its cause."
        ),
    ),
    CommandSpec(
        ("problems", "show"),
        "show one problem with what to do next",
        "commands.problems:show",
        (ArgumentSpec("INSTANCE", "the instance id, or six or more characters of it", names="problem"),),
        (
            OptionSpec("--bundle", "write the problem and the activity around it to a new file for support", "FILE"),
            FORCE,
            FIELDS,
            *FORMAT,
        ),
    ),
    CommandSpec(
        ("problems", "explain"), "explain an error code or a run's reason; without one, list all",
        "commands.problems:explain", (ArgumentSpec("CODE", "an error code or a reason", "?"),), FORMAT,
    ),
    CommandSpec(
        ("requests", "list"),
        "list the HTTP requests sent from this machine, newest first",
        "commands.requests:list_requests",
        flags=(
            OptionSpec("--curl", "print each as a curl command; 'config header' supplies the key"), SINCE,
            FILTER, LIMIT, FIELDS, TARGET[0], *FORMAT,
        ),
    ),
    CommandSpec(
        ("account",),
        "show your organization, limits and balance",
        "commands.account:account",
        flags=(
            OptionSpec("--top-up", "add this much sample credit, in US dollars (not real money)", "USD", "number"),
            FIELDS, *TARGET, *FORMAT,
        ),
    ),
    CommandSpec(
        ("open",), "show an exported file or a support bundle, without a service", "cli:open_file",
        (ArgumentSpec("FILE", "JSON or lines of JSON, - for standard input"),), (FIELDS, *FORMAT),
        notes="Lines that are no JSON are left out and named on stderr; the exit code is then 2.",
    ),
    CommandSpec(
        ("doctor",), "check settings, data, terminal and service, with a next step for each problem",
        "cli:doctor", flags=(*TARGET, *FORMAT),
    ),
    CommandSpec(("config", "path"), "print where the settings file is", "commands.config:path", flags=FORMAT),
    CommandSpec(
        ("config", "show"), "show every setting, its value and where it comes from", "commands.config:show",
        flags=(*TARGET, *FORMAT),
    ),
    CommandSpec(("config", "get"), "print one setting", "commands.config:get", (SETTING,), FORMAT),
    CommandSpec(
        ("config", "set"), "change one setting in the settings file", "cli:config_set",
        (SETTING, ArgumentSpec("VALUE", "its new value")),
    ),
    CommandSpec(("config", "unset"), "remove one setting from the settings file", "commands.config:unset", (SETTING,)),
    CommandSpec(("config", "validate"), "check the settings file", "cli:config_validate", flags=FORMAT),
    CommandSpec(
        ("config", "header"), "print the Authorization header of a profile, for curl -H @-", "commands.config:header",
        flags=(*TARGET[:3], OptionSpec("--show", "print it even if standard output is a terminal")),
        notes="The line contains the API key. Pipe it, so that the key is in no argument and no file.",
    ),
    CommandSpec(
        ("config", "key", "set"), "store a profile's API key, typed hidden or read from standard input",
        "commands.config:key_set", (PROFILE,),
    ),
    CommandSpec(
        ("config", "key", "forget"), "remove a profile's stored API key", "commands.config:key_forget", (PROFILE,)
    ),
    CommandSpec(
        ("schema",), "print the JSON schema of a request, or the fields of a record", "commands.schema:schema",
        (ArgumentSpec("KIND", "what to describe; without it, every kind is listed", "?"),),
    ),
    CommandSpec(
        ("help",), "print a page of the manual; without a topic, list the pages", "commands.help:help_page",
        (ArgumentSpec("TOPIC", "the name of a page", "?", names="topic"),),
        notes="On a terminal the page goes through the program that PAGER names.",
    ),
    CommandSpec(
        ("completion",), "print a completion script for a shell", "commands.completion:print_script",
        (ArgumentSpec("SHELL", "the shell", choices=("bash", "zsh", "fish")),),
    ),
)  # fmt: skip
"""Commands that are not derived from a specification."""

_GROUPS = {
    "admin": "move the data of a service",
    "compliance": "receipts, usage and decisions for audits",
    "config": "the settings file and the API keys of its profiles",
    "config key": "the API keys of profiles",
}
_FIRST = (("demo",), ("serve",), ("web",))
_BY_PATH = {verb.path: verb for verb in _DECLARED}


@cache
def list_paths() -> tuple[tuple[str, ...], ...]:
    """Return the words of every command in help order. Loads no specification."""
    nouns = [(entry.name, word) for entry in RESOURCE_INDEX if entry.summary for word in entry.subcommands.split()]
    return tuple(dict.fromkeys((*_FIRST, *nouns, *_BY_PATH)))


@cache
def command_at(path: tuple[str, ...]) -> CommandSpec | None:
    """Return the command with these words, or ``None``. Loads at most the specification it is derived from.

    Raises:
        LookupError: The resource index names a command that does not exist.
    """
    if path in _BY_PATH:
        return _BY_PATH[path]
    if path not in list_paths():
        return None
    noun, word = path
    return find_resource_command(next(entry for entry in RESOURCE_INDEX if entry.name == noun), word)


@cache
def list_commands() -> tuple[CommandSpec, ...]:
    """Return every command in help order. Loads every specification."""
    return tuple(verb for verb in map(command_at, list_paths()) if verb is not None)


def find_option(name: str, command: CommandSpec | None = None) -> OptionSpec | None:
    """Find an option by name: that of the command, if it is known, else of any.

    Before the words of a command ``--status`` takes a value, as lists do: only ``serve`` has a switch of that name.
    """
    options = command.flags if command else ()
    found = next((option for option in options if option.name == name), None)
    return found or _COMMON.get(name) or all_options().get(name)


@cache
def all_options() -> dict[str, OptionSpec]:
    """Return every option of every command by name. Loads every specification."""
    return {flag.name: flag for flags in (CONSOLE, *(verb.flags for verb in list_commands())) for flag in flags}


_COMMON = {flag.name: flag for flags in (CONSOLE, *(verb.flags for verb in _DECLARED)) for flag in flags}


def group_summary(path: tuple[str, ...]) -> str:
    name = " ".join(path)
    return _GROUPS.get(name) or next(entry.summary for entry in RESOURCE_INDEX if entry.name == name)
