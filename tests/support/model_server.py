"""A model server on loopback that speaks the three wire forms and says what a test wrote down.

::

    server = ModelServer(models=("tiny-1",), key="sk-test")
    server.answer("First answer.", "Second answer.")       # the last one for ever
    server.say("POST", ".*", Said(429, b"{}"))             # word for word, for ever; HANG, DROP and CUT are faults
    async with server:
        ...                                                # call server.base_url, which ends in /v1
        assert server.prompts == ["Say hello."]

``chat/completions``, ``responses``, ``messages`` and ``models`` are below the prefix; everything else is a 404. Keys
come as ``Authorization: Bearer`` or ``x-api-key``. Tests without an event loop use :func:`running_model_server`.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.support.http1 import Head, read_body, read_head
from tests.support.listening import Listening
from tests.support.scripted import Heard, Said
from tests.support.threads import in_thread

Json = dict[str, Any]


class Fault(enum.Enum):
    """What can become of a request instead of an answer."""

    HANG = "it is read, and nothing ever comes back"
    DROP = "it is read, and the connection is closed"
    CUT = "the answer stops in the middle of its body"


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that are sent instead of a whole answer.

    Attributes:
        wire: What is sent.
        is_open: Whether the connection stays open and silent afterwards; otherwise it is closed.
    """

    wire: bytes
    is_open: bool = False


HANG: Final = Fault.HANG
DROP: Final = Fault.DROP
CUT: Final = Fault.CUT


