"""Tests of runwatch.service.checks."""
