"""Tests of runwatch.tui.core."""
