"""Bytes to records, whole or as a stream. No HTTP."""
