"""Widget app, key table, messages, themes, rendering, workers and time slices."""
