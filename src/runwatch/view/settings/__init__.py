"""The settings table as rows."""
