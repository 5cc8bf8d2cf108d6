"""Grammar, parser, dispatch, output, exit codes and error reports of the commands. Makes no service calls."""
