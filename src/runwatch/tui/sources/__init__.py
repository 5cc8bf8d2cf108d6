"""Sources of rows, events and single records. Creates no widgets."""
