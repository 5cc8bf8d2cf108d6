"""Lines, totals and charts of receipts, and the scan for content."""
