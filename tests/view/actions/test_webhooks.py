"""Actions on webhooks."""

from __future__ import annotations

from runwatch.view.actions.webhooks import ADD_WEBHOOK


def test_a_new_webhook_is_not_said_to_be_told_of_ends_that_are_not_among_its_events() -> None:
    assert ADD_WEBHOOK.mutation is not None
    sentence = ADD_WEBHOOK.mutation.sentence(None)
    assert sentence.startswith("Notifies this address of each run that ends in one of these events.")
