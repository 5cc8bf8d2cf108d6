"""Full-screen console. The only package that uses Textual.

Textual imports its command palette with every app, and with it a dozen widgets, which take a tenth of the start. The
console has a command line of its own, so empty classes replace the palette (checked on Textual 8.2.8: its app
and its themes only derive from them or name them).
"""

import sys
from types import ModuleType
from typing import Final

_PALETTE: Final = "textual.command"
_NAMES: Final = ("CommandListItem", "CommandPalette", "DiscoveryHit", "Hit", "Hits", "Provider", "SimpleProvider")

if _PALETTE not in sys.modules:
    sys.modules[_PALETTE] = ModuleType(_PALETTE)
    vars(sys.modules[_PALETTE]).update({name: type(name, (), {}) for name in _NAMES})
