"""What handlers share: session, writes, printers, profiles and secrets."""
