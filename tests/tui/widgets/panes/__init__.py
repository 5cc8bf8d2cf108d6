"""Tests of runwatch.tui.widgets.panes."""
