"""The filter language: expressions, parser, bounded regular expressions and the server filter."""
