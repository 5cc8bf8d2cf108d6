"""The sources that can be connected (manual: interface, "Sources, connections and credential handoffs")."""

from __future__ import annotations

from typing import Final

from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models import sources


async def list_profiles(call: ServiceCall) -> ServiceResponse:
    """Return every source, including unsupported ones; ``served`` tells them apart."""
    known = sources.profiles(call.context.configured_sources)
    shown = [profile.to_json() for profile in known.values()]
    return make_json_response({"schema_version": sources.SCHEMA_VERSION, "sources": shown})


ENDPOINTS: Final = (Endpoint("GET", "/v1/model-source-profiles", list_profiles),)
