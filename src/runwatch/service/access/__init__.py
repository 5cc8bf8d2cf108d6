"""Who may call, and where secrets are."""
