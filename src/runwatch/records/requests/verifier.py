"""Bodies that register and change an output check (manual: interface, "Verifiers")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from runwatch.records.requests.body import Label, OpenBody, unique
from runwatch.records.requests.run import DataClasses

URL_CHARACTERS: Final = 2000
VERSION_CHARACTERS: Final = 100
REFERENCE_CHARACTERS: Final = 256
"""Maximum lengths of address, version and credential reference. Not in the specification."""

_FIXED: Final = ("kind", "input_data_classes", "scoring")
_SECRET_MEMBERS: Final = frozenset(
    {"secret", "key", "api_key", "endpoint_key", "token", "password", "bearer", "authorization", "credential"}
)


def is_endpoint_url(value: str) -> bool:
    """Return whether a text is an absolute URL with a host, in ASCII, without user info and fragment.

    Any scheme passes: a check without https is registered, and its probe reports ``scheme_rejected`` (manual:
    interface, "Probing a check").
    """
    try:
        parts = urlsplit(value)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    is_clean = value.isascii() and value.isprintable() and " " not in value
    return bool(parts.scheme) and has_host and is_clean and "@" not in parts.netloc and "#" not in value


class _SecretFreeBody(OpenBody):
    """A body without a member named like a secret: the endpoint key is never sent (manual: interface, "Endpoints")."""

    @model_validator(mode="before")
    @classmethod
    def _holds_no_secret(cls, body: Any) -> Any:
        if isinstance(body, Mapping) and any(str(name).lower() in _SECRET_MEMBERS for name in body):
            raise ValueError("a key is never sent here: it is typed on the private page of a connection intent")
        return body


class EndpointRequest(_SecretFreeBody):
    """Address of a check.

    Attributes:
        auth_ref: A credential reference; empty if the endpoint is public or gets a protected key later. It is stored
            and shown; the service sends only the protected key.
    """

    url: Annotated[str, Field(min_length=1, max_length=URL_CHARACTERS)]
    auth_ref: Annotated[str, Field(max_length=REFERENCE_CHARACTERS)] = ""

    @field_validator("url")
    @classmethod
    def _url_is_absolute(cls, value: str) -> str:
        if not is_endpoint_url(value):
            raise ValueError("must be an absolute URL in ASCII, with neither user info nor a fragment")
        return value


class ScoringRequest(OpenBody):
    """How the check scores; there is one way."""

    correctness: Literal["boolean_anchors"]
    quality: Literal["scalar_0_1"]


class DeclarationRequest(OpenBody):
    """The declaration that the check gives the same verdict for the same output."""

    method: Literal["deterministic"]


class VerifierRequest(_SecretFreeBody):
    """The body of ``POST /v1/verifiers``."""

    display_name: Label
    version: Annotated[str, Field(min_length=1, max_length=VERSION_CHARACTERS)]
    kind: Literal["endpoint"]
    endpoint: EndpointRequest
    input_data_classes: Annotated[DataClasses, unique("each data class may be named once")]
    scoring: ScoringRequest
    correctness_declaration: DeclarationRequest | None = None


class VerifierPatch(_SecretFreeBody):
    """The body of ``PATCH /v1/verifiers/{verifier_id}``: missing members stay, a null declaration is withdrawn."""

    display_name: Label = ""
    version: Annotated[str, Field(min_length=1, max_length=VERSION_CHARACTERS)] = ""
    endpoint: EndpointRequest | None = None
    correctness_declaration: DeclarationRequest | None = None

    @model_validator(mode="before")
    @classmethod
    def _changes_what_can_change(cls, body: Any) -> Any:
        if isinstance(body, Mapping):
            fixed = [name for name in _FIXED if name in body]
            if fixed:
                raise ValueError(f"{' and '.join(fixed)} cannot be changed: register another check")
        return body

    @field_validator("endpoint")
    @classmethod
    def _endpoint_is_one(cls, value: EndpointRequest | None) -> EndpointRequest:
        if value is None:
            raise ValueError("must be an object")
        return value
