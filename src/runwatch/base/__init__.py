"""What every room of the house stands on. Knows nothing of the API."""
