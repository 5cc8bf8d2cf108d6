"""Tests of runwatch.api.decoding."""
