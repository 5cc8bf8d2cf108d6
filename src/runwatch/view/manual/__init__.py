"""The pages of the manual, for the console and ``runwatch help``."""
