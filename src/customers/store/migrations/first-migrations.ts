/** A migration: what it makes, and its statements in their order. */
export type Migration = {
  readonly number: number
  readonly description: string
  readonly statements: readonly string[]
}

/** The first migrations. `migrations.ts` goes on with the later ones, and says what holds for all. */
export const FIRST_MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    description: "the change log",
    statements: [
      // One row, incremented in the transaction that appends: ids become visible in order and without gaps in every
      // engine. With a sequence a reader could see 8 before 7 is committed, and never read 7.
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
    description: "accounts",
    statements: [
      // `accepted_terms_version` is null when terms were accepted before any were published.
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
    description: "keys",
    statements: [
      // `hash` is the SHA-256 of the key in hex; `origins` are separated by single spaces, which no origin contains.
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
  {
    number: 4,
    description: "units and usage",
    statements: [
      // How many units of a day processes have leased. `subject` is an account or a publishable key; `day` counts days
      // since the Unix epoch, UTC. It falls only when a process returns units.
      `CREATE TABLE units (
        subject TEXT NOT NULL,
        day BIGINT NOT NULL,
        leased BIGINT NOT NULL,
        PRIMARY KEY (subject, day))`,
      // Usage for reports: how often a key caused `measure` on a day.
      `CREATE TABLE usage (
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        key_id TEXT NOT NULL,
        day BIGINT NOT NULL,
        measure TEXT NOT NULL,
        count BIGINT NOT NULL,
        PRIMARY KEY (account_id, day, key_id, measure))`,
    ],
  },
  {
    number: 5,
    description: "feedback and corrections",
    statements: [
      // No address is stored, only its domain, and the role that its local part names, if any.
      `CREATE TABLE feedback (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        domain TEXT NOT NULL,
        role_word TEXT,
        current_category TEXT NOT NULL,
        reported_category TEXT NOT NULL,
        comment TEXT,
        status TEXT NOT NULL CHECK (status IN ('received', 'accepted', 'rejected')),
        created_at_ms BIGINT NOT NULL,
        decided_at_ms BIGINT)`,
      "CREATE INDEX feedback_by_account ON feedback (account_id, domain, created_at_ms)",
      "CREATE INDEX feedback_by_status ON feedback (status, created_at_ms)",
      // A correction outlives the account whose report caused it.
      `CREATE TABLE corrections (
        domain TEXT PRIMARY KEY,
        category TEXT NOT NULL,
        feedback_id TEXT NOT NULL,
        made_at_ms BIGINT NOT NULL)`,
    ],
  },
  {
    number: 6,
    description: "block and allow lists",
    statements: [
      // `owner` is an account's id or `operator`; `account_id` is null for the operator. An address is stored as a hash.
      `CREATE TABLE own_list_entries (
        owner TEXT NOT NULL,
        account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
        list TEXT NOT NULL CHECK (list IN ('block', 'allow')),
        entry TEXT NOT NULL,
        added_at_ms BIGINT NOT NULL,
        PRIMARY KEY (owner, list, entry))`,
      "CREATE INDEX own_list_entries_by_account ON own_list_entries (account_id)",
    ],
  },
  {
    number: 7,
    description: "origins of keys, for preflights",
    statements: [
      // A preflight carries no key, so its origin is looked up among those of all keys.
      `CREATE TABLE key_origins (
        origin TEXT NOT NULL,
        key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
        PRIMARY KEY (origin, key_id))`,
    ],
  },
  {
    number: 8,
    description: "terms",
    statements: [
      `CREATE TABLE terms (
        version TEXT PRIMARY KEY,
        url TEXT NOT NULL,
        is_material BIGINT NOT NULL CHECK (is_material IN (0, 1)),
        published_at_ms BIGINT NOT NULL)`,
    ],
  },
  {
    number: 9,
    description: "sightings of mail hosts",
    statements: [
      // One row, incremented in the transaction that writes a batch, as the head of the change log is.
      `CREATE TABLE host_sightings_head (
        singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
        batch BIGINT NOT NULL)`,
      "INSERT INTO host_sightings_head (singleton, batch) VALUES (1, 0)",
      // The host at which a domain was seen last; only a hash of the domain is stored. `seen_on` counts days as `units.day` does.
      `CREATE TABLE host_sightings (
        domain_hash BIGINT PRIMARY KEY,
        host TEXT NOT NULL,
        is_listed BIGINT NOT NULL CHECK (is_listed IN (0, 1)),
        seen_on BIGINT NOT NULL,
        batch BIGINT NOT NULL)`,
      "CREATE INDEX host_sightings_by_batch ON host_sightings (batch, domain_hash)",
    ],
  },
  {
    number: 10,
    description: "facts of domains",
    statements: [
      // The facts that deep checks found about a registrable domain. `…_checked_at_ms` is null for a kind of fact that was
      // not looked up; `found_at_ms` is the latest of them.
      `CREATE TABLE domain_facts (
        domain TEXT PRIMARY KEY,
        registered_at_ms BIGINT,
        age_checked_at_ms BIGINT,
        homepage TEXT,
        homepage_evidence TEXT,
        homepage_checked_at_ms BIGINT,
        found_at_ms BIGINT NOT NULL)`,
      "CREATE INDEX domain_facts_by_found ON domain_facts (found_at_ms)",
    ],
  },
  {
    number: 11,
    description: "the outbox of mails",
    statements: [
      // The recipient's address is stored only in `accounts`. `subject` is what the notice is about: a key's id or a version
      // of the terms. `claim` names the sender that has leased the mail, and `renewal_count` rises while it lives; no clock
      // is compared (DECISIONS 44). Mails that have ended stay for a while, so that none is posted twice.
      `CREATE TABLE outbox (
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        notice TEXT NOT NULL,
        subject TEXT NOT NULL,
        particulars TEXT NOT NULL,
        written_at_ms BIGINT NOT NULL,
        due_at_ms BIGINT NOT NULL,
        refusal_count BIGINT NOT NULL,
        first_tried_at_ms BIGINT,
        claim TEXT,
        renewal_count BIGINT NOT NULL,
        ending TEXT CHECK (ending IN ('sent', 'refused', 'given_up')),
        ended_at_ms BIGINT,
        PRIMARY KEY (account_id, notice, subject))`,
      "CREATE INDEX outbox_by_due ON outbox (due_at_ms) WHERE ended_at_ms IS NULL",
      "CREATE INDEX outbox_by_claim ON outbox (claim) WHERE claim IS NOT NULL",
      "CREATE INDEX outbox_by_end ON outbox (ended_at_ms) WHERE ended_at_ms IS NOT NULL",
      // The last account, in the order of ids, that was notified of these terms; null: all were.
      "ALTER TABLE terms ADD COLUMN told_up_to TEXT",
    ],
  },
  {
    number: 12,
    description: "sign-ins and sessions",
    statements: [
      // The email is stored encrypted, once with the secret of the link in the mail, once with that of the browser. Hashes
      // are SHA-256 in hex; the code's hash is salted with the browser's secret.
      `CREATE TABLE sign_ins (
        link_hash TEXT PRIMARY KEY,
        browser_hash TEXT NOT NULL UNIQUE,
        code_hash TEXT NOT NULL,
        email_by_link TEXT NOT NULL,
        email_by_browser TEXT NOT NULL,
        tries_left BIGINT NOT NULL,
        asked_at_ms BIGINT NOT NULL)`,
      "CREATE INDEX sign_ins_by_time ON sign_ins (asked_at_ms)",
      // `hash` is the SHA-256 of the cookie's value in hex; `agent` is a short label of the browser.
      `CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        hash TEXT NOT NULL UNIQUE,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        agent TEXT NOT NULL,
        created_at_ms BIGINT NOT NULL,
        seen_at_ms BIGINT NOT NULL)`,
      "CREATE INDEX sessions_by_account ON sessions (account_id, created_at_ms)",
      "CREATE INDEX sessions_by_time ON sessions (created_at_ms)",
    ],
  },
  {
    number: 13,
    description: "ways to reports by their account and their domain",
    statements: [
      "CREATE INDEX feedback_by_account_time ON feedback (account_id, created_at_ms, id)",
      "CREATE INDEX feedback_by_domain ON feedback (domain)",
    ],
  },
  {
    number: 14,
    description: "free checks",
    statements: [
      // Visitors of the free checker are not stored: clients and networks are hashed with keys derived from this secret.
      `CREATE TABLE free_check_secret (
      singleton BIGINT PRIMARY KEY CHECK (singleton = 1),
      secret TEXT NOT NULL)`,
      // How many checks a client used on a day without a pass. `day` counts as `units.day` does.
      `CREATE TABLE free_check_days (
      client_hash TEXT NOT NULL,
      day BIGINT NOT NULL,
      used BIGINT NOT NULL,
      PRIMARY KEY (client_hash, day))`,
      "CREATE INDEX free_check_days_by_day ON free_check_days (day)",
      // `hash` is the SHA-256 of the cookie's value in hex; `challenge` is the nonce of the solved challenge.
      `CREATE TABLE free_check_passes (
      hash TEXT PRIMARY KEY,
      challenge TEXT NOT NULL UNIQUE,
      checks_left BIGINT NOT NULL,
      issued_at_ms BIGINT NOT NULL)`,
      "CREATE INDEX free_check_passes_by_time ON free_check_passes (issued_at_ms)",
      // `ban_count` and `banned_until_ms` belong to the latest ban, and are zero before the first.
      `CREATE TABLE free_check_bans (
      network_hash TEXT PRIMARY KEY,
      strike_count BIGINT NOT NULL,
      strikes_since_ms BIGINT NOT NULL,
      ban_count BIGINT NOT NULL,
      banned_until_ms BIGINT NOT NULL,
      forget_at_ms BIGINT NOT NULL)`,
      "CREATE INDEX free_check_bans_by_end ON free_check_bans (forget_at_ms)",
    ],
  },
  {
    number: 15,
    description: "heartbeats of nodes",
    statements: [
      // Servers that share the database. `beat` rises while a node lives; no clock is compared (DECISIONS 36).
      `CREATE TABLE nodes (
      id TEXT PRIMARY KEY,
      beat BIGINT NOT NULL)`,
    ],
  },
  {
    number: 16,
    description: "wrong codes of sign-ins",
    statements: [
      // How many wrong codes were typed for a mailbox on a day. The hash is keyed and differs from day to day; `day` counts as `units.day` does.
      `CREATE TABLE sign_in_wrong_codes (
      mailbox_hash TEXT PRIMARY KEY,
      day BIGINT NOT NULL,
      count BIGINT NOT NULL)`,
      "CREATE INDEX sign_in_wrong_codes_by_day ON sign_in_wrong_codes (day)",
    ],
  },
  {
    number: 17,
    description: "addresses of mail hosts",
    statements: [
      // Separated by single spaces; empty if none is known. `host` is empty if the mail host stands under the domain's own name.
      "ALTER TABLE host_sightings ADD COLUMN addresses TEXT NOT NULL DEFAULT ''",
    ],
  },
]
