"""Credential references: names of secrets, never secrets (manual: interface, "Credentials, GitHub connections and
webhooks").
"""

from __future__ import annotations

from runwatch.records.record import Record, Wire, moment, text


class Credential(Record):
    """A reference to a secret that the service stores."""

    KIND = "credential"
    WIRE = Wire("/v1/credentials", "credentials", "credential_ref")

    credential_ref = text()
    display_name = text()
    created_at = moment()
