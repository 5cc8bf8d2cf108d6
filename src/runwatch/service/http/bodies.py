"""Bodies of requests: decoded from bytes, then parsed as the model of their endpoint."""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from runwatch.base.json import DuplicateMemberError, loads_strict
from runwatch.records.misplaced_secrets import find_secrets_in_body
from runwatch.records.requests.body import field_errors
from runwatch.service.errors import RefusalError, make_validation_error
from runwatch.service.http.html_pages import FORM_TYPE, read_form
from runwatch.service.http.idempotency import hash_body
from runwatch.service.http.responses import JSON_TYPE

Body = TypeVar("Body", bound=BaseModel)

_PLAIN_BODIES: Final = (("Accept-Encoding", "identity"),)


def decode_body(
    body: bytes, request: Request, *, is_required: bool, takes_form: bool = False, takes_digest: bool = True
) -> tuple[Any, str]:
    """Decode the JSON value of a request body and its digest; with ``takes_form`` also the fields of an HTML form.

    Runs on any thread. Without ``takes_digest`` the digest is empty. Refuses with ``unsupported_media_type`` when the
    body is compressed or not declared as JSON, ``validation_failed`` when it is not JSON, has duplicate members or a
    misplaced secret, or is missing where required.
    """
    if body and any(encoding.strip().lower() != "identity" for encoding in request.headers.getlist("content-encoding")):
        raise RefusalError("unsupported_media_type", "Send the body without a Content-Encoding.", headers=_PLAIN_BODIES)
    if takes_form and is_form(request):
        # A form without inputs, such as a page that only asks for confirmation, is sent without a body.
        return read_form(body) if body else {}, ""
    if not body:
        if is_required:
            raise make_validation_error(("body", "Required."))
        return None, ""
    if _media_type(request) != JSON_TYPE:
        raise RefusalError("unsupported_media_type", f"Send the body as {JSON_TYPE}{' or as a form' * takes_form}.")
    try:
        value = loads_strict(body)
        # A private page is where a secret belongs.
        if not takes_form and (found := find_secrets_in_body(value)):
            raise make_validation_error(*((entry["field"], entry["message"]) for entry in found))
        return value, hash_body(value) if takes_digest else ""
    except DuplicateMemberError as error:
        raise make_validation_error(
            ("body", "Each member of an object may appear only once."), cause=str(error)
        ) from None
    except ValueError as error:
        raise make_validation_error(("body", "Must be one JSON value in UTF-8."), cause=str(error)) from None


def parse_body(model: type[Body], content: Any) -> Body:
    """Parse the decoded body of a request; a missing body counts as an empty object.

    Refuses with ``validation_failed``, with one entry per field.
    """
    try:
        return model.model_validate({} if content is None else content)
    except ValidationError as error:
        raise make_validation_error(*((entry["field"], entry["message"]) for entry in field_errors(error))) from None


def is_form(request: Request) -> bool:
    return _media_type(request) == FORM_TYPE


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
