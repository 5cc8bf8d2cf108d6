"""Screens of runs: list, form, adding ids and the merged tail."""
