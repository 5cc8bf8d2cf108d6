"""Request handling: bytes, principal, endpoint, response."""
