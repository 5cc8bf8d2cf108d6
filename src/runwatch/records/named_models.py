"""How many models a request names at most; apart from the records, because ``runwatch --help`` names it."""

from typing import Final

NAMED_MODELS: Final = 20
"""Maximum models named in a request. Not in the specification."""
