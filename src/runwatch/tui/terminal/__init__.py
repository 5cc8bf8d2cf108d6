"""Terminal driver, input parser, life cycle of the app, clipboard and external editor. Knows no record."""
