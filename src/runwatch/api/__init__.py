"""The async client of the service: bytes to records, with every rule of the specification on the way.

``runwatch.api.client.Client`` is the way in. The path of a call: operations → client → calls (attempts) → transport
(bytes) → retry (wait or stop) → problems or decode (records). Importing any of it does not import httpx; that waits
for the first request.
"""
