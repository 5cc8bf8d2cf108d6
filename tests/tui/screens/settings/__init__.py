"""Tests of runwatch.tui.screens.settings."""
