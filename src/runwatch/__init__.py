"""runwatch: a terminal console for a model-run governance service.

The package imports nothing by itself, so that ``--version`` and ``--help`` stay cheap.
"""

__version__ = "0.2.0"
