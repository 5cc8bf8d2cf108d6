"""Tests of runwatch.view.templates."""
