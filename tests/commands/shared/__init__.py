"""Tests of runwatch.commands.shared."""
