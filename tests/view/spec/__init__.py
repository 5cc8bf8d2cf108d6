"""Tests of runwatch.view.spec."""
