"""Tests of runwatch.store.repositories."""
