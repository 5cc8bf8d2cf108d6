"""The way back and forth between views."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runwatch.settings.view_state import ViewState
from runwatch.tui.shell.view_history import MAX_VIEWS, ViewHistory


def been_to(*screens: str) -> ViewHistory:
    """A history of some screens, in order."""
    history = ViewHistory()
    for screen in screens:
        history.go(ViewState(screen))
    return history


def screen(view: ViewState | None) -> str:
    """The name of a view's screen; empty for none."""
    return view.screen if view is not None else ""


def test_there_is_nothing_before_the_first_view() -> None:
    history = been_to("runs")
    assert not history.has_earlier
    assert history.move(-1) is None
    assert history.move(1) is None
    assert history.swap() is None
    assert screen(history.present) == "runs"


def test_back_and_forward_go_the_same_way() -> None:
    history = been_to("runs", "receipts", "models")
    assert [screen(history.move(step)) for step in (-1, -1, -1, 1, 1, 1)] == [
        "receipts", "runs", "", "receipts", "models", "",
    ]  # fmt: skip


def test_going_somewhere_new_forgets_what_lay_ahead() -> None:
    history = been_to("runs", "receipts", "models")
    history.move(-2)
    history.go(ViewState("arms"))
    assert history.move(1) is None
    assert screen(history.move(-1)) == "runs"


def test_the_last_view_leads_there_and_back() -> None:
    history = been_to("runs", "receipts", "models")
    assert [screen(history.swap()) for _ in range(3)] == ["receipts", "models", "receipts"]


def test_the_last_view_after_going_back_is_the_one_that_was_left() -> None:
    history = been_to("runs", "receipts", "models")
    history.move(-2)
    assert screen(history.swap()) == "models"


def test_a_view_comes_back_as_it_was_kept() -> None:
    history = been_to("runs")
    left = ViewState("runs", filter="is:live", selected="ex_1", is_open=True)
    history.keep(left)
    history.go(ViewState("receipts"))
    assert history.move(-1) == left


def test_the_same_screen_again_is_no_further_view() -> None:
    history = been_to("runs", "runs")
    assert not history.has_earlier


@given(st.lists(st.sampled_from(["runs", "receipts", "models", "back", "forward", "last"]), max_size=3 * MAX_VIEWS))
def test_there_is_always_a_present_view_and_never_too_many(steps: list[str]) -> None:
    history = been_to("runs")
    for step in steps:
        before = history.present
        if step == "back":
            found = history.move(-1)
        elif step == "forward":
            found = history.move(1)
        elif step == "last":
            found = history.swap()
        else:
            history.go(ViewState(step))
            found = ViewState(step)
        assert history.present == (found or before)
    earlier = 0
    while history.move(-1) is not None:
        earlier += 1
    assert earlier < MAX_VIEWS


def test_the_oldest_views_go_first() -> None:
    history = ViewHistory()
    for number in range(3 * MAX_VIEWS):
        history.go(ViewState(f"screen{number}"))
    assert screen(history.swap()) == f"screen{3 * MAX_VIEWS - 2}"
    assert screen(history.move(2 - MAX_VIEWS)) == f"screen{2 * MAX_VIEWS}"
    assert history.move(-1) is None


def is_followed(history: ViewHistory) -> bool:
    """Whether the view before led to the current one."""
    return history.is_followed


def test_a_view_that_the_user_named_is_a_root_and_one_that_was_followed_leads_back() -> None:
    history = been_to("overview", "runs")
    assert is_followed(history)
    history.go(ViewState("receipts"), is_root=True)
    assert not is_followed(history)
    history.go(ViewState("runs"))
    assert is_followed(history)
    history.go(ViewState("runs"), is_root=True)
    assert not is_followed(history)
    history.move(-2)
    assert is_followed(history)
    history.move(-1)
    assert not is_followed(history)
