"""The way back and forth between views."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runwatch.settings.session import View
from runwatch.tui.history import MOST, History


def been_to(*screens: str) -> History:
    """A history of some screens, in order."""
    history = History()
    for screen in screens:
        history.go(View(screen))
    return history


def screen(view: View | None) -> str:
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
    history.go(View("arms"))
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
    left = View("runs", filter="is:live", selected="ex_1", is_open=True)
    history.keep(left)
    history.go(View("receipts"))
    assert history.move(-1) == left


def test_the_same_screen_again_is_no_further_view() -> None:
    history = been_to("runs", "runs")
    assert not history.has_earlier


@given(st.lists(st.sampled_from(["runs", "receipts", "models", "back", "forward", "last"]), max_size=3 * MOST))
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
            history.go(View(step))
            found = View(step)
        assert history.present == (found or before)
    earlier = 0
    while history.move(-1) is not None:
        earlier += 1
    assert earlier < MOST


def test_the_oldest_views_go_first() -> None:
    history = History()
    for number in range(3 * MOST):
        history.go(View(f"screen{number}"))
    assert screen(history.swap()) == f"screen{3 * MOST - 2}"
    assert screen(history.move(2 - MOST)) == f"screen{2 * MOST}"
    assert history.move(-1) is None


def test_a_root_stands_before_everything_and_what_was_in_front_lies_ahead() -> None:
    history = History()
    history.go(View("runs"))
    history.begin_with(View("overview"))
    assert screen(history.present) == "overview"
    assert not history.has_earlier
    assert screen(history.swap()) == "runs"
    assert screen(history.swap()) == "overview"
    assert screen(history.move(1)) == "runs"


def test_a_root_takes_the_place_of_the_newest_view_where_there_are_most() -> None:
    history = History()
    for number in range(MOST):
        history.go(View(f"screen{number}"))
    while history.move(-1) is not None:
        pass
    history.begin_with(View("overview"))
    assert screen(history.move(MOST - 1)) == f"screen{MOST - 2}"
    assert history.move(1) is None
