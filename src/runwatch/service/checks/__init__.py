"""Output checks: registration, protected keys, the probe, verdicts."""
