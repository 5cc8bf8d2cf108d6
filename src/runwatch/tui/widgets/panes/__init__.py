"""Panes, overlays, menus and dialogs."""
