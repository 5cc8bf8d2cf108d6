"""Mutations of each resource as data, and the code that turns them into forms, bodies and dependents."""
