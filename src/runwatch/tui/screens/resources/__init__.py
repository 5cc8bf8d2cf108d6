"""Screens of resources that add something to the generic list and detail."""
