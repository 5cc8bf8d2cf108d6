"""Tests of runwatch.view.table."""
