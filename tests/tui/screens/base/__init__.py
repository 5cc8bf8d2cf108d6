"""Tests of runwatch.tui.screens.base."""
