"""Tests of runwatch.tui.flows."""
