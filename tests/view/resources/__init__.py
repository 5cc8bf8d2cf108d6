"""Tests of runwatch.view.resources."""
