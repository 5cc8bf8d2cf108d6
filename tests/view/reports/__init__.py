"""Tests of runwatch.view.reports."""
