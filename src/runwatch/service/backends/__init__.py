"""Where the tables are: one module for each database that can hold them, and what they share in ``backend``."""
