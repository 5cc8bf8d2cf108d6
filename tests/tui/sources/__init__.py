"""Tests of runwatch.tui.sources."""
