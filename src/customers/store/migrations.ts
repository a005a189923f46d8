type Migration = { readonly number: number; readonly makes: string; readonly statements: readonly string[] }

/**
 * How the tables came to be: run in order, each once, in one transaction. A migration that has been released is never
 * edited, only followed by another. Statements are of what SQLite and PostgreSQL share. Instants are integer
 * milliseconds, UTC; null means that it has not happened.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    makes: "the change log",
    statements: [
      // One row, counted up in the transaction that appends: numbers become visible in their order, without gaps, in
      // every engine. A sequence would let a reader see 8 before 7 is committed, and miss 7 for ever.
      "CREATE TABLE change_head (singleton BIGINT PRIMARY KEY CHECK (singleton = 1), id BIGINT NOT NULL)",
      "INSERT INTO change_head (singleton, id) VALUES (1, 0)",
      `CREATE TABLE changes (
        id BIGINT PRIMARY KEY,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        at_ms BIGINT NOT NULL)`,
    ],
  },
  {
    number: 2,
    makes: "accounts",
    statements: [
      // `accepted_terms_version` is null where terms were accepted before any were published.
      `CREATE TABLE accounts (
        id TEXT PRIMARY KEY,
        email TEXT NOT NULL UNIQUE,
        tier BIGINT NOT NULL,
        created_at_ms BIGINT NOT NULL,
        accepted_terms_version TEXT,
        accepted_terms_at_ms BIGINT)`,
    ],
  },
  {
    number: 3,
    makes: "keys",
    statements: [
      // `hash` is the SHA-256 of the key in hex; `origins` are parted by single spaces, which no origin holds.
      `CREATE TABLE keys (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
        hash TEXT NOT NULL UNIQUE,
        last4 TEXT NOT NULL,
        name TEXT NOT NULL,
        origins TEXT NOT NULL,
        created_at_ms BIGINT NOT NULL,
        last_used_at_ms BIGINT,
        revoked_at_ms BIGINT,
        revoked_by TEXT)`,
      "CREATE INDEX keys_by_account ON keys (account_id, created_at_ms)",
    ],
  },
]
