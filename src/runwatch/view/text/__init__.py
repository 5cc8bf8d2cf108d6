"""Safe text, formats, glyphs, values and JSON paths. Independent of resources."""
