"""Screens to inherit from: lists, records, tabs, facets, forms, periods, reports and events."""
