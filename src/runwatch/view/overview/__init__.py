"""Counts, anomalies, issues and limits of the overview, and the links in its lines."""
