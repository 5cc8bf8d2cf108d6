"""The model server in a thread, for tests without an event loop."""

from __future__ import annotations

import httpx
import pytest

from tests.support.model_server import CUT, DROP, ModelServer, running_model_server
from tests.support.scripted import Said

BODY = {"model": "tiny-1", "messages": [{"role": "user", "content": "Hi."}]}


def ask(server: ModelServer, method: str, path: str, key: str = "sk") -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"}
    url = f"{server.origin}{path}"
    return httpx.request(
        method, url, json=BODY if method == "POST" else None, headers=headers, timeout=60, trust_env=False
    )


def test_it_answers_from_its_thread_and_keeps_what_it_heard() -> None:
    with running_model_server(ModelServer(key="sk")) as server:
        assert ask(server, "GET", "/v1/models").json()["data"] == [{"id": "tiny-1"}]
        answer = ask(server, "POST", "/v1/chat/completions").json()
        assert answer["choices"][0]["message"]["content"] == "You said: Hi."
        assert server.prompts == ["Hi."]
        assert len(server.heard) == 2


def test_it_refuses_keys_paths_and_models_that_it_does_not_know() -> None:
    with running_model_server(ModelServer(models=("other",), key="sk")) as server:
        assert ask(server, "GET", "/v1/models", key="no").status_code == 401
        assert ask(server, "GET", "/models").status_code == 404
        assert ask(server, "GET", "/v1/files").status_code == 404
        assert ask(server, "POST", "/v1/messages").status_code == 404


def test_texts_and_answers_follow_the_script() -> None:
    with running_model_server(ModelServer()) as server:
        server.answer("one", "two")
        texts = [ask(server, "POST", "/v1/messages").json()["content"][0]["text"] for _ in range(3)]
        assert texts == ["one", "two", "two"]
        server.say("POST", "/v1/messages", Said(429, {}), Said(503, {}))
        assert [ask(server, "POST", "/v1/messages").status_code for _ in range(3)] == [429, 503, 503]


def test_faults_close_the_connection_before_or_within_the_answer() -> None:
    with running_model_server(ModelServer()) as server:
        server.say("POST", ".*", DROP, CUT)
        for _ in range(2):
            with pytest.raises(httpx.RemoteProtocolError):
                ask(server, "POST", "/v1/messages")
        assert len(server.heard) == 2
