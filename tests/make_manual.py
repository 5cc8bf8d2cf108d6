"""Write the pages of the manual that follow from the code, and the man page: ``python -m tests.make_manual``.

``tests/test_manual.py`` fails while a file differs from what this makes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runwatch import __version__
from runwatch.commands.cli.command_spec import CONSOLE, CommandSpec, OptionSpec
from runwatch.commands.cli.grammar import group_summary, list_commands
from runwatch.commands.cli.parser import with_choices
from runwatch.settings.declarations import COMMAND_SETTINGS, PROFILE_SETTINGS, SETTINGS
from runwatch.settings.setting import Setting
from runwatch.tui.core.key_bindings import KEY_ACTIONS, SCOPE_TITLES, key_label
from runwatch.view.manual.pages import DIRECTORY, TOPICS
from runwatch.view.query.parser import FILTER_FORMS
from runwatch.view.resources.resource_index import RESOURCE_INDEX
from runwatch.view.table.flag_meanings import flag_meaning

COMMAND: Final = "python -m tests.make_manual"
MARK: Final = f"<!-- Made by {COMMAND}. -->"

SHARED_OPTIONS: Final = (
    "--profile", "--base-url", "--local", "--read-only", "--format", "--json", "--fields", "--filter", "--limit",
    "--status", "--since",
)  # fmt: skip
"""Options of many commands; the page explains them once."""

EXIT_CODES: Final = (
    ("0", "done"),
    ("1", "the service refused, or `problems find` found nothing"),
    ("2", "usage or settings, or `open` could read only a part of the file"),
    ("3", "network or 5XX after the retries"),
    ("4", "not authenticated or not permitted"),
    ("5", "rate or quota limited; the seconds are on stderr"),
    ("10, 11, 12", "with `--exit-status`: the run failed, was cancelled, expired"),
    ("130", "interrupted"),
)

VARIABLES: Final = (
    ("RUNWATCH_BASE_URL", "the service to call; a key from the environment is sent only there, or where a flag says"),
    ("RUNWATCH_API_KEY", "the API key"),
    ("RUNWATCH_PROFILE", "the profile to use"),
    ("RUNWATCH_CONFIG", "the settings file, in place of the usual one"),
    ("RUNWATCH_DATA_DIR", "the data directory, in place of the usual one"),
    ("RUNWATCH_DATABASE", "the PostgreSQL database of `runwatch serve`, with or without a password"),
    ("NO_COLOR", "no colours, where it has any value"),
    ("HTTPS_PROXY, NO_PROXY", "proxies for services on other machines"),
    ("PAGER", "the program that shows a page of `runwatch help`, and the output of own commands"),
    ("VISUAL, EDITOR", "the editor for texts of several lines"),
)


NOTICES_TEXT: Final = """\
A followed run is one whose events are read here: the run at the cursor of Runs with its detail in sight, those of the
wall, and all that `L` follows. Pinned runs, and those submitted or added on this machine, count without being in sight.

