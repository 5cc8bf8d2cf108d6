"""Writes that a dialog sends, and what is said about them."""
