"""Bars of one line: header, breadcrumbs, tabs, facets, filter and status."""
