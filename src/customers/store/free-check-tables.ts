/** The migration that makes the tables of the free checker; like every other it is never edited once it is released. */
export const FREE_CHECK_TABLES = {
  number: 14,
  makes: "free checks",
  statements: [
    // Whoever visits the free checker stands in no row: clients and networks are hashed under keys of this secret.
    `CREATE TABLE free_check_secret (
      singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
      secret TEXT NOT NULL)`,
    // How many checks a client had on a day without a pass. `day` counts as `units.day` does.
    `CREATE TABLE free_check_days (
      client_hash TEXT NOT NULL,
      day BIGINT NOT NULL,
      used BIGINT NOT NULL,
      PRIMARY KEY (client_hash, day))`,
    "CREATE INDEX free_check_days_by_day ON free_check_days (day)",
    // `hash` is the SHA-256 of the cookie's value in hex; `challenge` the nonce of what was solved for it, once.
    `CREATE TABLE free_check_passes (
      hash TEXT PRIMARY KEY,
      challenge TEXT NOT NULL UNIQUE,
      checks_left BIGINT NOT NULL,
      issued_at_ms BIGINT NOT NULL)`,
    "CREATE INDEX free_check_passes_by_time ON free_check_passes (issued_at_ms)",
    // `ban_count` and `banned_until_ms` are of the latest ban, and zero before the first.
    `CREATE TABLE free_check_bans (
      network_hash TEXT PRIMARY KEY,
      strike_count BIGINT NOT NULL,
      strikes_since_ms BIGINT NOT NULL,
      ban_count BIGINT NOT NULL,
      banned_until_ms BIGINT NOT NULL,
      forget_at_ms BIGINT NOT NULL)`,
    "CREATE INDEX free_check_bans_by_end ON free_check_bans (forget_at_ms)",
  ],
}
