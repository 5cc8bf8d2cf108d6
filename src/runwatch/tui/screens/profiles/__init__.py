"""Screens that combine several profiles."""
