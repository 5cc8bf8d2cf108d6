"""Fields that users type into, and buttons."""
