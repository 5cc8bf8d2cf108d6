"""The way of a request: bytes, principal, endpoint, answer."""
