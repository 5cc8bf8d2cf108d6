"""The log holds no secret, stays private, and never disturbs the program."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runwatch.base import log
from runwatch.base.log import REDACTED, LineRateFilter, keep_secret, redact, redact_headers, start_log
from runwatch.base.secrets.secret import Secret

VALUE = "rw_live_canary_51f0"
logger = logging.getLogger("runwatch.test")


@pytest.fixture(autouse=True)
def _fresh_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the secrets and the handlers of the test."""
    monkeypatch.setattr(log, "_known", ())
    root = logging.getLogger("runwatch")
    before = (list(root.handlers), root.level, root.propagate)
    yield
    for handler in [handler for handler in root.handlers if handler not in before[0]]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(before[1])
    root.propagate = before[2]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_is_one_json_object(tmp_path: Path) -> None:
    start_log(tmp_path / "runwatch.log")
    logger.info("first\nsecond %s", "\x1b[2J")
    (line,) = lines(tmp_path / "runwatch.log")
    assert line["text"] == "first\nsecond \x1b[2J"
    assert (line["level"], line["from"]) == ("info", "runwatch.test")
    assert (tmp_path / "runwatch.log").read_text("utf-8").rstrip("\n").isprintable()


def test_the_level_decides_what_is_kept(tmp_path: Path) -> None:
    start_log(tmp_path / "runwatch.log", "warning")
    logger.info("not this")
    logger.warning("this")
    assert [line["text"] for line in lines(tmp_path / "runwatch.log")] == ["this"]


def test_a_known_secret_is_in_no_part_of_a_line(tmp_path: Path) -> None:
    keep_secret(Secret(VALUE))
    start_log(tmp_path / "runwatch.log")
    try:
        raise ValueError(f"no route to https://host/{VALUE}") from KeyError(VALUE)
    except ValueError:
        logger.exception("failed with %s", VALUE)
    written = (tmp_path / "runwatch.log").read_text("utf-8")
    assert VALUE not in written
    assert written.count(REDACTED) >= 3
    assert "Traceback" in lines(tmp_path / "runwatch.log")[0]["trace"]


@pytest.mark.parametrize("value", ['quo"ted-secret', "back\\slash-secret", "schlüssel-geheim", "漢字漢字漢字"])
def test_a_secret_that_json_spells_with_escapes_is_redacted_too(value: str, tmp_path: Path) -> None:
    keep_secret(Secret(value))
    start_log(tmp_path / "runwatch.log")
    logger.info("the key is %s", value)
    assert lines(tmp_path / "runwatch.log")[0]["text"] == f"the key is {REDACTED}"


def test_a_secret_within_another_leaves_no_rest_of_it() -> None:
    keep_secret(Secret("abcdef"))
    keep_secret(Secret("abcdefghijkl"))
    assert redact("abcdefghijkl and abcdef") == f"{REDACTED} and {REDACTED}"


def test_a_secret_is_known_without_the_space_around_it() -> None:
    keep_secret(Secret(f"  {VALUE}\n"))
    assert redact(f"Bearer {VALUE}") == f"Bearer {REDACTED}"


def test_a_short_value_does_not_redact_ordinary_words() -> None:
    keep_secret(Secret("run"))
    assert redact("run") == "run"


def test_headers_are_redacted_by_name_and_by_value() -> None:
    keep_secret(Secret(VALUE))
    shown = redact_headers(
        {"Authorization": "Bearer other", "X-API-Key": "other", "X-Trace": f"a {VALUE}", "Accept": "application/json"}
    )
    assert shown == {
        "Authorization": REDACTED, "X-API-Key": REDACTED, "X-Trace": f"a {REDACTED}", "Accept": "application/json",
    }  # fmt: skip


def test_the_file_is_private_before_and_after_it_is_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LOG_BYTES", 500)
    path = tmp_path / "log" / "runwatch.log"
    start_log(path)
    for number in range(40):
        logger.info("line %d", number)
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["runwatch.log", "runwatch.log.1", "runwatch.log.2", "runwatch.log.3"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert all(file.stat().st_size <= 500 for file in files)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "runwatch.log"
    path.touch(0o644)
    start_log(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").write_bytes(b"")
    assert start_log(tmp_path / "log" / "runwatch.log") is None
    (tmp_path / "directory").mkdir()
    assert start_log(tmp_path / "directory") is None
    logger.error("into nothing")
    assert capsys.readouterr() == ("", "")


def test_a_line_that_cannot_be_written_is_dropped_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start_log(tmp_path / "runwatch.log")
    logger.info("%d", "no number, but a secret")
    logger.info("after")
    assert [line["text"] for line in lines(tmp_path / "runwatch.log")] == ["after"]
    assert capsys.readouterr() == ("", "")


def test_lines_of_a_logger_are_bounded_a_minute_and_those_left_out_are_counted() -> None:
    now = 0.0
    filter_ = LineRateFilter(2, lambda: now)

    def said(text: str) -> str | None:
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "%s", (text,), None)
        return record.getMessage() if filter_.filter(record) else None

    assert [said(text) for text in "abcde"] == ["a", "b", None, None, None]
    now = 60.0
    assert [said(text) for text in "fg"] == ["f (3 earlier lines were dropped)", "g"]
    now = 120.0
    assert said("h") == "h"
