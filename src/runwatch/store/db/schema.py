"""Tables of the console's database, as numbered migrations.

A released migration never changes; new ones are added at the end. Every table with data of a service refers to a row of
``scope``, which identifies the service and never its address.
"""

from __future__ import annotations

from typing import Final

_FIRST: Final = (
    # Owner of the data: see runwatch.store.repositories.scope.Scope.
    """
    CREATE TABLE scope (
        id INTEGER PRIMARY KEY,
        profile TEXT NOT NULL,
        service TEXT NOT NULL,
        principal TEXT NOT NULL,
        UNIQUE (service, principal, profile)
    )
    """,
    # Service and principal as last read from a key's account. The fingerprint distinguishes keys without revealing
    # them.
    """
    CREATE TABLE identity (
        profile TEXT NOT NULL,
        origin TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        service TEXT NOT NULL,
        principal TEXT NOT NULL,
        PRIMARY KEY (profile, origin, fingerprint)
    ) WITHOUT ROWID
    """,
    # One row for each followed run. The cursor is the id of the last event applied; it moves in the transaction that
    # inserts events.
    """
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL REFERENCES scope (id) ON DELETE CASCADE,
        run_id TEXT NOT NULL,
        cursor TEXT,
        is_complete INTEGER NOT NULL DEFAULT 0,
        UNIQUE (scope, run_id)
    )
    """,
    # seq is dense from 0 in each run, so the last one gives the count. event_id is a digest where the event had none.
    """
    CREATE TABLE event (
        run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        event_id TEXT NOT NULL,
        has_id INTEGER NOT NULL,
        at TEXT,
        type TEXT,
        slice_id TEXT,
        state TEXT,
        text TEXT NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX event_by_seq ON event (run, seq)",
    "CREATE UNIQUE INDEX event_by_id ON event (run, event_id)",
    # Times without a response, drawn before the event with this seq.
    """
    CREATE TABLE gap (
        run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        began_at TEXT NOT NULL,
        ended_at TEXT NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (run, began_at, ended_at)
    ) WITHOUT ROWID
    """,
    # Unconfirmed writes. AUTOINCREMENT: a number names one write forever, in lock files too.
    """
    CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        scope INTEGER NOT NULL REFERENCES scope (id) ON DELETE CASCADE,
        origin TEXT NOT NULL,
        operation TEXT NOT NULL,
        path TEXT NOT NULL,
        body BLOB,
        key TEXT NOT NULL,
        label TEXT NOT NULL,
        created_at TEXT NOT NULL,
        reason TEXT,
        UNIQUE (scope, operation, path, key)
    )
    """,
    """
    CREATE TABLE watch (
        scope INTEGER NOT NULL REFERENCES scope (id) ON DELETE CASCADE,
        run_id TEXT NOT NULL,
        source TEXT NOT NULL,
        added_at TEXT NOT NULL,
        label TEXT NOT NULL,
        request BLOB,
        PRIMARY KEY (scope, run_id)
    )
    """,
    # The lists of the last session, which the next one shows at once with their age.
    """
    CREATE TABLE cached_list (
        scope INTEGER NOT NULL REFERENCES scope (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        seen_at TEXT NOT NULL,
        PRIMARY KEY (scope, kind)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE cached_record (
        scope INTEGER NOT NULL REFERENCES scope (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        position INTEGER NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (scope, kind, position)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE request (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        profile TEXT NOT NULL,
        origin TEXT NOT NULL,
        operation TEXT NOT NULL,
        method TEXT NOT NULL,
        path TEXT NOT NULL,
        query TEXT NOT NULL,
        status INTEGER,
        elapsed_s REAL NOT NULL,
        attempt INTEGER NOT NULL,
        key TEXT,
        sent_bytes INTEGER NOT NULL,
        received_bytes INTEGER NOT NULL,
        error TEXT
    )
    """,
    "CREATE INDEX request_by_time ON request (at)",
    # plain is the instance in lower case without dashes, for searches of any part of it.
    """
    CREATE TABLE problem (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        profile TEXT NOT NULL,
        origin TEXT NOT NULL,
        operation TEXT NOT NULL,
        method TEXT NOT NULL,
        path TEXT NOT NULL,
        status INTEGER,
        code TEXT NOT NULL,
        title TEXT,
        detail TEXT,
        instance TEXT,
        plain TEXT NOT NULL,
        key TEXT,
        attempt INTEGER NOT NULL,
        raw TEXT NOT NULL
    )
    """,
)

_SECOND: Final = (
    # Local notes of the user about a record; purpose is label, note, decision or intent.
    """
    CREATE TABLE note (
        scope INTEGER NOT NULL REFERENCES scope (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        record_id TEXT NOT NULL,
        purpose TEXT NOT NULL,
        at TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (scope, kind, record_id, purpose)
    ) WITHOUT ROWID
    """,
    # Each text that a record had, with the first and last time it was seen; a text that returns is a new version.
    """
    CREATE TABLE version (
        scope INTEGER NOT NULL REFERENCES scope (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        record_id TEXT NOT NULL,
        first_seen_at TEXT NOT NULL,
        last_seen_at TEXT NOT NULL,
        digest TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (scope, kind, record_id, first_seen_at)
    ) WITHOUT ROWID
    """,
)

_THIRD: Final = (
    # A run's label is a note, as for every other record. The label column of the watch list held the start of the
    # objective, which the user did not give as a label and which no list may show.
    """
    CREATE TABLE watched (
        scope INTEGER NOT NULL REFERENCES scope (id) ON DELETE CASCADE,
        run_id TEXT NOT NULL,
        source TEXT NOT NULL,
        added_at TEXT NOT NULL,
        request BLOB,
        PRIMARY KEY (scope, run_id)
    )
    """,
    "INSERT INTO watched SELECT scope, run_id, source, added_at, request FROM watch ORDER BY rowid",
    "DROP TABLE watch",
    "ALTER TABLE watched RENAME TO watch",
)

_FOURTH: Final = (
    # A service given by the environment had the profile name 'unnamed' and now has 'environment', which a profile of
    # the user may have had until now. OR IGNORE: where that user also has a profile of the new name for the same
    # account, the rows stay as they are instead of being lost.
    "UPDATE OR IGNORE scope SET profile = 'environment-profile' WHERE profile = 'environment'",
    "UPDATE OR IGNORE scope SET profile = 'environment' WHERE profile = 'unnamed'",
    "UPDATE OR REPLACE identity SET profile = 'environment-profile' WHERE profile = 'environment'",
    "UPDATE OR REPLACE identity SET profile = 'environment' WHERE profile = 'unnamed'",
    "UPDATE request SET profile = 'environment-profile' WHERE profile = 'environment'",
    "UPDATE request SET profile = 'environment' WHERE profile = 'unnamed'",
    "UPDATE problem SET profile = 'environment-profile' WHERE profile = 'environment'",
    "UPDATE problem SET profile = 'environment' WHERE profile = 'unnamed'",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_FIRST, _SECOND, _THIRD, _FOURTH)
"""The statements of each step; step ``n`` migrates schema ``n`` to ``n + 1`` in one transaction."""

SCHEMA_VERSION: Final = len(MIGRATIONS)
"""The newest schema of this code, stored in the database's ``user_version``."""
