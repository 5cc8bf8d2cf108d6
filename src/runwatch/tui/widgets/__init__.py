"""Widgets of the console. They take safe text, post messages and never await anything."""
