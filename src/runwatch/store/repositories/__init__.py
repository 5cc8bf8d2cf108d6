"""What the console keeps on disk, one class for each family of tables, always by scope. Nothing is polled here."""
