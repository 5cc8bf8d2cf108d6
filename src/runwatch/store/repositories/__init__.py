"""The console's data on disk: one class for each family of tables, always by scope. No polling.

Whatever reads or writes the database raises :class:`runwatch.base.errors.DataError` if it cannot.
"""
