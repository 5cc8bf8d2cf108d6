"""Tests of runwatch.tui.terminal."""
