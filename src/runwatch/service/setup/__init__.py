"""Ways to a first working model or agent."""
