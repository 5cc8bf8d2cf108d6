"""Everything said about receipts: lines, totals, charts and the scan for content."""
