"""Screens of templates and their applications."""
