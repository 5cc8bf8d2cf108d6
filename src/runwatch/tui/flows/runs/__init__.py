"""Writes of runs and the watch list: the form, the dialogs that start and cancel runs, and the ids to add."""
