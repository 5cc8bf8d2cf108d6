"""Scrolling lists that draw only visible lines: records, events, details, differences and links."""
