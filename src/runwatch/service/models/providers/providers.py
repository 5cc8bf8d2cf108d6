"""Calls to model providers: requests of all wire formats, and what their responses mean.

A call is sent once, without streaming or retry, and only what a run needs is read from the response.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

from runwatch import __version__
from runwatch.base.clock import Clock
from runwatch.base.json import encode_body, loads
from runwatch.base.network.retry_after import parse_retry_after
from runwatch.records.source import PROTOCOLS
from runwatch.service.address_policy import AddressPolicy
from runwatch.service.models.providers.error_kinds import (
    clean_media_type,
    find_body_kind,
    kind_from_code,
    kind_from_outbound,
    kind_from_status,
    provider_message,
)
from runwatch.service.models.providers.json_reading import finish, member, name, unusable
from runwatch.service.models.providers.message import build_message
from runwatch.service.models.providers.model_list import find_name, named_model, served_models, suggest_names
from runwatch.service.models.providers.sample_provider import SampleProvider, is_sample
from runwatch.service.models.providers.types import (
    Generation,
    Prompt,
    ProviderAddress,
    ProviderError,
    ServedModel,
    ServedModels,
)
from runwatch.service.models.providers.wire_format import WireFormat
from runwatch.service.outbound import OutboundClient, OutboundError, OutboundResponse

ANSWER_BYTES: Final = 8 * 1024 * 1024
"""Largest response to read, in bytes."""

LIST_TIMEOUT_S: Final = 20.0
"""Seconds until the last byte of a model list."""

LIST_PAGES: Final = 20
"""Most pages of a model list to read."""

TEST_TIMEOUT_S: Final = 25.0
"""Seconds until the last byte of a test call; shorter than clients wait for the test."""

TEST_OBJECTIVE: Final = "Reply with OK."

TEST_OUTPUT_TOKENS: Final = 16
"""Output limit of a test call: the smallest that every protocol accepts."""

TESTS_S: Final = 100.0
"""Seconds for all calls of one test; shorter than the console waits for an answer."""

TESTS_AT_ONCE: Final = 4
"""Most models that a test calls at the same time: small servers drop or mix up more."""

_NO_LIST: Final = (
    "model_not_found", "request_refused", "invalid_response", "response_too_large", "source_5xx", "source_timeout",
)  # fmt: skip
"""Failures of a list call that mean that the server has no usable list."""

_SUGGESTED: Final = ("model_not_found", "request_refused")
"""Failures of a test call that a wrong model name can cause."""

_VERSIONED: Final = re.compile(r"/v\d\w*(?:/|$)")


_T = TypeVar("_T")


WIRE_FORMATS: Final[dict[str, WireFormat]] = {
    name: import_module(f"runwatch.service.models.providers.{name}").PROTOCOL for name in PROTOCOLS
}
"""The wire format of each protocol."""


class Providers:
    """Caller of providers, the sample source among them; one per service.

    Args:
        reach_of: Addresses allowed for the model servers of an organization, by its id.
    """

    def __init__(self, outbound: OutboundClient, clock: Clock, reach_of: Callable[[str], AddressPolicy]) -> None:
        self._outbound: Final = outbound
        self._clock: Final = clock
        self._reach_of: Final = reach_of
        self._sample: Final = SampleProvider(clock)

    async def find_models(self, address: ProviderAddress, named: Sequence[str] = ()) -> ServedModels:
        """Return what a provider serves, and the base URL that works.

        With ``named`` models, which were tested before, the provider needs no list. A base URL without a model list
        whose path does not end in ``/v1`` is retried with ``/v1``, because users give both forms of server address; the
        connection keeps the one that works.

        Raises:
            ProviderError: It refused or did not respond, or has no list and no model is named.
        """
        if is_sample(address.base_url):
            return self._sample.models(address)
        if not named:
            return (await _found_below(address, self._listed))[1]
        try:
            found = await self._listed(address)
        except ProviderError as error:
            if error.kind not in _NO_LIST:
                raise
            found = ServedModels(address.base_url, [], list_failure=error)
        return _with_named(address, found, named)

    async def test_models(
        self, address: ProviderAddress, names: Sequence[str], known: Sequence[str] = ()
    ) -> ServedModels:
        """Call each named model once with a minimal message, and find out what else the provider serves.

        The base URL is tried as in :meth:`find_models`. A model that responds is accepted even if it is not listed,
        because gateways have aliases. ``known`` models were tested before and are not called again. If some models
        answer and others do not, the result names those that failed.

        Raises:
            ProviderError: No usable response from any; ``suggestions`` names listed models if the name may be wrong.
        """
        if is_sample(address.base_url):
            return self._sample.models(address)
        try:
            base_url, failed = await _found_below(address, lambda at: self._call_each(at, names))
        except ProviderError as error:
            if error.kind in _SUGGESTED:
                with contextlib.suppress(ProviderError):
                    _suggest(error, (await self.find_models(address)).models)
            raise
        try:
            listed = await self._listed(replace(address, base_url=base_url))
        except ProviderError as error:
            listed = ServedModels(base_url, [], list_failure=error)
        for failure in failed.values():
            _suggest(failure, listed.models)
        answered = [name for name in names if name not in failed]
        called = tuple(_listed_names(answered, {model.upstream_ref for model in listed.models}))
        return replace(_with_named(address, listed, [*known, *answered]), called=called, failed=failed)

    async def _call_each(self, address: ProviderAddress, names: Sequence[str]) -> dict[str, ProviderError]:
        """Call models once each, a few at once; return the failures if any model answers, and raise the first one if
        none does.
        """
        slots, clock = asyncio.Semaphore(TESTS_AT_ONCE), asyncio.get_running_loop().time
        ends = clock() + TESTS_S

        async def call(name: str) -> Generation:
            async with slots:
                limit = max(min(TEST_TIMEOUT_S, ends - clock()), 1.0)
                prompt = Prompt(name, TEST_OBJECTIVE, limit, max_output_tokens=TEST_OUTPUT_TOKENS)
                return await self.generate(address, prompt)

        found = await asyncio.gather(*map(call, names), return_exceptions=True)
        answers = dict(zip(names, found, strict=True))
        failed: dict[str, ProviderError] = {}
        for model, answer in answers.items():
            if isinstance(answer, ProviderError):
                answer.models = tuple(name for name, other in answers.items() if _is_same_failure(answer, other))
                failed[model] = answer
            elif isinstance(answer, BaseException):
                raise answer
        if len(failed) == len(answers):
            raise next(iter(failed.values()))
        return failed

    async def generate(self, address: ProviderAddress, prompt: Prompt) -> Generation:
        """Have a model answer one message. Raises ProviderError without a usable response."""
        if is_sample(address.base_url):
            return await self._sample.generate(address, prompt)
        protocol = WIRE_FORMATS[address.protocol_profile]
        message = build_message(prompt.objective, prompt.inputs)
        response = await self._send(
            address,
            "POST",
            protocol.path,
            timeout_s=prompt.timeout_s,
            body=encode_body(protocol.body(prompt.model, message, prompt.max_output_tokens)),
        )
        with _described(response, address):
            return _read(protocol, address, _decoded(response), message)

    async def _listed(self, address: ProviderAddress) -> ServedModels:
        protocol = WIRE_FORMATS[address.protocol_profile]
        found: dict[str, ServedModel] = {}
        left_out: list[str] = []
        query = protocol.list_query
        for _ in range(LIST_PAGES):
            response = await self._send(address, "GET", f"models{query}", timeout_s=LIST_TIMEOUT_S)
            with _described(response, address):
                answer = _decoded(response)
                models, others = served_models(answer, address.publisher)
            for model in models:
                found.setdefault(model.upstream_ref, model)
            left_out += others
            last = name(member(answer, "last_id"))
            if not protocol.pages_by or last is None or member(answer, "has_more") is not True:
                break
            query = f"{protocol.list_query}&{protocol.pages_by}={quote(last, safe='')}"
        unlisted = dict.fromkeys(other for other in left_out if other not in found)
        return ServedModels(address.base_url, list(found.values()), left_out=tuple(unlisted))

    async def _send(
        self,
        address: ProviderAddress,
        method: str,
        path: str,
        *,
        timeout_s: float,
        body: bytes | None = None,
    ) -> OutboundResponse:
        """Send a request and return a response with a success status."""
        protocol = WIRE_FORMATS[address.protocol_profile]
        headers = {"Accept": "application/json", "User-Agent": f"runwatch/{__version__}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        headers |= protocol.headers(_key_of(address))
        try:
            answer = await self._outbound.send(
                method,
                f"{address.base_url.rstrip('/')}/{path}",
                reach=self._reach_of(address.tenant_id),
                timeout_s=timeout_s,
                headers=headers,
                body=body,
                limit_bytes=ANSWER_BYTES,
            )
        except OutboundError as error:
            kind = kind_from_outbound(error)
            raise ProviderError(kind, was_sent=error.was_sent, is_deadline=kind == "timeout") from None
        if 200 <= answer.status < 300:
            return answer
        decoded = _decoded(answer)
        raise ProviderError(
            kind_from_status(answer.status, decoded),
            was_sent=True,
            http_status=answer.status,
            spent=protocol.spent(decoded) if isinstance(decoded, Mapping) else None,
            message=provider_message(decoded, answer.content, _key_of(address)),
            retry_after_s=parse_retry_after(answer.retry_after, self._clock.now()),
        )


def _read(protocol: WireFormat, address: ProviderAddress, answer: Any, message: str) -> Generation:
    if not isinstance(answer, Mapping):
        raise unusable()
    if error := protocol.error(answer):
        kind = kind_from_code(error) or "invalid_response"
        said = provider_message({**answer, "error": error}, b"", _key_of(address), names_code=True)
        raise ProviderError(kind, was_sent=True, spent=protocol.spent(answer), message=said)
    try:
        text = protocol.text(answer)
    except ProviderError as failure:
        failure.spent = protocol.spent(answer)
        raise
    ended = finish(protocol.finish(answer), text)
    return replace(protocol.spent(answer), text=text, input_characters=len(message), finish_reason=ended)


async def _found_below(address: ProviderAddress, ask: Callable[[ProviderAddress], Awaitable[_T]]) -> tuple[str, _T]:
    """Ask a provider at its base URL, or the same with ``/v1``; return the URL that works and the response."""
    base_url = address.base_url.rstrip("/")
    try:
        return base_url, await ask(replace(address, base_url=base_url))
    except ProviderError as error:
        # A server with a web page at the root responds with that page and 200.
        is_elsewhere = error.http_status in {404, 405} or error.kind == "invalid_response"
        if not is_elsewhere or _VERSIONED.search(urlsplit(base_url).path):
            raise
    base_url = f"{base_url}/v1"
    return base_url, await ask(replace(address, base_url=base_url))


def _suggest(error: ProviderError, listed: Sequence[ServedModel]) -> None:
    """Add listed names to a failure that the first unlisted name may have caused."""
    known = [model.upstream_ref for model in listed]
    wrong = next((asked for asked in error.models if find_name(asked, known) is None), None)
    if error.kind in _SUGGESTED and wrong is not None:
        error.suggestions = suggest_names(wrong, known)


def _is_same_failure(failure: ProviderError, answer: object) -> bool:
    return isinstance(answer, ProviderError) and (answer.kind, answer.http_status) == (
        failure.kind,
        failure.http_status,
    )


def _with_named(address: ProviderAddress, listed: ServedModels, names: Sequence[str]) -> ServedModels:
    known = {model.upstream_ref for model in listed.models}
    named = tuple(_listed_names(names, known))
    added = [named_model(asked, address.publisher) for asked in named if asked not in known]
    left_out = tuple(other for other in listed.left_out if other not in named)
    unlisted = tuple(
        asked for asked in named if listed.list_failure is None and asked not in known and asked not in listed.left_out
    )
    return replace(listed, models=[*listed.models, *added], named=named, left_out=left_out, unlisted=unlisted)


def _listed_names(names: Sequence[str], listed: Collection[str]) -> dict[str, None]:
    return dict.fromkeys(find_name(asked, listed) or asked for asked in names)


def _key_of(address: ProviderAddress) -> str | None:
    """Return the key as sent, or ``None`` for a server that needs none.

    Raises ProviderError if the key is missing or cannot be sent in a header; nothing was sent.
    """
    if address.auth_scheme == "none":
        return None
    key = address.secret.reveal().strip() if address.secret is not None else ""
    if not key or not key.isascii() or not key.isprintable():
        raise ProviderError("authentication", was_sent=False)
    return key


@contextlib.contextmanager
def _described(response: OutboundResponse, address: ProviderAddress) -> Iterator[None]:
    """Add what came to the failure of a response that does not have its protocol's shape."""
    try:
        yield
    except ProviderError as failure:
        if failure.kind == "invalid_response":
            failure.content_type = clean_media_type(response.content_type, _key_of(address))
            failure.body_kind = find_body_kind(response.content, failure.content_type)
        raise


def _decoded(answer: OutboundResponse) -> Any:
    try:
        return loads(answer.content)
    except ValueError:
        return None
