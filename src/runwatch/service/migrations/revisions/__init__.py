"""The revisions, one file each, in one line from version 0.1.0 to the current tables.

A released revision never changes, and imports nothing of ``runwatch``, because that does change.
"""
