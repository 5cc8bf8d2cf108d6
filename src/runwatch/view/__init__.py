"""Pure functions from records to safe text, with one specification for each resource.

Independent of Textual, terminals and the network. The commands and the console render the same specifications, and text
reaches either only through :mod:`runwatch.view.text.safe_text`.
"""
