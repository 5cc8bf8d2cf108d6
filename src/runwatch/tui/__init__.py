"""The console on a terminal. Textual lives here and nowhere else."""
