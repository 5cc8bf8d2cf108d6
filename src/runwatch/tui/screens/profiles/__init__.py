"""Screens that show several profiles together."""
