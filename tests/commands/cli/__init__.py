"""Tests of runwatch.commands.cli."""
