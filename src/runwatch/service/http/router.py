"""Which endpoint answers a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.routing import compile_path

from runwatch.service.errors import RefusalError
from runwatch.service.http.endpoints import Endpoint


class Router:
    """Finds the endpoint of a request."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        by_path: dict[str, dict[str, Endpoint]] = {}
        for endpoint in endpoints:
            by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
        self._paths = [(compile_path(path)[0], methods) for path, methods in by_path.items()]

    def find(self, method: str, path: str) -> tuple[Endpoint, Mapping[str, str]]:
        """Return the endpoint and the path's parameters.

        Raises:
            RefusalError: ``not_found`` for an unknown path, ``method_not_allowed`` for a method that the path does not
                offer.
        """
        wanted = "GET" if method == "HEAD" else method
        for pattern, methods in self._paths:
            match = pattern.fullmatch(path)
            if match is None:
                continue
            if wanted in methods:
                return methods[wanted], match.groupdict()
            allowed = ", ".join(sorted([*methods, "HEAD"] if "GET" in methods else methods))
            raise RefusalError("method_not_allowed", f"This path takes {allowed}.", headers=(("Allow", allowed),))
        raise RefusalError("not_found", "There is no such path.")
