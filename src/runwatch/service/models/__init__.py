"""Sources of models, what they serve, and the options that runs may use."""
