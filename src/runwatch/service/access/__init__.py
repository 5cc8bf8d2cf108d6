"""Callers' keys and roles, and stored secrets."""
