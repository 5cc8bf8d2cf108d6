"""One specification for each resource: pure data, rendered by the commands and the console."""
