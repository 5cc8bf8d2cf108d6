"""Tests of runwatch.tui.screens.runs."""
