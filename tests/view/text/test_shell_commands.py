"""Commands in texts: they call the service that the text is about, however the session reached it."""

from __future__ import annotations

import shlex

import pytest

from runwatch.view.problems.explanations import explain_code
from runwatch.view.text.shell_commands import ANY_SERVICE, ShellService, add_service, profile_options, service_command

DEMO = ShellService("--local", "sh /tmp/demo/runwatch")


@pytest.mark.parametrize(
    ("profile", "options"),
    [
        ("local", "--local"),
        ("work", "--profile work"),
        ("-odd", "--profile=-odd"),
        ("environment", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_a_profile_is_chosen_by_its_options(profile: str | None, options: str) -> None:
    assert profile_options(profile) == options


def test_an_address_from_a_flag_is_named_too() -> None:
    assert profile_options("environment", "https://api.example") == "--base-url https://api.example"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Do `runwatch account --top-up 5`.", "Do `sh /tmp/demo/runwatch account --local --top-up 5`."),
        ("runwatch runs show run_1", "sh /tmp/demo/runwatch runs show --local run_1"),
        ("runwatch runs list --local", "sh /tmp/demo/runwatch runs list --local"),
        ("'runwatch problems list' shows all.", "'sh /tmp/demo/runwatch problems list' shows all."),
        ("runwatch opens files", "runwatch opens files"),
        ("O in the console, `runwatch`, retries it.", "O in the console, `sh /tmp/demo/runwatch --local`, retries it."),
        ("sh /tmp/demo/runwatch runs list", "sh /tmp/demo/runwatch runs list"),
    ],
)
def test_the_demos_commands_start_its_own_program(text: str, shown: str) -> None:
    assert add_service(text, DEMO) == shown


def test_the_key_in_use_is_stored_for_its_own_profile() -> None:
    advice, work = explain_code("unauthenticated").next_step, ShellService(profile_options("work"))
    assert "`runwatch config key set work`" in add_service(advice, work)
    assert "key set PROFILE`" in add_service(advice, ShellService(profile_options("local"))), "its key is not stored"
    other = "store it now, for example with 'runwatch config key set PROFILE'"
    assert add_service(other, work) == other, "a new key may be for another profile"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("runwatch sources test{} conn_1", "--profile PROFILE"),
        ("runwatch account{} --top-up 5", "--profile PROFILE"),
        ("runwatch account{}", "--profile ro"),
        ("runwatch arms show{} arm_1", "--profile ro"),
    ],
)
def test_a_command_that_a_read_only_profile_would_refuse_names_another_profile(text: str, options: str) -> None:
    service = ShellService("--profile ro", is_read_only=True)
    assert add_service(text.format(""), service) == text.format(f" {options}")


def test_a_value_that_needs_quotes_is_not_put_into_a_text() -> None:
    text = "'; runwatch runs list; true '"
    assert add_service(text, ShellService(profile_options("x; touch y"))) == text
    assert add_service("runwatch runs list", ANY_SERVICE) == "runwatch runs list"


def test_an_id_that_reads_like_a_command_stays_one_word() -> None:
    hostile = "runwatch runs list"
    command = service_command(ShellService("--profile work"), "runs watch", hostile)
    assert shlex.split(command) == ["runwatch", "runs", "watch", "--profile", "work", hostile]
