"""The endpoints of the service, one file a resource. A new resource adds its file and its line here."""

from __future__ import annotations

from typing import Final

from runwatch.service.call import Endpoint
from runwatch.service.routes import account, connect, executions, receipts

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *executions.ENDPOINTS,
    *receipts.ENDPOINTS,
    *account.ENDPOINTS,
    *connect.ENDPOINTS,
)
"""Everything the service offers."""
