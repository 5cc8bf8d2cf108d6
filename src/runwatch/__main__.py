"""``python -m runwatch`` is the command ``runwatch``."""

from runwatch.cli import main

if __name__ == "__main__":
    main()
