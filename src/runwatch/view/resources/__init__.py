"""One specification a resource: pure data, drawn alike by the verbs and the console."""
