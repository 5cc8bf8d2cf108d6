"""Addresses, and how a service is found and reached."""
