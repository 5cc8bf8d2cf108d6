"""The filter language: expressions, parser, bounded regular expressions and the part that the service applies."""
