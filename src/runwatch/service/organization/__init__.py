"""An organization: its money, its decisions, its reports, who is told."""
