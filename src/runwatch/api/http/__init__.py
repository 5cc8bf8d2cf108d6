"""The only import of httpx: requests, responses and bounded reading of bodies. No JSON."""
