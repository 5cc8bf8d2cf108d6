"""Facts, event lines, checks, narrative and verdicts of one run."""
