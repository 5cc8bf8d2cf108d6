"""Journal entries, explanations, activity around a time, support bundles and copy texts."""