class ModelServer(Listening):
    """The server.

    Args:
        models: Names of the models that it lists and takes calls for; whole entries of the list may stand for names.
        key: The key that it wants; ``None`` when anybody may call.
        usage: Tokens in and out that it reports for every call; ``None`` to report none.
        cost_usd: What it says a call costs, as a JSON number; ``None`` to say nothing.
        prefix: The path below which it answers.
        page_size: Models a page of the list; ``None`` for one page, as the OpenAI form has it.
        has_list: Whether it has a list of models; servers made for tests often have none.
        takes_any_model: Whether it answers calls of models that it does not serve, under the name that was asked for.

    Attributes:
        heard: Every request, in order.
    """

    def __init__(
        self,
        *,
        models: Sequence[str | Json] = ("tiny-1",),
        key: str | None = None,
        usage: tuple[int, int] | None = (12, 5),
        cost_usd: float | None = None,
        prefix: str = "/v1",
        page_size: int | None = None,
        has_list: bool = True,
        takes_any_model: bool = False,
    ) -> None:
        super().__init__()
        self.heard: list[Heard] = []
        self.models = [{"id": model} if isinstance(model, str) else model for model in models]
        self._key = key
        self._usage = usage
        self._cost_usd = cost_usd
        self._prefix = prefix
        self._page_size = page_size
        self._has_list = has_list
        self._takes_any_model = takes_any_model
        self._texts: deque[str] = deque()
        self._said: list[tuple[str, re.Pattern[str], deque[Said | Fault | Raw]]] = []
        self._news = asyncio.Condition()

    @property
    def base_url(self) -> str:
        """What the paths of the protocols are appended to."""
        return f"{self.origin}{self._prefix}"

    @property
    def bodies(self) -> list[Json]:
        """The bodies of all calls of models, in order."""
        return [json.loads(heard.body) for heard in self.heard if heard.head.method == "POST"]

    @property
    def prompts(self) -> list[str]:
        """The messages of all calls of models, in order."""
        return [(body.get("messages") or body["input"])[0]["content"] for body in self.bodies]

    def answer(self, *texts: str) -> None:
        """Put out these texts, one a call, the last one for ever; without any the server repeats the message."""
        self._texts = deque(texts)

    def say(self, method: str, path: str, *answers: Said | Fault | Raw) -> None:
        """Meet requests with this method whose path below the origin matches with these, the last one for ever."""
        self._said.insert(0, (method, re.compile(path), deque(answers)))

    async def until_heard(self, count: int = 1) -> None:
        """Wait until the server has read this many requests."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.heard) >= count)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (head := await read_head(reader)) is not None:
            heard = Heard(head, await read_body(reader, head))
            async with self._news:
                self.heard.append(heard)
                self._news.notify_all()
            said = self._answer(heard)
            if said is HANG:
                await asyncio.Event().wait()
            writer.write(_wire_of(said) if isinstance(said, (Said, Raw)) else self._remains(said, heard))
            await writer.drain()
            if isinstance(said, Raw) and said.is_open:
                await asyncio.Event().wait()
            if isinstance(said, (Fault, Raw)) or (head.header("connection") or "").lower() == "close":
                break

    def _remains(self, fault: Fault, heard: Heard) -> bytes:
        """What is sent before the connection is closed."""
        return self._operation(heard).wire()[:-1] if fault is CUT else b""

    def _answer(self, heard: Heard) -> Said | Fault | Raw:
        head = heard.head
        for method, path, answers in self._said:
            if method in {"*", head.method} and path.fullmatch(head.path):
                return answers.popleft() if len(answers) > 1 else answers[0]
        return self._operation(heard)

    def _operation(self, heard: Heard) -> Said:
        head = heard.head
        if not head.path.startswith(f"{self._prefix}/"):
            return _error(404, "not_found_error")
        if self._key not in {None, head.header("x-api-key"), (head.header("authorization") or "").partition(" ")[2]}:
            return _error(401, "authentication_error")
        match head.method, head.path.removeprefix(f"{self._prefix}/"):
            case "GET", "models" if self._has_list:
                return Said(200, self._page(head))
            case "POST", "chat/completions" | "responses" | "messages" as form:
                return self._generated(_FORMS[form], json.loads(heard.body))
        return _error(404, "not_found_error")

    def _page(self, head: Head) -> Json:
        listed = {"object": "list", "data": self.models}
        if self._page_size is None:
            return listed
        ids = [model["id"] for model in self.models]
        after = head.query.get("after_id")
        start = 0 if after is None else ids.index(after) + 1
        page = self.models[start : start + self._page_size]
        return {"data": page, "last_id": page[-1]["id"], "has_more": start + len(page) < len(ids)}

    def _generated(self, form: Callable[[str, str, Json], Json], body: Json) -> Said:
        model = body["model"]
        is_served = model in {entry["id"] for entry in self.models}
        if not is_served and not self._takes_any_model:
            return _error(404, "not_found_error")
        message = (body.get("messages") or body["input"])[0]["content"]
        text = f"You said: {message}"
        if self._texts:
            text = self._texts.popleft() if len(self._texts) > 1 else self._texts[0]
        answer = form(f"{model}-resolved" if is_served else model, text, self._reported(form))
        return Said(200, answer | {"id": f"call_{len(self.bodies)}"})

    def _reported(self, form: Callable[[str, str, Json], Json]) -> Json:
        usage: Json = {}
        if self._usage is not None:
            names = ("prompt_tokens", "completion_tokens") if form is _chat else ("input_tokens", "output_tokens")
            usage = dict(zip(names, self._usage, strict=True))
        if self._cost_usd is not None:
            usage["cost"] = self._cost_usd
        return {"usage": usage} if usage else {}


def _wire_of(said: Said | Raw) -> bytes:
    return said.wire if isinstance(said, Raw) else said.wire()


def _chat(model: str, text: str, usage: Json) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"object": "chat.completion", "model": model, "choices": [choice], **usage}


def _responses(model: str, text: str, usage: Json) -> Json:
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]},
    ]
    return {"object": "response", "model": model, "status": "completed", "error": None, "output": output, **usage}


def _messages(model: str, text: str, usage: Json) -> Json:
    content = [{"type": "text", "text": text}]
    return {"type": "message", "role": "assistant", "model": model, "content": content, **usage}


_FORMS: Final[dict[str, Callable[[str, str, Json], Json]]] = {
    "chat/completions": _chat, "responses": _responses, "messages": _messages,
}  # fmt: skip


def _error(status: int, kind: str) -> Said:
    return Said(status, {"error": {"type": kind, "message": "no"}}, content_type="application/json")


@contextlib.contextmanager
def running_model_server(server: ModelServer) -> Iterator[ModelServer]:
    """The server, served by its own thread while the block runs."""
    with in_thread(server) as (entered, _):
        yield entered
