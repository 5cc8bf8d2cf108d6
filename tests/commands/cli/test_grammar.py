"""The table of commands, and what the parser makes of words."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from typing import Any

import pytest

from runwatch.base.errors import UsageError
from runwatch.commands.cli.command_spec import CommandSpec, OptionSpec
from runwatch.commands.cli.grammar import command_at, group_summary, list_commands
from runwatch.commands.cli.parser import (
    CommandOptions,
    ParsedCommand,
    format_command_help,
    group_help,
    parse_command_line,
    top_help,
)
from runwatch.commands.cli.suggested_commands import find_service
from runwatch.view.resources.registry import RESOURCES
from runwatch.view.spec.resource import ResourceSpec
from runwatch.view.text.shell_commands import add_service

DESIGN_VERBS = """
demo | serve | admin copy | web | account | doctor | schema | completion | help
runs submit | runs list | runs show | runs events | runs watch | runs cancel | runs result | runs add
receipts list | receipts show | receipts compare | receipts export
models list | models show | models save | models deployments | models definitions
arms list | arms show | arms create | arms edit | arms disable
verifiers list | verifiers show | verifiers register | verifiers update | verifiers retire | verifiers test
verifiers connect | verifiers promote | verifiers revoke | verifiers connection
templates list | templates show | templates report | templates plan | templates apply | templates resume
templates select
agents list | agents show | agents register | agents connect | credentials list | github list | github connect
sources list | sources connect | sources test | sources sync | sources rotate | sources disconnect
proposals list | proposals show | proposals approve | proposals reject
webhooks list | webhooks show | webhooks create | webhooks rotate | webhooks remove
webhooks deliveries | webhooks replay
keys list | keys create | keys label | keys revoke | usage | evals | compliance export | open
problems list | problems find | problems show | problems explain | requests list
config path | config show | config get | config set | config unset | config validate | config header
config key set | config key forget
"""


def _parse(line: str) -> ParsedCommand:
    return parse_command_line(shlex.split(line))


def _flags() -> list[tuple[CommandSpec, OptionSpec]]:
    return [(verb, flag) for verb in list_commands() for flag in verb.flags]


def test_every_verb_of_the_contract_exists_and_no_other() -> None:
    wanted = {name.strip() for line in DESIGN_VERBS.split("\n") for name in line.split("|") if name.strip()}
    assert {verb.name for verb in list_commands()} == wanted


@pytest.mark.parametrize("verb", list_commands(), ids=lambda verb: verb.name)
def test_every_verb_has_a_function_that_takes_the_call_or_its_session(verb: CommandSpec) -> None:
    module, _, name = verb.run.partition(":")
    function = getattr(import_module(f"runwatch.{module}"), name)
    assert list(function.__annotations__)[:1] in (["call"], ["session"])


@pytest.mark.parametrize("spec", RESOURCES, ids=lambda spec: spec.name)
def test_every_verb_that_an_action_names_is_in_the_resource_index(spec: ResourceSpec[Any]) -> None:
    named = {action.command for action in (*spec.create_actions, *spec.actions) if action.command}
    assert {verb for verb in named if command_at(tuple(verb.split())) is None} == set()


def test_no_flag_would_carry_a_secret() -> None:
    forbidden = re.compile(r"--(api-?)?(key|token|secret|password|bearer|credential|auth)")
    # The source of a key, or its name, is not a key.
    harmless = {"--key-stdin", "--key-command", "--credential-ref", "--auth-ref", "--auth-scheme"}
    assert {flag.name for _, flag in _flags() if forbidden.match(flag.name)} == harmless
    assert not any(flag.metavar for _, flag in _flags() if flag.name == "--key-stdin")


def test_a_flag_takes_a_value_everywhere_or_nowhere_but_for_that_of_serve() -> None:
    kinds: dict[str, set[bool]] = {}
    for _, flag in _flags():
        kinds.setdefault(flag.name, set()).add(bool(flag.metavar))
    assert [name for name, found in kinds.items() if len(found) > 1] == ["--status"]


def test_every_word_that_verbs_stand_behind_is_explained() -> None:
    groups = {verb.path[:depth] for verb in list_commands() for depth in range(1, len(verb.path))}
    assert all(map(group_summary, groups))


def test_options_are_before_between_and_after_the_words() -> None:
    parsed = _parse("--profile work runs --json watch a --exit-status b --local")
    assert parsed.verb is not None
    assert parsed.verb.name == "runs watch"
    options = parsed.options
    assert (options.profile, options.format, options.id, options.exit_status, options.local) == (
        "work", "json", ["a", "b"], True, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "status"),
    [("serve --status", True), ("runs list --status failed", "failed"), ("--status failed runs list", "failed")],
)
def test_status_is_a_switch_of_serve_alone(line: str, status: object) -> None:
    assert _parse(line).options.status == status


def test_words_after_two_dashes_are_arguments() -> None:
    assert _parse("problems find -- --help").options.text == "--help"


def test_what_was_not_given_reads_as_none() -> None:
    options = _parse("runs list").options
    assert (options.limit, options.local, options.yes, options.verifier_id) == (None, None, None, None)


def test_numbers_keep_the_digits_that_the_user_typed() -> None:
    options = _parse("runs submit --max-cost-usd 1 --cost-coefficient 0.25").options
    assert (repr(options.max_cost_usd), repr(options.cost_coefficient)) == ("1", "0.25")


@pytest.mark.parametrize(
    ("line", "title", "detail"),
    [
        ("frobnicate", "There is no command 'frobnicate'", None),
        ("rns list", "There is no command 'rns'", "did you mean 'runs list'?"),
        ("list runs", "There is no command 'list'", "did you mean 'runs list'?"),
        ("runs lst", "There is no command 'runs lst'", "did you mean 'runs list'?"),
        ("config key frget x", "There is no command 'config key frget'", "did you mean 'config key forget'?"),
        ("runs", "'runs' needs a subcommand", "one of submit, list, show, events, watch, cancel, result, add"),
        ("runs list --lmit 3", "Unknown option --lmit", "did you mean --limit?"),
        ("--profle x runs list", "Unknown option --profle", "did you mean --profile?"),
        (
            "problems find 4f2a91 --local",
            "Unknown option --local",
            "runwatch problems find works on this machine and chooses no service",
        ),
        ("runs show", "ID is missing", "the run's id"),
        ("runs show a b", "'b' is an extra argument", None),
        ("runs show a sk-ant-api03-AbCdEf123456", "'[removed]' is an extra argument", None),
        ("sk-ant-api03-AbCdEf123456", "There is no command '[removed]'", None),
        (
            "runs cancel a sk-ant-api03-AbCdEf123456",
            "ID looks like a key of a model provider",
            "Nothing was done. What is typed here is stored and shown, and other programs can read it.",
        ),
        ("completion tcsh", "'tcsh' is not one of bash, zsh, fish", "did you mean 'zsh'?"),
        ("runs list --limit", "--limit: expected one argument", None),
        ("runs list --limit -3", "--limit: '-3' is not a whole number of 0 or more", None),
        ("runs list --limit=3.5", "--limit: '3.5' is not a whole number of 0 or more", None),
        ("runs submit --max-cost-usd nan", "--max-cost-usd: 'nan' is not a number", None),
        ("runs submit --max-cost-usd 1e999", "--max-cost-usd: '1e999' is not a number", None),
        ("runs list --json --format csv", "--json and --format csv cannot be used together", None),
        ("runs list --lim 3", "Unknown option --lim", "did you mean --limit?"),
        ("receipts list --csv", "Unknown option --csv", "did you mean --format csv?"),
    ],
)
def test_what_cannot_be_is_named_with_the_nearest_that_can(line: str, title: str, detail: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        _parse(line)
    assert (caught.value.title, caught.value.detail) == (title, detail)


@pytest.mark.parametrize(
    "line", ["runs list --api-key abcdef", "--token=abcdef runs list", "--password abcdef account"]
)
def test_a_secret_in_an_argument_is_refused_without_being_repeated(line: str) -> None:
    with pytest.raises(UsageError) as caught:
        _parse(line)
    message = f"{caught.value} {caught.value.hint}"
    assert "RUNWATCH_API_KEY" in message
    assert "abcdef" not in message


def test_json_and_ndjson_go_together() -> None:
    assert _parse("runs list --json --format ndjson").options.format == "ndjson"


def test_help_is_given_on_every_level() -> None:
    assert _parse("--help").help == top_help()
    assert _parse("runs -h").help == group_help(("runs",))
    assert _parse("config key --help").help == group_help(("config", "key"))
    for verb in list_commands():
        assert _parse(f"{verb.name} --help").help == format_command_help(verb)


def test_help_wins_over_what_is_missing() -> None:
    assert _parse("runs show --help").help is not None


def test_the_program_s_help_names_every_verb() -> None:
    text = top_help()
    for verb in list_commands():
        pattern = rf"^  {verb.path[0]}\b" + (rf".*\b{verb.path[1]}\b" if len(verb.path) > 1 else "")
        assert re.search(pattern, text, re.MULTILINE), verb.name


def test_hidden_flags_work_and_are_not_shown() -> None:
    assert _parse("serve --idle-exit-s 3").options.idle_exit_s == 3
    assert "idle-exit" not in (_parse("serve --help").help or "")


def test_without_words_the_console_is_meant() -> None:
    parsed = _parse("--profile work --read-only")
    assert parsed.verb is None
    assert (parsed.options.profile, parsed.options.read_only) == ("work", True)


def test_the_limits_that_a_user_can_try_are_in_the_help_of_serve() -> None:
    shown = parse_command_line(["serve", "--help"]).help or ""
    for flag in ("--balance-usd", "--quota-executions", "--concurrency", "--rate-limit-rpm", "--allow-loopback-checks"):
        assert flag in shown


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("runs list --format cvs", "did you mean 'csv'?"),
        ("runs submit --mode ehco", "did you mean 'echo'?"),
        ("runs submit --on-eval gaet", "did you mean 'gate'?"),
        ("completion bsh", "did you mean 'bash'?"),
        ("runs list --read-onyl", "did you mean --read-only?"),
    ],
)
def test_an_unknown_value_gets_a_suggestion(typed: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        _parse(typed)
    assert caught.value.detail == told


def test_suggested_commands_choose_the_same_service() -> None:
    local, prod = find_service(CommandOptions(local=True)), find_service(CommandOptions(profile="prod"))
    for command in list_commands():
        words = f"runwatch {command.name}"
        takes = "--local" in {flag.name for flag in command.flags} and command.path not in {("serve",), ("web",)}
        assert add_service(f"'{words}' shows it", local) == f"'{words}{' --local' if takes else ''}' shows it"
        assert add_service(f"Do: {words} ID", prod) == f"Do: {words}{' --profile prod' if takes else ''} ID"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("runwatch runs list --help", {"local": True}),
        ("runwatch runs list --profile other ID", {"local": True}),
        ("runwatch opens files, and runwatch knows runs", {"local": True}),
        ("runwatch config validate shows it", {"local": True}),
        ("runwatch runs list", {"profile": "all"}),
        ("runwatch runs list", {"profile": "one,two"}),
        ("runwatch runs list", {"profile": "$(touch pwned)"}),
        ("runwatch runs list", {}),
    ],
    ids=str,
)
def test_what_chooses_no_service_stays_as_it_is(text: str, options: dict[str, Any]) -> None:
    assert add_service(text, find_service(CommandOptions(**options))) == text
