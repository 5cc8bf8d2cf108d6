"""Tests of runwatch.view.text."""
