"""Input fields and buttons."""
