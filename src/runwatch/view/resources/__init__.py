"""One specification a resource: pure data, drawn alike by the commands and the console."""
