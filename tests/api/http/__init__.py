"""Tests of runwatch.api.http."""
