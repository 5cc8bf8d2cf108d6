"""Tests of runwatch.tui.widgets.inputs."""
