"""Screens of resources that extend the generic list and detail."""
