"""Tests of runwatch.view.export."""
