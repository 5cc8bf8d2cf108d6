"""Tests of runwatch.view.actions."""
