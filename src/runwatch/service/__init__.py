"""The local service: a real HTTP server with a real database that implements the interface on this machine.

The way of a request, one name a step::

    bytes → protocol (h11; what cannot be read is answered there) → app: host, origin, route, key, rate, body, JSON
      → idempotency: first answer, conflict, or go on → routes/*: a handler reads or writes through the database
      → Answer | Refusal → problems (stored, then sent)

A resource is added by one file under ``routes/`` and its table in ``tables``; everything above is shared. The rooms:
``http`` is that way, ``access`` says who may call and keeps secrets, ``models`` has sources and what they serve,
``checks`` the output checks, ``execution`` moves the runs, ``organization`` counts and reports, ``setup`` has templates
and agents, ``sample`` makes the sample organization. ``database`` has all SQL, ``outbound`` the only HTTP client.
"""
