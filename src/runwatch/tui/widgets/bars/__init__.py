"""One-line bars: header, breadcrumbs, tabs, facets, filter and status."""
