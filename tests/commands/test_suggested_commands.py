"""A suggested command holds every id and name as one quoted word, in any sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

import runwatch as package
from runwatch.api.errors import NoResponseError
from runwatch.base.secrets.secret_patterns import find_known_key
from runwatch.base.shell_words import runwatch_command
from runwatch.base.text import clean_line
from runwatch.commands.cli.error_report import error_text
from runwatch.commands.cli.grammar import list_paths
from runwatch.view.actions.private_page import build_tunnel_command
from tests.commands.conftest import ECHO
from tests.commands.here import Here
from tests.support.builders import problem
from tests.support.hostile import CORPUS
from tests.support.scripted import Said, ScriptedService
from tests.support.shells import SHELL_PARAMETERS, ShellBox

TRICKS = ["$(touch pwned)", "`touch pwned`", "a; touch pwned", "it's", "a\\'b", "!!", "x\ntouch pwned", "a > owned"]

ALLOWED = r"\{__version__\}|\{spec\.name\} list|\{action\.command\}\"|-n |knows |that knows "
UNQUOTED = re.compile(rf"[\"' ]runwatch (?!{ALLOWED})[a-z -]*\{{")
"""A value that an f-string puts into a command without :func:`runwatch_command`."""


def test_no_command_is_put_together_without_quoting() -> None:
    source = Path(package.__path__[0])
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(source.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if UNQUOTED.search(line)
    ]
    assert found == []


def test_every_command_that_a_message_names_exists() -> None:
    known = {" ".join(path) for path in list_paths()}
    named = {
        found[1]
        for path in sorted((Path(package.__path__[0]) / "service").rglob("*.py"))
        for found in re.finditer(r"`runwatch ([a-z-]+(?: [a-z][a-z-]+)?)", path.read_text("utf-8"))
    }
    assert {words for words in named if not {words, words.split()[0]} & known} == set()
    assert len(named) > 5


def test_a_command_in_the_words_of_a_service_calls_that_service(runwatch: Here, service: ScriptedService) -> None:
    refusal = problem("invalid_state", detail="No model. `runwatch arms list --kind model` shows them.")
    service.say("GET", f"/v1/executions/{ECHO}", Said(409, refusal))
    told = runwatch("runs", "show", ECHO, "--base-url", service.base_url).errors
    assert f"`runwatch arms list --base-url {service.base_url} --kind model`" in told


def commands_after(label: str, text: str) -> list[str]:
    """The commands after a label in the lines of a message."""
    return [line.partition(label)[2] for line in text.splitlines() if label in line]


def unanswered(key: str) -> NoResponseError:
    """A submit under this idempotency key whose outcome is unknown."""
    return NoResponseError(
        "No answer", kind="cut", was_sent=True, operation="postExecutions", attempts=1, outcome_known=False, key=key,
        detail="", hint="",
    )  # fmt: skip


def check_what_runs(shell: str, home: Path, runwatch: Here, names: list[str]) -> None:
    box = ShellBox(home)
    kept = [error_text(unanswered(name)) for name in names]
    made = [runwatch("config", "key", "set", "--", name, stdin=b"k").errors for name in names]
    texts = [
        *(command for text in kept for command in commands_after("retry     ", text)),
        *(command for text in made for command in commands_after("Create it: ", text)),
        *(str(build_tunnel_command("http://127.0.0.1:80/", name)) for name in names),
    ]
    assert len(texts) == 3 * len(names)
    wanted = [clean_line(name) for name in names]
    found = box.run(shell, texts)
    assert [calls[0][3:] for calls in found[: len(names)]] == [
        [f"--resend={name}"] if name.startswith("-") else ["--resend", name] for name in wanted
    ]
    rest = [calls[0] for calls in found[len(names) :]]
    assert rest[: len(names)] == [
        ["runwatch", "config", "set", f"profiles.{name}.base_url", "https://HOST"] for name in wanted
    ]
    assert rest[len(names) :] == [["ssh", "-L", "80:127.0.0.1:80", name or "THIS_MACHINE"] for name in wanted]
    assert all(len(calls) == 1 for calls in found)
    assert box.made() == []


@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_a_suggested_command_does_what_it_says_and_nothing_else(shell: str, tmp_path: Path, runwatch: Here) -> None:
    check_what_runs(shell, tmp_path, runwatch, TRICKS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shell", SHELL_PARAMETERS)
def test_so_it_is_for_the_whole_corpus(shell: str, tmp_path: Path, runwatch: Here) -> None:
    # A key among the words of a command is refused.
    texts = [each.text for each in CORPUS if len(each.text) < 200 and find_known_key(each.text) is None]
    check_what_runs(shell, tmp_path, runwatch, texts)


def test_a_hint_with_a_command_has_no_quotes_around_it(runwatch: Here) -> None:
    hint = commands_after("next ", runwatch("config", "key", "set", "$(touch pwned)", stdin=b"k").errors)
    command = runwatch_command("config set", "profiles.$(touch pwned).base_url")
    assert [each.strip() for each in hint] == [f"Create it: {command} https://HOST"]


HINTED: Final = [
    (("arms", "show", "nothing"), "runwatch arms list"),
    (("runs", "show", "nothing"), "runwatch runs list"),
    (("runs", "result", ECHO), f"runwatch receipts show CHOSEN {ECHO}"),
    (("runs", "submit"), "runwatch runs submit"),
]
"""Commands that fail, and the one that each suggests."""


@pytest.mark.parametrize(("words", "suggested"), HINTED, ids=str)
def test_a_suggested_command_runs_as_pasted(
    words: tuple[str, ...], suggested: str, runwatch: Here, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    runwatch.settings_file.write_text(f'[profiles.a]\nbase_url = "{service.base_url}"\n[profiles.b]\n')
    runwatch.settings_file.chmod(0o600)
    assert runwatch("config", "key", "set", "a", stdin=b"k").code == 0
    for name in ("RUNWATCH_BASE_URL", "RUNWATCH_API_KEY"):
        monkeypatch.delenv(name)
    failed = runwatch(*words, "--profile", "a")
    assert failed.code in {1, 2}
    command = suggested.replace(" CHOSEN", " --profile a") if " CHOSEN" in suggested else f"{suggested} --profile a"
    assert command in failed.errors.replace("\n", " ")
    # Without its options it would meet a settings file with two profiles and no default.
    if "submit" not in words:
        assert "several profiles" not in runwatch(*command.split()[1:]).errors
        assert "several profiles" in runwatch(*command.replace(" --profile a", "").split()[1:]).errors