[Terminal](decisions.md#terminal) lists the terminals that show a notice on the desktop. Inside tmux, it needs
`set -g allow-passthrough on`, and tmux passes it only while the pane is shown; `all` (tmux 3.4) passes it always.
Otherwise tmux rings the bell and shows the notice in its status line for ten seconds. It needs `set -g focus-events on`
to know whether the window has the focus; without it, a pane that is not shown counts as one without.
"""

COMMANDS_TEXT: Final = """\
- No shell reads `run`: each word is one argument, whatever the record holds. A program that is itself a shell reads its
  script, so give it values as arguments (`["sh", "-c", 'echo "$1"', "sh", "{id}"]`), never inside the script.
- A value that begins with a dash would be an option and is refused, unless an earlier word is `--`. Write that word
  before `{id}`, as below, where the program knows it as the end of its options.
- `{record.MEMBER}` is one value of the record by its path, as `v` shows it. `{id:url}` and `{record.MEMBER:url}` are
  safe parts of an address. Any other word in braces is refused as a mistake; `{{id}}` stands for `{id}` itself and
  `{{print}}` for `{print}`. Braces around anything else, such as `{}` and `{ print }`, are left as they are.
- The program gets `RUNWATCH_ID`, `RUNWATCH_KIND`, `RUNWATCH_PROFILE` and `RUNWATCH_SERVICE`, and none of runwatch's own
  variables but `RUNWATCH_CONFIG` and `RUNWATCH_DATA_DIR`: no API key. It has no terminal. A `runwatch` in it finds the
  same profile; for the local service it needs `--local`.
- `esc` stops it, and so does `timeout_s`, with everything that it has started. The first 256 KiB of its output are
  kept and cleaned like everything that a service sends. The pane shows lines as the program writes them; many programs
  write late when no terminal reads. A failure tells the exit status.
- Colours of the output are left out; other sequences for terminals stay visible as text. A question shows the words
  that will run, for several records those of the first.
- `--read-only` does not hold it back: runwatch cannot know what a program does.

Three that are useful as they are, with the address and the programs of your machine:

```toml
[commands.ticket]
run = ["xdg-open", "https://tickets.example.com/new?title=runwatch&text={record.instance:url}"]
kinds = ["problems"]
key = "f6"
question = "Open a ticket with this instance id?"
output = "nothing"

[commands.copy]
run = ["wl-copy", "--", "{id}"]
output = "nothing"

[commands.jq]
run = ["jq", "--sort-keys", "."]
key = "f7"
input = "json"
output = "pager"
```

![The output of an own command in a pane](../../../screenshots/own-command.svg)"""


def build_keys() -> str:
    """The page *keys*."""
    made = [
        "# Keys",
        MARK,
        "Every key can be changed in the table `keys` of the [settings](settings.md), by its id. A key"
        " that another action has is refused with its name. `?` in the console shows the keys that hold."
        " `ctrl+c` copies the text selected with the mouse; with nothing selected, pressing it twice within 3 s quits.",
    ]
    for scope, title in SCOPE_TITLES.items():
        rows = [
            (_code(key_label(key) for key in action.keys), action.help, f"`{action.id}`")
            for action in KEY_ACTIONS
            if action.scope == scope
        ]
        made += [f"## {title}", table(("Key", "Does", "Id"), rows)]
    return _page(made)


def build_filters() -> str:
    """The page *filters*."""
    made = [
        "# Filters",
        MARK,
        "One language for every list, for the events of a run, for `--filter` and for named filters in the"
        " [settings](settings.md). `/` opens the line for it and shows fields and values while you type. A part that"
        " the service can filter is sent to the service; the frame says which.",
        "## Language",
        table(("Form", "Keeps rows in which"), [(_code(form.split("  ")), meaning) for form, meaning in FILTER_FORMS]),
        "What a row says is its id, the whole text of each column even where the cell is cut, and each cell as shown."
        " A problem also says its detail and its message for each field."
        " Ages and times are left out, because they change by themselves: `age<10m` and `created>2026-11-20` find"
        " those. An event also says its JSON as sent; where its line shows nothing of what was found, that is behind it"
        " (`in JSON: …`). Upper and lower case are the same. Pasted lines are joined with spaces.",
        "Results come while the list is searched, nearest to the cursor first. Typing on searches what was found."
        " After `~word` the best match is first, until you sort by a column; a command keeps the order of its list."
        " `esc` shows all rows at once.",
        "Text that is not a filter goes into double quotes. Inside them, and inside a regular expression, a backslash"
        " takes the next character as it is. A field is a column, or a member of the record by its path, such as"
        " `policy.budget.max_cost_usd`.",
        "## Times, ages and numbers",
        "- An age is a number with `s`, `m`, `h` or `d`: `age<10m`, `ended<1h`, `created<7d`.\n"
        "- A time is a date, with or without a time of day: `created>2026-11-20`.\n"
        "- A number is written plainly: `cost>=0.01`. It finds no cost that is known only in part, such as `≥0.0001`.\n"
        "- `>` and `<` with a value that the field cannot have, such as `cost>10m` or `age<5`, are refused.",
        "## Fields of each list",
        "The name in brackets is another name of the same field.",
    ]
    for entry in RESOURCE_INDEX:
        spec = entry.load()
        fields = ", ".join(
            f"`{field.id}`" + (f" ({', '.join(f'`{name}`' for name in field.aliases)})" if field.aliases else "")
            for field in spec.all_fields()
        )
        flags = "".join(f"\n- `is:{flag}`: {flag_meaning(spec, flag)}" for flag in spec.flags)
        made += [f"### {entry.name}", f"{fields}." + (f"\n{flags}" if flags else "")]
    return _page(made)


def build_settings() -> str:
    """The page *settings*."""
    made = [
        "# Settings",
        MARK,
        "The settings are in one TOML file; `runwatch config path` prints its name. Change it with an editor, with"
        " `runwatch config set KEY VALUE`, or on the settings screen (`,`), which shows for each value where it comes"
        " from. A flag comes before the environment, that before a profile, that before the file.",
        "## Console",
        _settings(SETTINGS, ""),
        NOTICES_TEXT,
        "## Profiles",
        "A profile is a service under a name, in the table `[profiles.NAME]`. Its API key is never in this file: store"
        " it with `runwatch config key set NAME`, or name a command that prints it.",
        _settings(PROFILE_SETTINGS, "profiles.NAME."),
        "## Own commands",
        "A program of yours runs with the record at the cursor, or with each marked one in turn up to the first that"
        " fails: by its key, or from the menu `!`. It is a table `[commands.NAME]`. One with a mistake is not used;"
        " one whose key is taken works from the menu, without the key. For both,"
        " `runwatch config validate` names the mistake. `runwatch demo` has settings of its own, with three"
        " commands to try.",
        _settings(COMMAND_SETTINGS, "commands.NAME."),
        COMMANDS_TEXT,
        "## Example",
        '```toml\ntheme = "runwatch-light"\nrestore = true\n\n[profiles.prod]\nbase_url = "https://api.example.com"\n'
        'production = true\n\n[keys]\n"screen.copy" = "ctrl+y"\n\n[filters]\nexpensive = "cost>=0.50 is:final"\n\n'
        '[columns]\nruns = ["status", "id", "age", "cost"]\n```',
        "## Themes",
        "Dark, light, high contrast and blue-and-orange, each dark and light, and the colours of the terminal. A TOML"
        " file in the directory `themes` beside the settings file adds one.",
        "## Environment variables",
        table(("Variable", "Meaning"), [(_code(name.split(", ")), meaning) for name, meaning in VARIABLES]),
    ]
    return _page(made)


def build_commands() -> str:
    """The page *commands*."""
    shared = _shared()
    made = [
        "# Commands",
        MARK,
        "Data goes to stdout, everything else to stderr. `runwatch COMMAND --help` explains a command, and"
        " `source <(runwatch completion bash)` (or zsh, fish) completes commands, options, ids and names, without"
        " asking the service. Without a command, `runwatch` opens the console.",
        "## Options of many commands",
        table(("Option", "Meaning"), [_option_row(option) for option in shared.values()]),
        "## Options of the console",
        table(("Option", "Meaning"), [_option_row(option) for option in CONSOLE if option.name not in shared]),
    ]
    before = ""
    for command in list_commands():
        is_group = len(command.path) > 1
        if is_group and command.path[0] != before:
            made += [f"## runwatch {command.path[0]}", _sentence(group_summary(command.path[:1]))]
        before = command.path[0]
        made.append(f"{'###' if is_group else '##'} runwatch {_usage(command)}")
        made.append(_sentence(command.summary))
        made += [command.notes] if command.notes else []
        rows = [(f"`{argument.name}`", with_choices(argument.help, argument.choices)) for argument in command.arguments]
        own = [option for option in command.flags if not option.hidden and shared.get(option.name) != option]
        rows += [_option_row(option) for option in own]
        made += [table(("Option", "Meaning"), rows)] if rows else []
        common = [option.name for option in command.flags if shared.get(option.name) == option]
        made += [f"Also {', '.join(f'`{name}`' for name in common)}."] if common else []
    made += ["## Exit codes", table(("Code", "Meaning"), EXIT_CODES)]
    return _page(made)


def build_man_page() -> str:
    """The man page."""
    shared = [option for option in _shared().values() if option not in CONSOLE]
    made = [
        f'.\\" Made by {COMMAND}.',
        f'.TH RUNWATCH 1 "" "runwatch {__version__}" "User Commands"',
        ".SH NAME",
        r"runwatch \- terminal console for a model-run governance service",
        ".SH SYNOPSIS",
        r".B runwatch",
        r"[\fIOPTIONS\fR] [\fICOMMAND\fR ...]",
        ".SH DESCRIPTION",
        _roff(
            "Without a command, runwatch opens the console; with nothing configured it starts a local service for it."
            " Commands do the same without a screen: data goes to stdout, everything else to stderr."
            " 'runwatch COMMAND --help' explains a command and lists all of its options, 'runwatch help' lists the"
            " pages of the manual."
        ),
        ".SH OPTIONS",
        *(row for option in (*CONSOLE, *shared) for row in _roff_option(option)),
        ".TP\n.B \\-\\-version\nPrint the version.",
        '.TP\n.BR \\-h ", " \\-\\-help\nShow help; every command has its own.',
        ".SH COMMANDS",
    ]
    for command in list_commands():
        made += [".TP", f".B runwatch {_roff(_usage(command))}", _roff(_sentence(command.summary))]
        made += [_roff(command.notes)] if command.notes else []
        for option in command.flags:
            if not option.hidden and option not in CONSOLE and option not in shared:
                made += [".RS", *_roff_option(option), ".RE"]
    made.append(".SH EXIT STATUS")
    made += [f".TP\n.B {code}\n{_roff(_sentence(meaning.replace('`', '')))}" for code, meaning in EXIT_CODES]
    made.append(".SH ENVIRONMENT")
    made += [f".TP\n.B {_roff(name)}\n{_roff(_sentence(meaning.replace('`', '')))}" for name, meaning in VARIABLES]
    made.append(".SH PAGES OF THE MANUAL")
    made += [f".TP\n.B runwatch help {_roff(topic)}\n{_roff(_sentence(about))}" for topic, about in TOPICS.items()]
    return "\n".join(made) + "\n"


FILES: Final[Mapping[str, Callable[[], str]]] = {
    "keys.md": build_keys, "filters.md": build_filters, "settings.md": build_settings, "commands.md": build_commands,
    "runwatch.1": build_man_page,
}  # fmt: skip
"""What makes each file of the manual's directory that follows from the code."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _code(words: Iterable[str]) -> str:
    return " ".join(f"`{word.strip()}`" for word in words)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ")")) else ".")


