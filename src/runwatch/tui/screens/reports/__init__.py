"""Overview, receipts, usage and compliance."""
