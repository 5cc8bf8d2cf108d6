"""What happened in a run, in plain sentences that rest on what the service said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.text import is_clean
from runwatch.records.event import RunEvent
from runwatch.records.receipt import Receipt
from runwatch.records.run import CallError, Run
from runwatch.view.export.text_output import detail_lines
from runwatch.view.resources.runs import RUNS
from runwatch.view.runs.run_facts import RunFacts, SubmittedRequest
from runwatch.view.runs.run_narrative import NarrativeSentence, narrate_run, narrative_sections
from runwatch.view.text.format import RenderContext
from runwatch.view.text.glyphs import Role
from runwatch.view.text.safe_text import SafeText
from tests.support import builders
from tests.support.hostile import CORPUS, Hostile
from tests.support.odd_events import odd_events
from tests.support.parts import verification_check
from tests.view.strategies import NOW, garbage, many

UTC = RenderContext(NOW, time="utc")

REJECTED = verification_check(arm_id="arm_01HX7", is_correct=False, quality_score=0.31, attempt=1)
ACCEPTED = verification_check(check_id="chk_2", arm_id="arm_01HX8", is_correct=True, quality_score=0.86, attempt=2)
TIMEOUT = verification_check(
    arm_id="arm_01HX7", outcome="technical_failure", failure_class="timeout", is_correct=None, quality_score=None
)


def texts(facts: RunFacts, events: list[RunEvent] | None = None, **options: Any) -> list[str]:
    return [sentence.text for sentence in narrate_run(facts, events or [], UTC, **options)]


def completed(**over: Any) -> RunFacts:
    times = {"created_at": "2026-11-20T10:00:00Z", "completed_at": "2026-11-20T10:00:10Z"}
    return RunFacts(builders.run(status="completed", **times, **over))


def test_a_run_that_expired_in_the_queue_is_said_to_have_waited() -> None:
    states = ("accepted", "queued", "expired")
    events = [builders.event(number, state) for number, state in enumerate(states)]
    facts = RunFacts(builders.run(status="expired", reason="runtime_exceeded"))
    assert "waited in the queue" in texts(facts, events)[-1]
    assert "took longer" not in texts(facts, events)[-1]


def test_a_fallback_is_reported_from_the_rejection_to_the_saved_model_that_took_over() -> None:
    events = [
        builders.event(1, "accepted", at="2026-11-20T10:00:00Z"),
        builders.event(2, "queued", at="2026-11-20T10:00:00Z"),
        builders.event(3, "running", at="2026-11-20T10:00:03Z"),
        builders.slice_event(4, "running"),
        builders.verification_event(5, verification_check=REJECTED),
        builders.slice_event(6, "progress", reason="fallback", at="2026-11-20T10:00:05Z"),
        builders.verification_event(7, verification_check=ACCEPTED),
        builders.recorded_event(8, "customer_verdict"),
        builders.slice_event(9, "completed"),
        builders.event(10, "completed"),
    ]
    assert texts(completed(), events) == [
        "The run was accepted.",
        "Work began after 3 s in the queue.",
        "Attempt 1: The output of arm_01HX7 was rejected by the check with a score of 0.31.",
        "The run fell back to arm_01HX8.",
        "Attempt 2: The output of arm_01HX8 was accepted by the check with a score of 0.86.",
        "The run completed after 10 s.",
    ]


def test_a_technical_failure_is_no_rejection() -> None:
    events = [builders.verification_event(1, verification_check=TIMEOUT)]
    [sentence, _] = narrate_run(completed(), events, UTC)
    assert "was not judged: the check could not run: timeout" in sentence.text
    assert "no verdict" in sentence.text
    assert "reject" not in sentence.text
    assert sentence.role is Role.WARN


def test_what_a_provider_answered_is_quoted_at_its_time() -> None:
    error = {"attempt": 1, "at": "2026-11-20T10:00:04Z", "http_status": 400, "message": "no\x1b[31m such model"}
    events = [
        builders.event(1, "running", at="2026-11-20T10:00:03Z"),
        builders.slice_event(2, "progress", reason="fallback", at="2026-11-20T10:00:05Z"),
    ]
    single = completed(provider_errors=[error])
    listed = completed()._replace(call_errors=(CallError(error),))
    for facts in (single, listed):
        assert texts(facts, events)[:3] == [
            "Work began.",
            'The provider answered 400: "no␛[31m such model".',
            "The run fell back; which saved model took over is not said.",
        ]
    without = {**error, "message": None, "at": None}
    assert texts(completed(provider_errors=[without]), events)[2] == "The provider answered 400."
    words_alone = {**error, "http_status": None}
    assert 'The provider answered: "no␛[31m such model".' in texts(completed(provider_errors=[words_alone]), events)


def test_a_run_that_called_no_model_has_none_and_one_without_a_receipt_an_unknown_one() -> None:
    def shown(facts: RunFacts) -> list[str]:
        lines = [" ".join(str(one).split()) for one in detail_lines(RUNS, facts, UTC)]
        return [one for one in lines if one.startswith(("provider ", "model ", "arm_id "))]

    without = builders.echo_receipt()
    none, unknown = ["provider –", "model –", "arm_id –"], ["provider ?", "model ?", "arm_id ?"]
    assert shown(RunFacts(builders.run(status="completed", mode="echo"))) == none
    assert shown(RunFacts(builders.run(status="failed"), receipt=without)) == none
    assert shown(RunFacts(builders.run(status="failed"))) == unknown
    assert shown(RunFacts(builders.run(status="running"), receipt=None)) == unknown


def test_the_detail_of_a_run_quotes_each_refused_call_and_says_how_long() -> None:
    error = {"attempt": 2, "http_status": 503, "message": "try later", "retention_expires_at": "2026-11-27T10:00:00Z"}
    shown = [
        " ".join(str(one).split())
        for one in detail_lines(RUNS, completed(provider_errors=[error, {"attempt": 3, "http_status": 500}]), UTC)
    ]
    place = shown.index(
        'provider_errors call 2: the provider answered 503: "try later" (kept until 2026-11-27T10:00:00.000Z)'
    )
    assert shown[place + 1] == "call 3: the provider answered 500"


def test_the_detail_names_the_model_and_the_time_of_a_refused_call_and_lists_odd_members_apart() -> None:
    error = {"attempt": 1, "arm_id": "arm_a", "at": "2026-11-20T10:00:00Z", "http_status": 400}
    quoted = "provider_errors call 1 of arm_a at 2026-11-20T10:00:00.000Z: the provider answered 400"

    def shown(*errors: object) -> list[str]:
        lines = detail_lines(RUNS, completed(provider_errors=list(errors)), UTC)
        return [" ".join(str(one).split()) for one in lines if "provider_errors" in str(one)]

    assert shown(error) == [quoted]
    assert shown(error, 7)[0] == shown({**error, "region": "eu"})[0] == quoted
    assert len(shown(error, 7)) > 1
    assert any("region" in one for one in shown({**error, "region": "eu"})[1:])
    assert shown({**error, "attempt": "second"})[0] == quoted.replace("call 1", "call ?")
    assert any("second" in one for one in shown({**error, "attempt": "second"})[1:])


def test_a_fallback_whose_successor_nothing_names_says_so() -> None:
    events = [builders.slice_event(1, "progress", reason="fallback")]
    assert texts(RunFacts(builders.run()), events) == ["The run fell back; which saved model took over is not said."]


def test_a_fallback_after_which_nothing_was_checked_is_named_by_the_receipt() -> None:
    events = [builders.slice_event(1, "progress", reason="fallback"), builders.slice_event(2, "completed")]
    facts = RunFacts(builders.run(status="completed"), receipt=builders.live_receipt())
    assert texts(facts, events)[0] == "The run fell back to arm_01HX8 (contoso/atlas-12b)."


def test_each_fallback_names_the_saved_model_that_it_called_and_not_the_one_checked_next() -> None:
    events = [builders.slice_event(number, "progress", reason="fallback") for number in (1, 2)]
    events.append(builders.verification_event(3, verification_check=ACCEPTED))
    receipt = dict(builders.live_receipt().raw)
    attempts = [{"arm_id": arm, "phase": "candidate"} for arm in ("arm_a", "arm_b", "arm_01HX8")]
    receipt["slices"] = [{**receipt["slices"][0], "attempts": attempts}]
    told = texts(RunFacts(builders.run(status="completed"), receipt=Receipt(receipt)), events)
    assert [text.partition(" (")[0].rstrip(".") for text in told[:2]] == [
        "The run fell back to arm_b", "The run fell back to arm_01HX8",
    ]  # fmt: skip


def test_a_repair_is_reported_with_its_phases() -> None:
    baseline = verification_check(arm_id="arm_s", is_correct=False, quality_score=0.2, phase="skill_baseline")
    repaired = verification_check(
        check_id="chk_2", arm_id="arm_s", is_correct=True, quality_score=0.9, attempt=2, phase="skill_repair"
    )
    events = [
        builders.verification_event(1, verification_check=baseline),
        builders.slice_event(2, "progress", reason="repair_retry"),
        builders.verification_event(3, verification_check=repaired),
    ]
    assert texts(RunFacts(builders.run()), events) == [
        "Attempt 1: The skill's output as it stands of arm_s was rejected by the check with a score of 0.2.",
        "The work was repaired and tried again by arm_s.",
        "Attempt 2: The repaired skill's output of arm_s was accepted by the check with a score of 0.9.",
    ]


def test_without_events_the_receipt_tells_its_attempts() -> None:
    told = texts(RunFacts(builders.run(status="completed"), receipt=builders.live_receipt()))
    assert told[:3] == [
        "Attempt 1: The output of arm_01HX7 was rejected by the check with a score of 0.31.",
        "The run fell back to arm_01HX8 (contoso/atlas-12b).",
        "Attempt 2: The output of arm_01HX8 (contoso/atlas-12b) was accepted by the check with a score of 0.86.",
    ]


@pytest.mark.parametrize(
    ("facts", "last", "role"),
    [
        (
            RunFacts(builders.run(status="failed", reason="no_eligible_arms")), "The run failed: no_eligible_arms.",
            Role.BAD,
        ),
        (
            RunFacts(builders.run(status="cancelled", cancelled_by="key_A1b2C3")),
            "The run was cancelled by key_A1b2C3.", Role.OFF,
        ),
        (RunFacts(builders.run(status="expired", reason="runtime_exceeded")), "The run expired: ", Role.WARN),
        (
            RunFacts(
                builders.run(
                    status="completed",
                    decision_packet={"verdict": "block", "action": "gate", "reason": "veto_source_blocked"},
                ),
            ),
            "Observation ended. The verdict is block (veto_source_blocked); the action is gate.", Role.BAD,
        ),
    ],
)  # fmt: skip
def test_the_end_says_how_and_why(facts: RunFacts, last: str, role: Role) -> None:
    sentence = narrate_run(facts, [], UTC)[-1]
    assert sentence.text.startswith(last.removesuffix(".")), sentence.text
    assert sentence.role is role


def test_a_live_run_has_no_end_yet() -> None:
    assert narrate_run(RunFacts(builders.run()), [], UTC) == []
    assert narrative_sections(RunFacts(builders.run()), [], UTC) == ()


def test_a_long_run_says_that_there_is_more() -> None:
    events = [builders.event(1, "accepted")]
    assert texts(RunFacts(builders.run()), events, is_cut=True)[-1].startswith("The run has more than 1 events")


def test_what_a_check_came_to_is_said_once() -> None:
    baseline = verification_check(activity="platform_baseline", arm_id="arm_1", is_correct=True)
    events = [
        builders.verification_event(1, verification_check=baseline),
        builders.recorded_event(2, "baseline"),
    ]
    [told] = texts(RunFacts(builders.run()), events)
    assert told.startswith("Attempt 1: Output seen, correctness not checked.")


def test_several_slices_are_distinguished() -> None:
    events = [
        builders.verification_event(1, slice_id="sl_1", verification_check=REJECTED),
        builders.verification_event(2, slice_id="sl_2", verification_check=ACCEPTED),
    ]
    assert texts(RunFacts(builders.run()), events)[1].startswith("Slice sl_2: Attempt 2")


@many
@given(st.lists(garbage(RunEvent), max_size=5), garbage(Run), garbage(Receipt), garbage(SubmittedRequest))
def test_any_run_has_a_clean_story(
    events: list[dict[str, Any]], run: dict[str, Any], receipt: dict[str, Any], request: dict[str, Any]
) -> None:
    facts = RunFacts(Run(run), SubmittedRequest(request), Receipt(receipt))
    for sentence in narrate_run(facts, [RunEvent(raw) for raw in events], UTC):
        assert isinstance(sentence, NarrativeSentence)
        assert isinstance(sentence.text, SafeText)
        assert is_clean(sentence.text)
        assert "\n" not in sentence.text


@pytest.mark.parametrize("entry", CORPUS, ids=lambda entry: entry.name)
def test_hostile_text_stays_in_its_sentence(entry: Hostile) -> None:
    text = entry.text
    events = [
        builders.slice_event(1, "running", slice_id=text or "s", arm_id=text),
        builders.verification_event(2, verification_check=verification_check(arm_id=text, phase=text)),
        builders.slice_event(3, "failed", note=text, reason=text),
    ]
    packet = {"verdict": text, "action": text, "reason": text}
    facts = RunFacts(builders.run(status="failed", reason=text, cancelled_by=text, decision_packet=packet))
    for sentence in narrate_run(facts, events, UTC):
        assert is_clean(sentence.text)
        assert "\n" not in sentence.text


def test_events_of_unknown_shapes_change_nothing_of_the_story() -> None:
    known = [builders.event(1, "accepted"), builders.event(99, "completed")]
    assert set(texts(completed(), known)) <= set(texts(completed(), [known[0], *odd_events("ex_1"), known[1]]))
    for event in odd_events("ex_1"):
        narrative_sections(completed(), [event], UTC, is_cut=True)
