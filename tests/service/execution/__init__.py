"""Tests of runwatch.service.execution."""
