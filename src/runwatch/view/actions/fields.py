"""Form fields that several writes share."""

from __future__ import annotations

from collections.abc import Callable
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


def make_address_caution(fails: str) -> Callable[[str], str]:
    """Return the caution of an address that a service takes and does not call (manual: interface, "Probing a check").

    Args:
        fails: What the service does not do then: ``its test fails``.
    """

    def caution(url: str) -> str:
        if not url or url.lower().startswith("https:"):
            return ""
        return f"Accepted, but {fails} (scheme_rejected) unless the service allows http on its own machine."

    return caution


ADDRESS: Final = FormField(
    path="endpoint.url", label="address", hint="an https URL, or http on the service's own machine", is_required=True,
    caution=make_address_caution("its test fails"),
    option=FieldOption(name="--url", metavar="URL", help="the https address of its endpoint"),
)  # fmt: skip
AUTH_REF: Final = FormField(
    path="endpoint.auth_ref", label="credential", hint="empty, or a credential reference; never a key",
    option=FieldOption(name="--auth-ref", metavar="REF", uses_start=True,
                       help="the id of a credential reference, never a key"),
)  # fmt: skip
DEFAULT_DATA_CLASS: Final = "public"
"""Data class that forms and commands grant by themselves; every other one is the user's word."""

DATA_CLASS_NAMES: Final = "public, sandbox, tenant_internal, or one that a model has"

DATA_CLASSES: Final = FormField(
    path="data_class_grants", label="data classes", kind="list", is_required=True,
    hint=f"what it may be given: {DATA_CLASS_NAMES}",
    option=FieldOption(name="--data-class", metavar="CLASS",
                       help="a data class it may be given, e.g. public; may be repeated"),
)  # fmt: skip
