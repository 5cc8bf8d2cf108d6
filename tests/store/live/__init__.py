"""Tests of runwatch.store.live."""
