"""Repeated reads of the service: scheduler, request budget, pollers and run tails. No SQL."""
