"""The console's SQLite file: connection, migrations and column codecs. Rows have no meaning here."""
