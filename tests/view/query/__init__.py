"""Tests of runwatch.view.query."""
