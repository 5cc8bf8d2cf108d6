"""The local service: an HTTP server with a database that implements the interface on this machine.

A request passes these steps::

    bytes → protocol (h11; answers unreadable requests) → app: host, origin, route, key, rate, body, JSON
          → idempotency: first response, conflict, or continue → routes/*: a handler reads or writes the database
          → response | refusal → problem (stored, then sent)

A resource is added by one file under ``routes/`` and its table in ``tables``; everything above is shared. The packages:
``http`` handles these steps, ``access`` has callers and secrets, ``models`` the sources and their models, ``checks``
the output checks, ``execution`` the runs, ``organization`` usage and reports, ``setup`` templates and agents,
``sample`` the sample organization. ``database`` has all SQL, ``outbound`` the only HTTP client.
"""
