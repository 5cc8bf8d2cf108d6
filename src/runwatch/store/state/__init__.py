"""Records in memory: the store, its changes and its reducer. No I/O."""
