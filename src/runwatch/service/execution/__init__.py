"""Runs: acceptance, steps, end and receipts."""
