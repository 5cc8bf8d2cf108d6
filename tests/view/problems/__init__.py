"""Tests of runwatch.view.problems."""
