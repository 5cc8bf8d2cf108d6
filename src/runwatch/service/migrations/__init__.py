"""Migration of older database files to the current tables.

``backup`` copies the file and stays cheap to import. ``upgrade`` applies ``revisions`` with Alembic; it is imported
only for an older file, because Alembic would slow down every start.
"""
