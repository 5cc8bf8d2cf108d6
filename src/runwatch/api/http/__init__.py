"""HTTP through httpx, imported nowhere else: requests, responses and bounded reading of bodies. No JSON."""
