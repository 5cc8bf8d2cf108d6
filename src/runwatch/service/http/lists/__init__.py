"""Lists over HTTP: in pages with cursors, or streamed whole."""
