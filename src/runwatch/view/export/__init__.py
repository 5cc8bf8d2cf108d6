"""Files and standard output: formats, plain text, the template report, and reading files back."""
