"""Output checks: registration, protected keys, probes, verdicts."""
