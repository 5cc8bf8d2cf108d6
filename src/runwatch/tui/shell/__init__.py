"""The contract between the app and its screens: Console, ConsoleScreen, view history and key queue."""
