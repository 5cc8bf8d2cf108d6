"""How live runs are worked on.

``state`` is what is recorded of one, ``decide`` (pure) says what follows from it, ``steps`` records every step in one
transaction each, ``driver`` does the calls in between, and ``facts`` is what the receipt tells of it all.
"""
