"""Tests of runwatch.tui.widgets.bars."""
