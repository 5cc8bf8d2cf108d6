"""Rows of a list: rendering, sorting, facets and column choice."""
