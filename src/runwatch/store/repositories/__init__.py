"""The console's data on disk: one class for each family of tables, always by scope. No polling."""
