"""Commands run as somebody types them, with nothing of the surrounding environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.cli import Cli, Outcome


class Python(Cli):
    """The same process rules around another program."""

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, *arguments]


def test_a_command_gives_its_code_and_the_bytes_of_both_streams(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.buffer.write(b'out\\xff'); sys.stderr.write('err'); sys.exit(3)"
    assert Python(tmp_path)("-c", code) == Outcome(3, b"out\xff", b"err")


@pytest.mark.parametrize(("stdin", "read"), [(None, b""), (b"a\nb", b"a\nb")])
def test_standard_input_is_empty_unless_it_is_given(tmp_path: Path, stdin: bytes | None, read: bytes) -> None:
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    assert Python(tmp_path)("-c", code, stdin=stdin).stdout == read


def test_a_command_sees_the_service_it_is_given_and_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNWATCH_PROFILE", "from outside")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    seen = Python(tmp_path, base_url="http://127.0.0.1:1", api_key="k")("-c", code, env={"NO_COLOR": "1"}).json
    assert (seen["RUNWATCH_BASE_URL"], seen["RUNWATCH_API_KEY"], seen["NO_COLOR"]) == ("http://127.0.0.1:1", "k", "1")
    assert Path(seen["RUNWATCH_DATA_DIR"]).is_relative_to(tmp_path)
    assert "RUNWATCH_PROFILE" not in seen


def test_output_is_read_as_json_and_as_json_lines(tmp_path: Path) -> None:
    python = Python(tmp_path)
    assert python("-c", "print('[1]')").json == [1]
    assert python("-c", "print('1'); print('2')").json_lines == [1, 2]


def test_a_running_command_can_be_read_while_it_runs_and_does_not_outlive_its_block(tmp_path: Path) -> None:
    code = "import sys; print('up', flush=True); sys.stdin.read(); import signal; signal.pause()"
    with Python(tmp_path).running("-c", code) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert process.poll() is None
    assert process.returncode == -9


def test_the_command_is_runwatch(tmp_path: Path) -> None:
    outcome = Cli(tmp_path)("--version")
    assert (outcome.code, outcome.stderr) == (0, b"")
    assert outcome.text.startswith("runwatch ")
