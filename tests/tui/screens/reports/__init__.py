"""Tests of runwatch.tui.screens.reports."""
