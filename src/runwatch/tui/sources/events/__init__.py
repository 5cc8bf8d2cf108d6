"""Events of runs on a screen: their lines, the tail that follows them, and the search."""
