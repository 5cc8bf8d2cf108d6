"""Form fields that several writes share."""

from __future__ import annotations

from typing import Final

from runwatch.records.record import Record
from runwatch.view.spec.action_parts import FieldOption, FormField


def quote_name(record: Record) -> str:
    """Return the display name in quotes, as it may be of several words or have a comma; the id if there is none."""
    name = record.raw.get("display_name")
    return f'"{name}"' if isinstance(name, str) and name else record.id


NAME: Final = FormField(
    path="display_name", label="name", hint="display name, up to 200 characters", is_required=True,
    option=FieldOption(name="--name", metavar="NAME", help="its display name"),
)  # fmt: skip
ADDRESS: Final = FormField(
    path="endpoint.url", label="address", hint="an https URL; http only on the service's machine", is_required=True,
    option=FieldOption(name="--url", metavar="URL", help="the http or https address of its endpoint"),
)  # fmt: skip
AUTH_REF: Final = FormField(
    path="endpoint.auth_ref", label="credential", hint="empty, or a credential reference; never a key",
    option=FieldOption(name="--auth-ref", metavar="REF", uses_start=True,
                       help="the id of a credential reference, never a key"),
)  # fmt: skip
DEFAULT_DATA_CLASS: Final = "public"
"""Data class that forms and commands grant by themselves; every other one is the user's word."""

DATA_CLASSES: Final = FormField(
    path="data_class_grants", label="data classes", kind="list", is_required=True,
    hint="what it may be given: public, sandbox, tenant_internal or others",
    option=FieldOption(name="--data-class", metavar="CLASS",
                       help="a data class it may be given, e.g. public; may be repeated"),
)  # fmt: skip
