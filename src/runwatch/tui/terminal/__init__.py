"""Terminal driver, input parser, app life cycle, clipboard and external editor. Depends on no record."""
