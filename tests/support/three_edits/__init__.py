"""A resource that no service has, as its first two edits: ``record.py`` and ``spec.py``."""
