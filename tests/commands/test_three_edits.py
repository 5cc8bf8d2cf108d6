"""A new resource is three edits away from its verbs, made here to a copy of the program."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import runwatch
from runwatch.base.paths import find_paths
from runwatch.settings.model import UNNAMED
from runwatch.store.cache import RecordCache
from runwatch.store.database import Database
from runwatch.store.identity import Scope
from tests.support import three_edits
from tests.support.cli import Cli
from tests.support.scripted import Said, ScriptedService, running_service
from tests.support.three_edits.record import Gadget

GADGETS: list[dict[str, Any]] = [
    {"gadget_id": "gd_1", "status": "ready", "price_usd": 0.25, "execution_id": "ex_1", "colour": "teal"},
    {"gadget_id": "gd_2", "status": "broken", "price_usd": 0.5, "execution_id": "ex_2", "colour": "red"},
]
THIRD_EDIT = '    ResourceEntry("gadgets", "gadgets:GADGETS", "things that a service keeps"),\n'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a copy of the program with a resource more: two new files and one new line."""
    source, edits = Path(runwatch.__file__).parent, Path(three_edits.__file__).parent
    copy = tmp_path_factory.mktemp("program") / "runwatch"
    shutil.copytree(source, copy)
    shutil.copy(edits / "record.py", copy / "records" / "gadget.py")
    spec = (edits / "spec.py").read_text().replace("tests.support.three_edits.record", "runwatch.records.gadget")
    (copy / "view" / "resources" / "gadgets.py").write_text(spec)
    index = copy / "view" / "resource_index.py"
    before, line, after = index.read_text().partition('    ResourceEntry("account", "account:ACCOUNT"),\n')
    assert line
    index.write_text(before + THIRD_EDIT + line + after)
    return copy.parent


@pytest.fixture
def cli(program: Path, tmp_path: Path) -> Iterator[Cli]:
    """The command of that copy, and a service that has gadgets."""
    script = ScriptedService()
    script.say("GET", "/v1/gadgets", Said(200, {"gadgets": GADGETS, "next_cursor": None}))
    with running_service(script) as service:
        yield Cli(tmp_path, base_url=service.base_url, api_key="k", env={"PYTHONPATH": str(program)})


def test_it_is_listed_filtered_and_exact_in_json(cli: Cli) -> None:
    listed = cli("gadgets", "list")
    assert (listed.code, listed.errors) == (0, "")
    assert "gd_1" in listed.text
    assert "0.2500" in listed.text
    assert cli("gadgets", "list", "--json").json == GADGETS
    assert cli("gadgets", "list", "--filter", "is:broken", "--json").json == GADGETS[1:]
    assert cli("gadgets", "list", "--status", "ready", "--json").json == GADGETS[:1]


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
    assert "the nearest is 'gadgets list'" in cli("gadgets", "lst").errors


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


async def test_its_ids_are_completed_from_what_the_console_has_seen(cli: Cli, tmp_path: Path) -> None:
    database = Database.open(tmp_path / "runwatch-data" / find_paths().database.name)
    found = [Gadget(raw) for raw in GADGETS]
    await RecordCache(database).save(
        Scope(UNNAMED, "svc", "key_1"), Gadget.KIND, found, datetime(2026, 11, 22, tzinfo=UTC)
    )
    database.close()
    assert cli("__complete", "gadgets", "show", "").text == "gd_1\ngd_2\n"
    assert cli("__complete", "--open", "gadgets/").text == "gadgets/gd_1\ngadgets/gd_2\n"
