"""Tests of runwatch.tui.shell."""
