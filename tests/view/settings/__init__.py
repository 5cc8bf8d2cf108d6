"""Tests of runwatch.view.settings."""
