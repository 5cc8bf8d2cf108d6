"""Tests of runwatch.view.runs."""
