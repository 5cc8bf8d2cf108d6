"""Screens: each fills the whole window."""
