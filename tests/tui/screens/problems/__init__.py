"""Tests of runwatch.tui.screens.problems."""
