"""Tests of runwatch.view.detail."""
