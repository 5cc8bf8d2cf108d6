"""Search for model servers on the service's machine. Not in the specification."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from runwatch.service.access.roles import ARMS_MANAGE
from runwatch.service.errors import RefusalError
from runwatch.service.http.endpoints import Endpoint
from runwatch.service.http.responses import ServiceResponse, make_json_response
from runwatch.service.http.service_call import ServiceCall
from runwatch.service.models.server_discovery import find_servers


async def search(call: ServiceCall) -> ServiceResponse:
    """Ask the usual loopback ports, except the service's own, for models; stateless, so a repeat asks again.

    Refuses with ``permission_denied`` for an organization other than the owner's.
    """
    context, tenant_id = call.context, call.principal.tenant_id
    if not context.reach_policy.is_owner(tenant_id):
        raise RefusalError(
            "permission_denied",
            "Only the organization of this machine's owner may search the machine for model servers. "
            "Connect a model server at a public https address.",
        )
    own = urlsplit(context.origin).port
    ports = [port for port in context.usual_ports if port.port != own]
    servers = await find_servers(context.providers, ports, tenant_id)
    return make_json_response({"servers": [server.to_json() for server in servers]})


ENDPOINTS: Final = (
    # A search changes nothing but makes the service call others, so it needs the permission to connect a source.
    Endpoint("POST", "/v1/model-server-searches", search, permission=ARMS_MANAGE),
)
