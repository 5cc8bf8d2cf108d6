"""What reads the service again and again: scheduler, request budget, pollers and run tails. No SQL."""
