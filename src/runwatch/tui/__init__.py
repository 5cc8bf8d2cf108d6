"""Full-screen console. The only package that uses Textual."""
