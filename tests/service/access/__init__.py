"""Tests of runwatch.service.access."""
