"""The browser of the tests: where it is missing, its tests are skipped with the reason, or fail where it is needed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.browser import INSTALL, NEED, Programs, find_programs, need_programs
from tests.support.environment import is_foreign

CI = Path(__file__).resolve().parents[2] / ".ci"


def test_both_programs_are_needed_and_the_missing_one_is_named() -> None:
    assert find_programs(lambda name: f"/bin/{name}") == Programs("/bin/chromium", "/bin/chromedriver")
    missing = find_programs(lambda name: "/bin/chromium" if name == "chromium" else None)
    assert missing == f"chromedriver not found; on Debian: {INSTALL}"
    assert find_programs(lambda _: None) == f"chromium and chromedriver not found; on Debian: {INSTALL}"


def test_without_a_browser_a_test_is_skipped_with_the_reason_and_in_the_gate_it_fails() -> None:
    with pytest.raises(pytest.skip.Exception, match="chromium not found"):
        need_programs("chromium not found", is_needed=False)
    with pytest.raises(pytest.fail.Exception, match=f"{NEED} is set, and chromium not found"):
        need_programs("chromium not found", is_needed=True)
    assert f"export {NEED}=1" in (CI / "run").read_text()
    assert is_foreign(NEED)


@pytest.mark.parametrize(("user", "here", "code"), [("0", False, 0), ("1000", False, 1), ("1000", True, 0)])
def test_the_gate_installs_the_browser_as_root_and_else_says_what_to_type(
    tmp_path: Path, user: str, here: bool, code: int
) -> None:
    commands = {"id": f"echo {user}", "apt-get": f'echo "$@" >> {tmp_path}/asked'}
    for name, text in {**commands, **({"chromium": "", "chromedriver": ""} if here else {})}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, CI / "browser"], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert (INSTALL in done.stderr) == (code != 0)
    asked = (tmp_path / "asked").read_text().splitlines() if (tmp_path / "asked").exists() else []
    assert asked == (["update", INSTALL.removeprefix("apt-get ")] if user == "0" else [])
    assert ".ci/browser\n" in (CI / "run").read_text()
