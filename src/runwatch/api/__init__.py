"""Async client of the service: sends requests and turns response bytes into records.

Start with ``runwatch.api.client.Client``. The path of a call: operations → client → calls (attempts) → transport
(bytes) → retry (wait or stop) → problems or decode (records). None of these modules imports httpx before the first
request.
"""
