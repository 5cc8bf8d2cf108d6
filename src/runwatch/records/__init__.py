"""The wire contract, one file a resource: shared by client, service and tests.

What is read is a thin typed view over decoded JSON (:mod:`runwatch.records.record`); what is sent is validated by
pydantic (:mod:`runwatch.records.requests`), which nothing imports before it has something to send.
"""
