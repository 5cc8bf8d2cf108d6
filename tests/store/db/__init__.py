"""Tests of runwatch.store.db."""
