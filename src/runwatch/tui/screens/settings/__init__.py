"""The settings screen, its table and its menus."""
