"""Tests of runwatch.tui.screens.profiles."""
