"""What the user has chosen: the settings file, profiles, key sources, and the local service that needs no settings."""
