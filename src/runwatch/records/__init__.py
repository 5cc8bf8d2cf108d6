"""The wire contract, one file for each resource, shared by client, service and tests.

Received data are thin typed views over decoded JSON (:mod:`runwatch.records.record`); sent data are validated by
pydantic (:mod:`runwatch.records.requests`), which is imported only when there is something to send.
"""
