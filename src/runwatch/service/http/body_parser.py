"""Parse request bodies to their models."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from runwatch.records.references import find_secret_references
from runwatch.records.requests import field_errors
from runwatch.service.errors import make_validation_error

Body = TypeVar("Body", bound=BaseModel)


def parse_body(model: type[Body], content: Any) -> Body:
    """Parse the decoded body of a request; a missing body counts as an empty object.

    Raises:
        RefusalError: ``validation_failed``, with one entry per field.
    """
    try:
        return model.model_validate({} if content is None else content)
    except ValidationError as error:
        raise make_validation_error(*((entry["field"], entry["message"]) for entry in field_errors(error))) from None


def refuse_secret_references(content: Any) -> None:
    """Refuse a decoded body with a secret in place of a reference, before any of it is stored.

    Raises:
        RefusalError: ``validation_failed``, with one entry per field and no part of the secret.
    """
    found = find_secret_references(content)
    if found:
        raise make_validation_error(*((entry["field"], entry["message"]) for entry in found))
