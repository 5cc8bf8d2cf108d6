"""The revisions, one file each, in one line from version 0.1.0 to the tables of this version.

A revision that was released never changes, and imports nothing of ``runwatch``, which does.
"""
