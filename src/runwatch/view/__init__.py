"""Records as people read them: pure functions from records to clean text, one specification a resource.

Nothing here knows Textual, a terminal or the network. The commands and the console draw the same specifications, and
text reaches either only through the gate in :mod:`runwatch.view.text.safe_text`.
"""
