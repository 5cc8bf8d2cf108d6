"""Decoding of bytes to records, whole or as a stream. No HTTP."""
