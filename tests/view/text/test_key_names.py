"""Sentences name the keys that hold now."""

from __future__ import annotations

from runwatch.view.text.key_names import insert_keys


def test_ids_of_actions_become_their_keys_and_everything_else_stays() -> None:
    keys = {"screen.copy": "y", "tail.next_match": "{n}"}
    said = insert_keys("{screen.copy} copies {id}, {tail.next_match} goes on, {} and {screen} stay", keys.__getitem__)
    assert said == "y copies {id}, {n} goes on, {} and {screen} stay"
