"""Events as lines."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given

from runwatch.base.text import is_clean
from runwatch.records.event import RunEvent
from runwatch.view.runs.event_lines import fit_summary, last_event_text, render_event, render_gap
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import ASCII, Role
from runwatch.view.text.safe_text import SafeText, line
from tests.support import builders
from tests.support.hostile import CORPUS, Hostile
from tests.support.odd_events import SHAPES, odd_events
from tests.support.parts import RECORDED_STATES, recorded_check, verification_check
from tests.view.strategies import NOW, garbage, many

UTC = RenderContext(NOW, time="utc")


def shown(event: RunEvent) -> tuple[str, str, str, Role]:
    drawn = render_event(event, UTC)
    return drawn.kind, drawn.slice, drawn.summary, drawn.role


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (builders.event(1, "accepted"), ("lifecycle", "", "accepted", Role.PLAIN)),
        (builders.slice_event(4), ("lifecycle", "sl_1", "running", Role.PLAIN)),
        (
            builders.slice_event(5, "progress", reason="fallback"),
            ("lifecycle", "sl_1", "progress · fallback", Role.PLAIN),
        ),
        (
            builders.slice_event(5, "progress", reason="fallback", arm_id="arm_01HX8"),
            ("lifecycle", "sl_1", "progress · fallback → arm_01HX8", Role.PLAIN),
        ),
        (builders.event(7, "completed"), ("lifecycle", "", "✓ completed", Role.GOOD)),
        (
            builders.event(7, "cancelled", reason="cancelled", acted_by="key_A1b2C3"),
            ("lifecycle", "", "⊘ cancelled · by key_A1b2C3", Role.OFF),
        ),
        (
            builders.event(7, "expired", reason="runtime_exceeded", acted_by=None),
            ("lifecycle", "", "◷ expired · runtime_exceeded", Role.WARN),
        ),
        (builders.event(7, "failed", reason="internal"), ("lifecycle", "", "✗ failed · internal", Role.BAD)),
        (
            builders.slice_event(6, "cancelled", note="The call in progress could not be reversed, whatever it used."),
            (
                "lifecycle", "sl_1", "⊘ cancelled · The call in progress could not be reversed, whatever it used.",
                Role.OFF,
            ),
        ),
        (builders.event(3, "hovering", slice_id=None), ("lifecycle", "", "hovering", Role.PLAIN)),
        (builders.verification_event(5), ("check", "sl_1", "✓ accepted  0.86  attempt 1", Role.GOOD)),
        (
            builders.verification_event(
                5, verification_check=verification_check(is_correct=False, quality_score=0.31, attempt=2)
            ),
            ("check", "sl_1", "✗ rejected  0.31  attempt 2", Role.BAD),
        ),
        (
            builders.verification_event(
                5,
                verification_check=verification_check(
                    outcome="technical_failure", failure_class="timeout", is_correct=None, phase="skill_repair"
                ),
            ),
            (
                "check", "sl_1",
                "◷ no verdict  timeout (the check's endpoint did not answer in time)  attempt 1  skill_repair",
                Role.WARN,
            ),
        ),
        (builders.recorded_event(6, "platform_test"), ("recorded", "sl_1", "test run · no verdict", Role.TEST)),
        (
            builders.recorded_event(6, "customer_verdict"),
            ("recorded", "sl_1", "your check accepted the output  0.86", Role.GOOD),
        ),
        (
            builders.unknown_event(8),
            ("tool_call", "", '{"tool":{"name":"search","calls":2}}', Role.PLAIN),
        ),
        (RunEvent({"type": "ping"}), ("ping", "", "?", Role.PLAIN)),
        (RunEvent({}), ("?", "", "?", Role.PLAIN)),
        (RunEvent({"type": "lifecycle", "state": 5}), ("lifecycle", "", '{"state":5}', Role.PLAIN)),
        (
            builders.event(7, "completed", recorded_check=recorded_check("platform_test")),
            ("lifecycle", "", "✓ completed · test run · no verdict", Role.GOOD),
        ),
        (
            builders.event(3, "running", arm_id="arm_1", tries=2, deep={"x": 1}, more="a", most="b"),
            ("lifecycle", "", "running · arm_1  tries=2  more=a  most=b", Role.PLAIN),
        ),
        (
            builders.event(3, "running", artifact_id=f"sha256:{'0' * 64}"),
            ("lifecycle", "", f"running  artifact_id=sha256:{'0' * 64}", Role.PLAIN),
        ),
    ],
)  # fmt: skip
def test_each_kind_of_event_has_its_words(event: RunEvent, words: tuple[str, str, str, Role]) -> None:
    assert shown(event) == words


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (31, "progress · fallback → arm_01HX8 · by key_A1b2C3"),
        (30, "fallback → arm_01HX8 · by key_A1b2C3"),
        (19, "→ arm_01HX8 · by key_A1b2C3"),
        (3, "→ arm_01HX8 · by key_A1b2C3"),
    ],
)
def test_the_saved_model_of_a_fallback_is_whole_before_the_words_in_front_of_it(cells: int, words: str) -> None:
    event = builders.slice_event(5, "progress", reason="fallback", arm_id="arm_01HX8", acted_by="key_A1b2C3")
    assert fit_summary(event, render_event(event, UTC).summary, cells, UTC.glyphs) == words
    other = builders.event(7, "failed", reason="internal", arm_id="arm_01HX8")
    summary = render_event(other, UTC).summary
    assert fit_summary(other, summary, cells, UTC.glyphs) == summary


def test_all_recorded_states_read_differently_except_the_reserved_one() -> None:
    words = {shown(builders.recorded_event(1, state))[2] for state in RECORDED_STATES}
    assert len(words) == len(RECORDED_STATES) - 1


def test_a_line_is_in_columns_and_names_its_run_where_runs_are_mixed() -> None:
    event = builders.slice_event(4, at="2026-11-21T11:59:58Z")
    assert render_event(event, UTC).plain() == "11:59:58  lifecycle sl_1 running"
    assert render_event(event, UTC).plain(line("ex_01HXE")) == "11:59:58  ex_01HXE  lifecycle sl_1 running"
    run_level = builders.event(7, "completed", at="2026-11-20T11:59:58Z")
    assert render_event(run_level, UTC).plain() == "11-20 11:59:58  lifecycle      ✓ completed"


def test_a_gap_is_drawn_and_says_that_nothing_was_lost() -> None:
    gap = render_gap(NOW - timedelta(seconds=18), NOW, UTC)
    assert gap.is_gap
    assert gap.plain() == "┄┄┄┄ no answer 11:59:42 – 12:00:00, nothing lost ┄┄┄┄"
    assert render_gap(NOW, NOW, RenderContext(NOW, glyphs=ASCII)).plain().isascii()


@pytest.mark.parametrize(
    ("event", "word"),
    [
        (builders.event(1, "queued"), "queued"),
        (builders.verification_event(1), "check"),
        (builders.recorded_event(1), "recorded"),
        (builders.unknown_event(1), "tool_call"),
        (RunEvent({"type": "lifecycle"}), "lifecycle"),
        (RunEvent({}), "event"),
    ],
)
def test_the_newest_event_is_one_word(event: RunEvent, word: str) -> None:
    assert last_event_text(event) == word


@many
@given(garbage(RunEvent))
def test_any_event_is_one_clean_line(raw: dict[str, object]) -> None:
    drawn = render_event(RunEvent(raw), UTC)
    for text in (drawn.time, drawn.kind, drawn.slice, drawn.summary, drawn.plain(), last_event_text(RunEvent(raw))):
        assert isinstance(text, SafeText)
        assert is_clean(text)
        assert "\n" not in text


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_hostile_text_in_any_member_of_an_event_stays_on_its_line(entry: Hostile) -> None:
    text = entry.text
    for event in (
        builders.event(1, text, reason=text, acted_by=text, slice_id=text, **{text or "x": text}),
        builders.unknown_event(1, type=text, tool={text: text}),
        builders.verification_event(1, verification_check=verification_check(failure_class=text, phase=text)),
        builders.recorded_event(1, text, recorded_check=recorded_check(text, reason=text)),
    ):
        plain = render_event(event, UTC).plain()
        assert is_clean(plain)
        assert "\n" not in plain


@pytest.mark.parametrize("event", odd_events("ex_1"), ids=SHAPES)
def test_an_event_of_an_unknown_shape_is_a_line_that_says_what_it_has(event: RunEvent) -> None:
    drawn = render_event(event, UTC)
    assert event.raw["mark"] in drawn.summary
    assert all(map(is_clean, (drawn.time, drawn.kind, drawn.slice, drawn.summary)))
    assert last_event_text(event)
    assert not event.ends_run


def test_the_kind_of_an_event_is_shown_whatever_it_is() -> None:
    kinds = {name: render_event(event, UTC).kind for name, event in zip(SHAPES, odd_events("ex_1"), strict=True)}
    assert kinds["a new type"] == "telemetry_burst"
    assert kinds["a number as type"] == "7"
    assert kinds["an object as type"] == '{"name":"lifecycle"}'
    assert kinds["no type"] == kinds["a null type"] == "?"
