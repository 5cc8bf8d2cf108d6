"""What fills the whole window."""
