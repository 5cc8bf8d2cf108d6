"""What the console knows now, and what it keeps: one database for outbox, events, journal and watch list.

Everything kept hangs on a scope (:mod:`runwatch.store.repositories.scope`): profile, service and principal, never an
address. Importing any of it imports neither httpx nor pydantic.
"""
