"""Runs: accepting, moving, ending them, and their receipts."""
