"""Widgets of the console. They take clean text, tell what happened, and never wait for anything."""
