"""Settings of the user: the settings file, profiles, key sources, and the local service, which needs no settings."""
