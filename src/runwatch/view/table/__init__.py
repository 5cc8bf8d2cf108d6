"""Rows of a list: rendering, sorting, facets and the choice of columns."""
