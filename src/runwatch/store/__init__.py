"""The console's knowledge in memory, and its database of outbox, events, journal and watch list.

All stored data belongs to a scope (:mod:`runwatch.store.repositories.scope`): profile, service and principal, never an
address. Importing any of it imports neither httpx nor pydantic.

Whatever reads or writes the database raises :class:`runwatch.base.errors.DataError` if it cannot; whatever calls the
service passes its :class:`runwatch.api.errors.ApiError` on.
"""