def _shared() -> dict[str, OptionSpec]:
    """The options that the page explains once, each as most commands have it."""
    counted: dict[OptionSpec, int] = {}
    for command in list_commands():
        for option in command.flags:
            counted[option] = counted.get(option, 0) + 1
    found = {}
    for name in SHARED_OPTIONS:
        found[name] = max((option for option in counted if option.name == name), key=lambda option: counted[option])
    return found


def _option_row(option: OptionSpec) -> tuple[str, str]:
    return f"`{option.name} {option.metavar}`".replace(" `", "`"), with_choices(option.help, option.choices)


def _usage(command: CommandSpec) -> str:
    forms = {"1": "{}", "?": "[{}]", "+": "{} ...", "*": "[{} ...]"}
    return " ".join((command.name, *(forms[argument.takes].format(argument.name) for argument in command.arguments)))


def _settings(settings: Sequence[Setting[Any]], table_name: str) -> str:
    rows = []
    for setting in settings:
        takes = " or ".join(f"`{choice}`" for choice in setting.choices) or setting.takes
        others = [f"`{name}`" for name in (setting.flag, setting.environment) if name]
        meaning = f"{setting.doc} Takes {takes}." + (f" Also {', '.join(others)}." if others else "")
        rows.append((f"`{table_name}{setting.key}`", _default(setting), meaning))
    return table(("Setting", "Default", "Meaning"), rows)


def _default(setting: Setting[Any]) -> str:
    value = setting.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if value not in ("", None, []) and not setting.is_table else ""


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", escaped)


def _roff_option(option: OptionSpec) -> Iterator[str]:
    value = f" \\fI{_roff(option.metavar)}\\fR" if option.metavar else ""
    yield ".TP"
    yield f"\\fB{_roff(option.name)}\\fR{value}"
    yield _roff(_sentence(with_choices(option.help, option.choices)))


def main() -> int:
    """Write every file that is not as the code says, and name it."""
    for name, build in FILES.items():
        path: Path = DIRECTORY / name
        text = build()
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
