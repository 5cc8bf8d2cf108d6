"""Tests of runwatch.tui.app."""
