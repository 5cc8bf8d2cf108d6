"""Model sources, the models they serve, and the options that runs may use."""
