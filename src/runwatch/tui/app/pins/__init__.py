"""Pins: numbered tabs to a record, a filter of a list or a comparison."""
