"""Building blocks of the command table, and options shared by many commands. Cheap to import."""

from __future__ import annotations

from typing import NamedTuple


class OptionSpec(NamedTuple):
    """One option.

    Attributes:
        name: Long name with dashes.
        metavar: Placeholder of its value; empty for a switch.
        kind: Of its value: ``text``, ``texts`` (repeatable), ``count`` (whole number, 0 or more) or ``number``.
        choices: Accepted values; empty accepts any.
        hidden: Whether to leave it out of the help text.
        names: What its value names, for shell completion: the ``KIND`` of a record, ``profile``, ``profiles`` (may be a
            comma-separated list), ``theme``, ``screen`` or ``topic``; empty for anything else.
    """

    name: str
    help: str
    metavar: str = ""
    kind: str = "text"
    choices: tuple[str, ...] = ()
    hidden: bool = False
    names: str = ""


class ArgumentSpec(NamedTuple):
    """One positional argument.

    Attributes:
        name: Placeholder; in lower case also the attribute name.
        takes: ``1``, ``?`` (optional), ``+`` (at least one) or ``*`` (any number).
        choices: Accepted values; empty accepts any.
        names: What it names, as in :class:`OptionSpec`.
    """

    name: str
    help: str
    takes: str = "1"
    choices: tuple[str, ...] = ()
    names: str = ""


class CommandSpec(NamedTuple):
    """One command or subcommand.

    Attributes:
        run: ``module:function`` below :mod:`runwatch`; the function takes the invocation and returns the exit code.
        flags: All options, including shared ones.
        notes: Additional paragraphs of help.
    """

    path: tuple[str, ...]
    summary: str
    run: str
    arguments: tuple[ArgumentSpec, ...] = ()
    flags: tuple[OptionSpec, ...] = ()
    notes: str = ""

    @property
    def name(self) -> str:
        """The words as typed."""
        return " ".join(self.path)


FORMATS = ("table", "json", "ndjson", "csv")

TARGET = (
    OptionSpec("--profile", "the profile of the settings file to use", "NAME", names="profile"),
    OptionSpec("--base-url", "the service to call, with or without /v1", "URL"),
    OptionSpec("--local", "use the local service; start it if it is not running"),
    OptionSpec("--read-only", "refuse every change"),
)
PROFILES_OPTION = OptionSpec(
    "--profile",
    "the profile to read; A,B or all reads several, and JSON then has an object {profile, record} for each record",
    "NAME", names="profiles",
)  # fmt: skip
"""For commands that can read several profiles at once."""

MULTI_PROFILE_TARGET = (PROFILES_OPTION, *TARGET[1:])
CONSOLE = (
    *TARGET,
    OptionSpec("--theme", "the console's theme", "NAME", names="theme"),
    OptionSpec("--open", "the first screen, and the id of a record to show there", "SCREEN[/ID]", names="screen"),
)
"""Options of the console, which has no command."""

FORMAT = (
    OptionSpec("--format", "output format (default: table)", "FORMAT", choices=FORMATS),
    OptionSpec("--json", "short for --format json"),
)
LIMIT = OptionSpec(
    "--limit",
    "print at most N matching records (default: 1000, 0: all); a list in pages is searched up to 10,000 records",
    "N",
    "count",
)
FILTER = OptionSpec("--filter", "only records that match; see 'runwatch help filters'", "EXPRESSION")
RUN_FILTER = FILTER._replace(help="only runs that match, e.g. 'is:live age<10m'; see 'runwatch help filters'")
FIELDS = OptionSpec("--fields", "print only these fields; a dot leads into nested ones", "A,B")
STATUS = OptionSpec("--status", "only records with this status", "STATUS")
SINCE = OptionSpec("--since", "only records since this time or age, e.g. 2026-11-20 or 2h", "WHEN")
DATABASE = OptionSpec(
    "--database",
    "the PostgreSQL database of the service, named without its password (default: RUNWATCH_DATABASE)",
    "URL",
)
YES = OptionSpec("--yes", "do not ask for confirmation")
EXIT_STATUS = OptionSpec("--exit-status", "exit 10 if a run failed, 11 if one was cancelled, 12 if one expired")

MODES = ("echo", "live")
REACTIONS = ("gate", "fallback", "repair_retry")

SETTING = ArgumentSpec("NAME", "the setting, e.g. profiles.work.base_url")
PROFILE = ArgumentSpec("PROFILE", "the profile", names="profile")
RUN_ID = ArgumentSpec("ID", "the run's id", names="run")
RUN_IDS = ArgumentSpec("ID", "ids of runs", "+", names="run")
