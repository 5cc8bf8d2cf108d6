"""The gate to safe text, formats, glyphs, values and JSON paths. Knows no resource."""
