"""Sections of a record, folding, diffs, charts, pane states and help text."""
