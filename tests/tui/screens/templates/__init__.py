"""Tests of runwatch.tui.screens.templates."""
