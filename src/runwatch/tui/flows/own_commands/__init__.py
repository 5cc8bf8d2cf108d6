"""Own commands of the user: their menu, and one that runs."""
