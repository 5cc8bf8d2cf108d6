"""Scrolling lists that draw only what is visible: records, events, details, differences and links."""
