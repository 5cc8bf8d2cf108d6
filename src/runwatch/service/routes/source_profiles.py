"""The sources that can be connected (wire reference 2.6)."""

from __future__ import annotations

from typing import Final

from runwatch.service.http.answer import Answer, answer_json
from runwatch.service.http.call import Call, Endpoint
from runwatch.service.models import sources


async def list_profiles(call: Call) -> Answer:
    """Every source, also those that this service does not speak to; ``served`` says which."""
    known = sources.profiles(call.context.provider_config.sources)
    forms = [profile.read_form() for profile in known.values()]
    return answer_json({"schema_version": sources.SCHEMA_VERSION, "sources": forms})


ENDPOINTS: Final = (Endpoint("GET", "/v1/model-source-profiles", list_profiles),)
