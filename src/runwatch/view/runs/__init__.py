"""Everything said about one run: facts, event lines, checks, narrative and verdicts."""
