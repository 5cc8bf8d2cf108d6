"""Mutations of each resource as data, and what turns them into forms, bodies and dependents."""
