"""Code shared by handlers: session, writes, printers, profiles and secrets."""
