"""The steps of a protected key, one by one and in any order."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwatch.base.clock import format_iso
from runwatch.service.checks import binding_state as states
from runwatch.service.checks import bindings as forms
from runwatch.service.checks.binding_state import Binding
from runwatch.service.checks.stop_date import NEVER, StopDate
from runwatch.service.errors import RefusalError
from tests.support.clock import START

HERE = "https://checks.example.test"
THERE = "https://other.example.test"


def later(**span: float) -> datetime:
    return START + timedelta(**span)


def staged(binding: Binding, handle: str = "a", *, stop: StopDate = NEVER, now: datetime = START) -> Binding:
    return states.stage(binding, handle, HERE, stop, f"int_{handle}", now)


def active(handle: str = "a", *, stop: StopDate = NEVER) -> Binding:
    return promoted(staged(Binding(), handle, stop=stop))


def promoted(binding: Binding, now: datetime = START) -> Binding:
    assert binding.pending is not None
    return states.promote(binding, binding.pending, None, now)


def retired(binding: Binding) -> dict[str, str | None]:
    return {key.handle: key.reason for key in binding.retired}


def test_a_staged_key_is_not_in_use() -> None:
    binding = staged(Binding())
    assert (binding.status, binding.handle, binding.generation) == ("unbound", None, 1)
    assert binding.pending is not None
    assert (binding.pending.handle, binding.pending.captured_generation) == ("a", 1)
    step = binding.operation("int_a")
    assert step is not None
    assert (step.kind, step.phase, step.resulting_state["handle"]) == ("stage", "admitted", "a")


def test_a_key_that_passes_its_test_is_in_use() -> None:
    binding = active()
    assert (binding.status, binding.handle, binding.origin, binding.pending) == ("active", "a", HERE, None)
    assert binding.last_test is not None
    assert (binding.last_test.outcome, binding.last_test.handle) == ("passed", "a")
    step = binding.operation("int_a")
    assert step is not None
    assert (step.kind, step.phase, step.generation) == ("promote", "committed", binding.generation)


def test_a_replacement_leaves_the_old_key_in_use_until_it_passes() -> None:
    waiting = staged(active("a"), "b")
    assert (waiting.handle, waiting.doomed) == ("a", [])
    replaced = promoted(waiting)
    assert (replaced.handle, replaced.doomed, retired(replaced)) == ("b", ["a"], {"a": "replaced"})
    step = replaced.operation("int_b")
    assert step is not None
    assert step.resulting_state == {"handle": "b", "replaced_handle": "a", "operation_key": "int_b"}


def test_a_failed_test_leaves_the_old_key_untouched() -> None:
    waiting = staged(active("a"), "b")
    assert waiting.pending is not None
    failed = states.fail_test(waiting, waiting.pending, "timeout", START)
    assert (failed.status, failed.handle, failed.pending, failed.doomed) == ("active", "a", None, ["b"])
    assert failed.last_test is not None
    assert (failed.last_test.outcome, failed.last_test.handle, failed.last_test.reason) == ("failed", "b", "timeout")
    assert forms.view_json(failed, START)["replacement"]["status"] == "failed"


def test_a_second_key_takes_the_place_of_the_one_that_waits() -> None:
    binding = staged(staged(Binding(), "a"), "b")
    assert binding.pending is not None
    assert (binding.pending.handle, retired(binding)) == ("b", {"a": "replaced"})


@pytest.mark.parametrize(("handle", "generation"), [("b", 1), ("a", 0), ("a", 2)])
def test_a_test_of_another_key_or_generation_is_refused(handle: str, generation: int) -> None:
    with pytest.raises(RefusalError) as caught:
        states.find_staged(staged(Binding()), handle, generation)
    assert caught.value.code == "invalid_state"


def test_a_test_of_a_key_that_does_not_wait_is_refused() -> None:
    with pytest.raises(RefusalError):
        states.find_staged(active(), "a", 1)


def test_a_revoked_key_is_let_go_of_with_the_one_that_waits() -> None:
    binding = states.revoke(staged(active("a"), "b"), "op", later(hours=1))
    assert (binding.status, binding.handle, binding.pending, binding.stop_reason) == ("revoked", None, None, "revoked")
    assert binding.stopped_at == format_iso(later(hours=1))
    assert set(binding.doomed) == {"a", "b"}
    step = binding.operation("op")
    assert step is not None
    assert (step.kind, step.phase) == ("revoke", "committed")


def test_the_same_operation_key_stops_nothing_twice() -> None:
    revoked = states.revoke(active("a"), "op", START)
    restored = promoted(staged(revoked, "b"))
    assert states.revoke(restored, "op", START) == restored
    assert states.revoke(restored, "op2", START).handle is None


def test_nothing_is_revoked_where_there_never_was_a_key() -> None:
    with pytest.raises(RefusalError) as caught:
        states.revoke(Binding(), "op", START)
    assert caught.value.code == "invalid_state"


def test_revoking_what_is_stopped_changes_no_more_than_the_record_of_it() -> None:
    revoked = states.revoke(active(), None, START)
    again = states.revoke(revoked, None, later(days=1))
    assert again == revoked
    noted = states.revoke(revoked, "op", later(days=1))
    assert (noted.stopped_at, noted.generation) == (revoked.stopped_at, revoked.generation)
    assert noted.operation("op") is not None


def test_a_key_expires_at_its_stop_date() -> None:
    stop = StopDate(format_iso(later(days=30)), "UTC")
    binding = active(stop=stop)
    before = states.advance_to(binding, later(days=30) - timedelta(milliseconds=1))
    assert before == binding
    assert forms.summary_json(before, later(days=29, hours=1))["days_remaining"] == 1
    after = states.advance_to(binding, later(days=31))
    assert (after.status, after.handle, after.stop_reason, after.doomed) == ("expired", None, "stop_date", ["a"])
    assert after.stopped_at == stop.at
    assert after.generation == binding.generation + 1
    assert states.advance_to(after, later(days=99)) == after
    assert forms.summary_json(after, later(days=31))["days_remaining"] is None


def test_an_expired_key_is_restored_by_a_new_one() -> None:
    expired = states.advance_to(active(stop=StopDate(format_iso(later(days=1)), "UTC")), later(days=2))
    restored = promoted(staged(expired, "b", now=later(days=2)), later(days=2))
    assert (restored.status, restored.handle, restored.stopped_at, restored.stop_reason) == ("active", "b", None, None)


def test_a_staged_key_does_not_wait_for_ever() -> None:
    binding = staged(active("a"), "b")
    assert states.advance_to(binding, later(hours=23, minutes=59)) == binding
    over = states.advance_to(binding, later(hours=24))
    assert (over.handle, over.pending, retired(over)) == ("a", None, {"b": "not_tested"})


def test_a_staged_key_whose_stop_date_comes_first_is_never_used() -> None:
    binding = staged(Binding(), "b", stop=StopDate(format_iso(later(hours=1)), "UTC"))
    assert retired(states.advance_to(binding, later(hours=1))) == {"b": "stop_date"}


def test_a_key_does_not_follow_its_endpoint_to_another_origin() -> None:
    binding = states.follow_origin(staged(active("a"), "b"), THERE, START)
    assert (binding.status, binding.stop_reason, binding.pending) == ("revoked", "origin_invalidated", None)
    assert retired(binding) == {"a": "origin_invalidated", "b": "origin_invalidated"}


def test_a_key_stays_when_the_endpoint_moves_within_its_origin() -> None:
    binding = staged(active("a"), "b")
    assert states.follow_origin(binding, HERE, START) == binding


def test_what_is_destroyed_is_marked_and_forgotten_in_the_end() -> None:
    binding = active("h0")
    for number in range(1, 30):
        binding = promoted(staged(binding, f"h{number}", now=later(minutes=number)), later(minutes=number))
        binding = states.destroyed(binding, binding.doomed, later(minutes=number))
    assert binding.doomed == []
    assert len(binding.retired) == states.KEPT
    assert binding.retired[-1].handle == "h28"
    assert binding.retired[-1].destroyed_at == format_iso(later(minutes=29))
    assert len(binding.operations) == states.KEPT


STEPS = ["stage", "promote", "fail", "revoke", "move", "destroy", "wait"]


def stepped(binding: Binding, step: str, more: int, handle: str, now: datetime) -> Binding:
    """The binding after one step, as it was where the step is refused or has nothing to work on."""
    pending = binding.pending
    if step == "stage":
        return staged(binding, handle, stop=StopDate(format_iso(now + timedelta(hours=20 * more + 1)), "UTC"), now=now)
    if step == "promote":
        return binding if pending is None else states.promote(binding, pending, None, now)
    if step == "fail":
        return binding if pending is None else states.fail_test(binding, pending, "network", now)
    if step == "move":
        return states.follow_origin(binding, (HERE, THERE)[more % 2], now)
    if step == "destroy":
        return states.destroyed(binding, binding.doomed, now)
    if step == "wait":
        return states.advance_to(binding, now)
    try:
        return states.revoke(binding, f"op{more}", now)
    except RefusalError:
        assert binding.status == "unbound"
        return binding


@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 3)), max_size=states.KEPT))
def test_whatever_happens_keys_are_kept_or_let_go_of_and_only_a_passed_test_changes_the_one_in_use(
    plan: list[tuple[str, int]],
) -> None:
    binding, now, entered = Binding(), START, set()
    for number, (step, more) in enumerate(plan):
        before, handle = binding, f"h{number}"
        now += timedelta(hours=more if step == "wait" else 0)
        binding = stepped(before, step, more, handle, now)
        if step == "stage":
            entered.add(handle)
        assert step == "promote" or binding.handle in {before.handle, None}
        assert binding.generation >= before.generation
        assert (binding.status == "active") == (binding.handle is not None)
        let_go_of = {key.handle for key in binding.retired}
        assert not binding.handles & let_go_of
        assert binding.handles | let_go_of == entered
        stored = json.loads(json.dumps(forms.to_json(binding)))
        assert forms.from_row({"generation": binding.generation, "state": stored}) == binding
        assert forms.view_json(binding, now)["status"] == binding.status
