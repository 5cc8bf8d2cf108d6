"""Sections of a record, folding, differences, charts, pane states and help text."""
