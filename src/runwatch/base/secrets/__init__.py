"""Secrets in memory, sealed in files, and recognized in text."""
