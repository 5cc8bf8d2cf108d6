"""``webhooks create|rotate|deliveries|replay``."""

from __future__ import annotations

from tests.commands.here import Here
from tests.support import resources
from tests.support.builders import problem
from tests.support.scripted import Said, ScriptedService

SECRET = "whsec_sentinel_4711"
DELIVERIES = "/v1/webhooks/wh_01/deliveries"


def test_a_webhook_is_added_and_its_secret_shown_this_once(runwatch: Here, service: ScriptedService) -> None:
    service.say("POST", "/v1/webhooks", Said(200, resources.webhook(secret=SECRET)))
    made = runwatch("webhooks", "create", "--url", "https://hooks.example.test/runs", "--event", "execution.failed")
    assert made.code == 0
    assert SECRET in made.text
    assert "shown only once" in made.errors
    (sent,) = service.requests("POST", "/v1/webhooks")
    assert b'"event_types": ["execution.failed"]' in sent.body.replace(b'":["', b'": ["')
    assert sent.head.header("idempotency-key")


def test_a_webhook_without_address_and_events_is_not_sent(runwatch: Here, service: ScriptedService) -> None:
    refused = runwatch("webhooks", "create", code=2)
    assert "--url" in refused.errors
    assert "--event" in refused.errors
    assert not service.requests("POST")


def test_another_secret_is_shown_and_one_that_is_not_is_reported(runwatch: Here, service: ScriptedService) -> None:
    path = "/v1/webhooks/wh_01/rotate-secret"
    service.say("POST", path, Said(200, resources.webhook(secret=SECRET)))
    assert SECRET in runwatch("webhooks", "rotate", "wh_01").text
    service.say("POST", path, Said(200, resources.webhook(secret_withheld=True)))
    assert "did not show the secret" in runwatch("webhooks", "rotate", "wh_01").errors


def test_deliveries_are_read_to_their_end(runwatch: Here, service: ScriptedService) -> None:
    first, second = (dict(resources.delivery(name).raw) for name in ("dlv_01", "dlv_02"))
    pages = ({"deliveries": [first], "next_cursor": "c"}, {"deliveries": [second], "next_cursor": None})
    service.say("GET", DELIVERIES, *(Said(200, page) for page in pages))
    assert runwatch("webhooks", "deliveries", "wh_01", "--json").json == [first, second]


def test_deliveries_of_one_status_alone(runwatch: Here, service: ScriptedService) -> None:
    failed = dict(resources.delivery("dlv_02", status="failed", status_code=500).raw)
    both = [dict(resources.delivery().raw), failed]
    service.say("GET", DELIVERIES, Said(200, {"deliveries": both, "next_cursor": None}))
    assert runwatch("webhooks", "deliveries", "wh_01", "--status", "failed", "--json").json == [failed]
    assert "500" in runwatch("webhooks", "deliveries", "wh_01").text


def test_a_delivery_is_made_again(runwatch: Here, service: ScriptedService) -> None:
    path = "/v1/webhooks/deliveries/dlv_01/replay"
    service.say("POST", path, Said(200, resources.delivery("dlv_09", status="pending", replay_of="dlv_01")))
    again = runwatch("webhooks", "replay", "dlv_01", "--json")
    assert again.json["replay_of"] == "dlv_01"
    assert "secret" not in again.errors
    service.say("POST", path, Said(409, problem("invalid_state")))
    assert runwatch("webhooks", "replay", "dlv_01").code == 1


def test_a_webhook_is_removed_after_a_yes(runwatch: Here, service: ScriptedService) -> None:
    gone = {"webhook_id": "wh_01", "status": "removed", "removed_at": "2026-11-01T00:00:00Z", "effects": {}}
    service.say("DELETE", "/v1/webhooks/wh_01", Said(200, gone))
    assert runwatch("webhooks", "remove", "wh_01").code == 2
    assert not service.requests("DELETE")
    removed = runwatch("webhooks", "remove", "wh_01", "--yes", "--json", code=0)
    assert removed.json == [{"webhook_id": "wh_01", "outcome": "removed", "status": "removed"}]
    assert service.requests("DELETE")[0].head.header("idempotency-key")
