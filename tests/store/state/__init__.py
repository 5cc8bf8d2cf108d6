"""Tests of runwatch.store.state."""
