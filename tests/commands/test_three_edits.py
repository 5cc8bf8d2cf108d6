"""A new resource is three edits away from its commands, and a new write one; made here to a copy of the program."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import runwatch
from runwatch.base.paths import find_paths
from runwatch.settings.declarations import ENVIRONMENT
from runwatch.store.db.database import Database
from runwatch.store.repositories.record_cache import RecordCache
from runwatch.store.repositories.scope import Scope
from tests.support import three_edits
from tests.support.cli import Cli
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.three_edits.record import Gadget

GADGETS: list[dict[str, Any]] = [
    {"gadget_id": "gd_1", "status": "ready", "price_usd": 0.25, "execution_id": "ex_1", "colour": "teal"},
    {"gadget_id": "gd_2", "status": "broken", "price_usd": 0.5, "execution_id": "ex_2", "colour": "red"},
]
PAUSED = "/v1/webhooks/wh_1/rotate-secret"
THIRD_EDIT = '    ResourceEntry("gadgets", "gadgets:GADGETS", "things that a service keeps"),\n'

WRITE = """

PAUSE: Final = ResourceAction[Webhook](
    "pause", "Pause it", "webhooks pause", summary="tell a webhook nothing for a while",
    mutation=Mutation(
        operation="postWebhooksByWebhookIdRotateSecret",
        sentence=lambda it: f"Pauses {it.id}.",
        confirm_label="Pause it",
        fields=(
            FormField(path="reason", label="reason", hint="why", is_required=True,
                option=FieldOption(name="--reason", metavar="TEXT", help="why it is paused")),
            FormField(path="until.hours", label="hours", kind="number", hint="how long",
                option=FieldOption(name="--hours", metavar="N", is_whole=True, help="for how many hours")),
        ),
        request="proposals.ProposalRejection",
    ),
)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a copy of the program with a resource more: two new files and one new line."""
    source, edits = Path(runwatch.__file__).parent, Path(three_edits.__file__).parent
    copy = tmp_path_factory.mktemp("program") / "runwatch"
    shutil.copytree(source, copy)
    shutil.copy(edits / "record.py", copy / "records" / "gadget.py")
    spec = (edits / "spec.py").read_text().replace("tests.support.three_edits.record", "runwatch.records.gadget")
    (copy / "view" / "resources" / "gadgets.py").write_text(spec)
    index = copy / "view" / "resources" / "resource_index.py"
    before, line, after = index.read_text().partition('    ResourceEntry("account", "account:ACCOUNT"),\n')
    assert line
    assert "rotate remove" in before
    index.write_text(before.replace("rotate remove", "rotate pause remove") + THIRD_EDIT + line + after)
    writes = copy / "view" / "actions" / "webhooks.py"
    declared, tuples, rest = writes.read_text().partition("\n\nWEBHOOK_MAKES")
    assert tuples
    rest = rest.replace("(ROTATE_SECRET, ", "(ROTATE_SECRET, PAUSE, ")
    writes.write_text(declared + WRITE + tuples + rest)
    return copy.parent


@pytest.fixture
def cli(program: Path, tmp_path: Path) -> Iterator[Cli]:
    """The command of that copy, and a service that has gadgets."""
    script = ScriptedService()
    script.say("GET", "/v1/gadgets", Said(200, {"gadgets": GADGETS, "next_cursor": None}))
    script.say("POST", PAUSED, Said(200, {"webhook_id": "wh_1", "status": "paused"}))
    with running_service(script) as service:
        yield Cli(tmp_path, base_url=service.base_url, api_key="k", env={"PYTHONPATH": str(program)})


@pytest.mark.exhaustive
def test_it_is_listed_filtered_and_exact_in_json(cli: Cli) -> None:
    listed = cli("gadgets", "list")
    assert (listed.code, listed.errors) == (0, "")
    assert "gd_1" in listed.text
    assert "0.2500" in listed.text
    assert cli("gadgets", "list", "--json").json == GADGETS
    assert cli("gadgets", "list", "--filter", "is:broken", "--json").json == GADGETS[1:]
    assert cli("gadgets", "list", "--status", "ready", "--json").json == GADGETS[:1]


@pytest.mark.exhaustive
def test_one_is_shown_by_its_id(cli: Cli) -> None:
    shown = cli("gadgets", "show", "gd_2")
    assert (shown.code, shown.errors) == (0, "")
    assert "red" in shown.text
    assert cli("gadgets", "show", "gd_2", "--json").json == GADGETS[1]
    missing = cli("gadgets", "show", "gd_3")
    assert (missing.code, "There is no gadget 'gd_3'" in missing.errors) == (1, True)


def test_its_schema_lists_its_members(cli: Cli) -> None:
    assert "gadget" in cli("schema").text.splitlines()
    assert cli("schema", "gadget").json["properties"]["price_usd"] == {"type": ["number", "null"]}


def test_help_explains_it_on_every_level(cli: Cli) -> None:
    assert "gadgets list|show           things that a service keeps" in cli("--help").text
    group = cli("gadgets", "--help").text
    assert "list gadgets" in group
    assert "show a gadget" in group
    assert "--status" in cli("gadgets", "list", "--help").text
    assert "the gadget's id" in cli("gadgets", "show", "--help").text
    assert "did you mean 'gadgets list'?" in cli("gadgets", "lst").errors


@pytest.mark.parametrize(
    ("words", "offered"),
    [(["gad"], "gadgets"), (["gadgets", ""], "list show"), (["gadgets", "list", "--st"], "--status")],
)
def test_a_shell_completes_its_words_and_options(cli: Cli, words: list[str], offered: str) -> None:
    script = cli("completion", "bash").text
    call = 'COMP_WORDS=(runwatch "$@"); COMP_CWORD=$#; _runwatch; echo "${COMPREPLY[*]}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{call}", "bash", *words], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == (offered, "")


@pytest.mark.exhaustive
async def test_its_ids_are_completed_from_what_the_console_has_seen(cli: Cli, tmp_path: Path) -> None:
    database = Database.open(tmp_path / "runwatch-data" / find_paths().database.name)
    found = [Gadget(raw) for raw in GADGETS]
    await RecordCache(database).save(
        Scope(ENVIRONMENT, "svc", "key_1"), Gadget.KIND, found, datetime(2026, 11, 22, tzinfo=UTC)
    )
    database.close()
    assert cli("__complete", "gadgets", "show", "").text == "gd_1\ngd_2\n"
    assert cli("__complete", "--open", "gadgets/").text == "gadgets/gd_1\ngadgets/gd_2\n"


def test_a_write_is_declared_once_for_help_options_preview_and_checks(cli: Cli) -> None:
    words = ("webhooks", "pause", "wh_1")
    assert "rotate|pause|remove" in cli("--help").text
    shown = cli("webhooks", "pause", "--help").text
    assert "Tell a webhook nothing for a while." in shown
    assert re.search(r"--hours N +for how many hours", shown)
    made = cli(*words, "--reason", "moving house", "--hours", "3", "--dry-run")
    body = {"reason": "moving house", "until": {"hours": 3}}
    assert made.json == {"method": "POST", "path": PAUSED, "idempotency_key": None, "body": body}
    refused = cli(*words, "--reason", "x" * 2001, "--dry-run")
    assert (refused.code, "--reason: " in refused.errors) == (2, True)
    assert "This needs --reason" in cli(*words).errors
    assert "'x' is not a whole number" in cli(*words, "--reason", "y", "--hours", "x").errors


def test_a_declared_write_is_sent_and_its_answer_printed(cli: Cli) -> None:
    sent = cli("webhooks", "pause", "wh_1", "--reason", "moving house", "--json")
    assert (sent.code, sent.json) == (0, {"webhook_id": "wh_1", "status": "paused"})
