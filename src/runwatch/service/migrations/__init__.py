"""How the database file of an older version gets the tables of this one.

``backup`` copies the file aside and stays cheap to import. ``upgrade`` applies ``revisions`` with Alembic; it is
imported for an older file alone, because Alembic would slow down every start.
"""
