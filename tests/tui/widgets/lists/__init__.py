"""Tests of runwatch.tui.widgets.lists."""
