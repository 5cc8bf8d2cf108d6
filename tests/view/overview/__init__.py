"""Tests of runwatch.view.overview."""
