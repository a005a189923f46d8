import { FIRST_MIGRATIONS, type Migration } from "./first-migrations.ts"

/** Creates the table in which migrations are recorded, unless it exists. */
export const CREATE_MIGRATIONS_TABLE =
  "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, makes TEXT NOT NULL, ran_at_ms BIGINT NOT NULL)"

/**
 * The migrations in their order. Each is applied once, in a transaction. A released migration is never edited, only followed by
 * another, and only adds (DECISIONS 38). Statements are SQL that SQLite and PostgreSQL share. Instants are integer milliseconds, UTC;
 * null means that it has not happened.
 */
export const MIGRATIONS: readonly Migration[] = [
  ...FIRST_MIGRATIONS,
  {
    number: 18,
    description: "expiry, limits and networks of keys",
    statements: [
      "ALTER TABLE keys ADD COLUMN expires_at_ms BIGINT",
      // The expiry that the owner was reminded of, or that was too near for a reminder when it was set.
      "ALTER TABLE keys ADD COLUMN reminded_for_ms BIGINT",
      "ALTER TABLE keys ADD COLUMN units_per_day BIGINT",
      "ALTER TABLE keys ADD COLUMN requests_per_second BIGINT",
      // Separated by single spaces; empty: a client of any network may use the key.
      "ALTER TABLE keys ADD COLUMN networks TEXT NOT NULL DEFAULT ''",
      // The key itself, of publishable keys only, which are public. Null for secret keys and for publishable keys of earlier versions.
      "ALTER TABLE keys ADD COLUMN public_text TEXT CHECK (public_text IS NULL OR kind = 'publishable')",
      // When the first network that uses the key was seen, and when its owner last got a mail about a new one.
      "ALTER TABLE keys ADD COLUMN networks_since_ms BIGINT",
      "ALTER TABLE keys ADD COLUMN network_mail_at_ms BIGINT",
      "CREATE INDEX keys_by_expiry ON keys (expires_at_ms) WHERE expires_at_ms IS NOT NULL",
      // Networks from which a secret key was used. The hash is keyed and differs from key to key.
      `CREATE TABLE key_networks (
      key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
      network_hash TEXT NOT NULL,
      first_seen_at_ms BIGINT NOT NULL,
      last_seen_at_ms BIGINT NOT NULL,
      PRIMARY KEY (key_id, network_hash))`,
      "CREATE INDEX key_networks_by_time ON key_networks (last_seen_at_ms)",
    ],
  },
  {
    number: 19,
    description: "the request log of accounts",
    statements: [
      // From when on the account's requests are logged; 2^53 - 1: they are not.
      "ALTER TABLE accounts ADD COLUMN request_log_from_ms BIGINT NOT NULL DEFAULT 0",
      // `seq` tells the requests of a millisecond apart. Empty texts stand for nothing. `domain` is registrable, never an address.
      // `categories` is `category:count` for the items of a batch, separated by spaces. `skipped`: later requests that were not logged.
      `CREATE TABLE request_log (
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      at_ms BIGINT NOT NULL,
      seq BIGINT NOT NULL,
      key_id TEXT NOT NULL,
      route TEXT NOT NULL,
      status BIGINT NOT NULL,
      code TEXT NOT NULL,
      category TEXT NOT NULL,
      recommendation TEXT NOT NULL,
      reason TEXT NOT NULL,
      domain TEXT NOT NULL,
      took_us BIGINT NOT NULL,
      units BIGINT NOT NULL,
      items BIGINT NOT NULL,
      categories TEXT NOT NULL,
      skipped BIGINT NOT NULL,
      PRIMARY KEY (account_id, at_ms, seq))`,
    ],
  },
  {
    number: 20,
    description: "mails that accounts switched off",
    statements: [
      `CREATE TABLE muted_notices (
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      notice TEXT NOT NULL,
      muted_at_ms BIGINT NOT NULL,
      PRIMARY KEY (account_id, notice))`,
    ],
  },
  {
    number: 21,
    description: "suspensions, notes of the operator and acts of administrators",
    statements: [
      // `suspension_reason` is null while the account is not suspended, and empty when no reason was given.
      "ALTER TABLE accounts ADD COLUMN suspended_at_ms BIGINT",
      "ALTER TABLE accounts ADD COLUMN suspension_reason TEXT",
      "ALTER TABLE accounts ADD COLUMN operator_note TEXT",
      "CREATE INDEX accounts_by_suspension ON accounts (suspended_at_ms) WHERE suspended_at_ms IS NOT NULL",
      "CREATE INDEX keys_by_last4 ON keys (last4)",
      // Suspensions of deleted accounts, by the SHA-256 of the email in hex.
      `CREATE TABLE former_suspensions (
      email_hash TEXT PRIMARY KEY, suspended_at_ms BIGINT NOT NULL, kept_at_ms BIGINT NOT NULL)`,
      // `admin_id` and `account_id` name accounts that may be deleted since, so they are no references.
      `CREATE TABLE admin_acts (
      id TEXT PRIMARY KEY, admin_id TEXT NOT NULL, account_id TEXT, act TEXT NOT NULL, details TEXT NOT NULL, at_ms BIGINT NOT NULL)`,
      "CREATE INDEX admin_acts_by_time ON admin_acts (at_ms, id)",
      "CREATE INDEX admin_acts_by_account ON admin_acts (account_id, at_ms)",
    ],
  },
  {
    number: 22,
    description: "notes of block and allow lists",
    statements: [
      // `shown_as` is the masked form of an address, such as `j…e@acme.com`; the entry itself has only its hash. It has no reference to
      // its entry, whose removal deletes it too.
      `CREATE TABLE own_list_labels (
        owner TEXT NOT NULL,
        account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
        list TEXT NOT NULL CHECK (list IN ('block', 'allow')),
        entry TEXT NOT NULL,
        shown_as TEXT,
        note TEXT,
        PRIMARY KEY (owner, list, entry))`,
      "CREATE INDEX own_list_labels_by_account ON own_list_labels (account_id)",
    ],
  },
  {
    number: 23,
    description: "traffic by the hour",
    statements: [
      // Counts over all accounts. `hour` counts hours since 1 January 1970, UTC.
      "CREATE TABLE traffic (hour BIGINT NOT NULL, measure TEXT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (hour, measure))",
    ],
  },
  {
    number: 24,
    description: "jobs, which check whole lists",
    statements: [
      // `file_key` encrypts the files of the job and stands nowhere else; null: the job is deleted. `lease` counts the processes that
      // have checked its rows, `holder` is the one that does now, and `beat` rises while it lives. `input_offset` and `input_skipped` say
      // where the next row stands, `parts` which files have the results: `lease:bytes`, separated by spaces. `counts` is JSON.
      `CREATE TABLE jobs (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        key_id TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT,
        name TEXT,
        format TEXT NOT NULL,
        input_column TEXT,
        has_header BIGINT NOT NULL,
        policy TEXT NOT NULL,
        includes_tenant BIGINT NOT NULL,
        file_key TEXT,
        created_at_ms BIGINT NOT NULL,
        started_at_ms BIGINT,
        ended_at_ms BIGINT,
        lease BIGINT NOT NULL DEFAULT 0,
        holder TEXT,
        beat BIGINT NOT NULL DEFAULT 0,
        input_bytes BIGINT NOT NULL DEFAULT 0,
        rows_total BIGINT NOT NULL DEFAULT 0,
        input_offset BIGINT NOT NULL DEFAULT 0,
        input_skipped BIGINT NOT NULL DEFAULT 0,
        rows_done BIGINT NOT NULL DEFAULT 0,
        units_used BIGINT NOT NULL DEFAULT 0,
        busy_ms BIGINT NOT NULL DEFAULT 0,
        parts TEXT NOT NULL DEFAULT '',
        result_bytes BIGINT NOT NULL DEFAULT 0,
        counts TEXT NOT NULL DEFAULT '{}')`,
      "CREATE INDEX jobs_by_account ON jobs (account_id, created_at_ms)",
      "CREATE INDEX jobs_by_state ON jobs (state, created_at_ms)",
      // The mark in the folder with the files of jobs, by which a server finds out that it has another folder.
      "CREATE TABLE jobs_folder (singleton BIGINT PRIMARY KEY CHECK (singleton = 1), mark TEXT NOT NULL)",
    ],
  },
  {
    number: 25,
    description: "callbacks of jobs",
    statements: [
      "ALTER TABLE jobs ADD COLUMN callback_url TEXT",
      // Secrets are base64. The former one signs too until `former_until_ms`.
      `CREATE TABLE callback_secrets (
        account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
        secret TEXT NOT NULL,
        made_at_ms BIGINT NOT NULL,
        former_secret TEXT,
        former_until_ms BIGINT)`,
      // `body` is what is sent, written when the event happened. `due_at_ms` is when it is sent next; while it is being sent, when that
      // counts as failed. `result` is what the last attempt came to: a status, or why there was no response.
      `CREATE TABLE callbacks (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
        job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
        event TEXT NOT NULL,
        body TEXT NOT NULL,
        happened_at_ms BIGINT NOT NULL,
        due_at_ms BIGINT NOT NULL,
        attempt_count BIGINT NOT NULL DEFAULT 0,
        tried_at_ms BIGINT,
        result TEXT,
        ending TEXT)`,
      "CREATE INDEX callbacks_by_due ON callbacks (due_at_ms) WHERE ending IS NULL",
      "CREATE INDEX callbacks_by_job ON callbacks (job_id)",
      "CREATE INDEX callbacks_by_account ON callbacks (account_id)",
    ],
  },
  {
    number: 26,
    description: "the audit trail: acts of everybody, not of administrators alone",
    statements: [
      // `admin_id` is the id of any actor from now on. Servers of the version before still write acts of administrators.
      "ALTER TABLE admin_acts ADD COLUMN actor_kind TEXT NOT NULL DEFAULT 'admin'",
      "ALTER TABLE admin_acts ADD COLUMN source TEXT NOT NULL DEFAULT 'admin_pages'",
      "ALTER TABLE admin_acts ADD COLUMN key_id TEXT",
      "CREATE INDEX admin_acts_by_actor ON admin_acts (admin_id, at_ms)",
    ],
  },
  {
    number: 27,
    description: "addresses of nodes",
    statements: ["ALTER TABLE nodes ADD COLUMN url TEXT"],
  },
  {
    number: 28,
    description: "jobs that end their process",
    statements: [
      // How many claims in a row have begun where the job stands and not ended in good order, and the row from which on one may end a process.
      "ALTER TABLE jobs ADD COLUMN stalled_claims BIGINT NOT NULL DEFAULT 0",
      "ALTER TABLE jobs ADD COLUMN suspect_row BIGINT",
    ],
  },
  {
    number: 29,
    description: "starts of nodes",
    // Which start of the server has the row: a node keeps its id over restarts.
    statements: ["ALTER TABLE nodes ADD COLUMN start_id TEXT"],
  },
  {
    number: 30,
    description: "the time that was confirmed last",
    statements: [
      // For SQLite, which has no clock of its own. `confirmed_at_ms` null: none was stored. `held_ms`: how long nothing is deleted yet for its age.
      `CREATE TABLE confirmed_time (
        singleton BIGINT PRIMARY KEY CHECK (singleton = 1), confirmed_at_ms BIGINT, held_ms BIGINT NOT NULL)`,
      "INSERT INTO confirmed_time (singleton, held_ms) VALUES (1, 0)",
    ],
  },
  {
    number: 31,
    description: "how the lists of jobs are read",
    // JSON, which holds nothing of the list. Null: the list was not read yet, or by a version before.
    statements: [
      "ALTER TABLE jobs ADD COLUMN reading TEXT",
      "ALTER TABLE jobs ADD COLUMN tells_canonical BIGINT NOT NULL DEFAULT 0",
      "ALTER TABLE jobs ADD COLUMN tells_duplicates BIGINT NOT NULL DEFAULT 0",
      // A hash of the idempotency key of the upload, and what tells the upload from another one with that key. Null: it had none.
      "ALTER TABLE jobs ADD COLUMN upload_key TEXT",
      "ALTER TABLE jobs ADD COLUMN body_mac TEXT",
      "CREATE UNIQUE INDEX jobs_by_upload_key ON jobs (account_id, upload_key) WHERE upload_key IS NOT NULL",
    ],
  },
  {
    number: 32,
    description: "answers to requests that are sent again",
    // `upload_key` and `body_mac` of jobs are not used any more. `answer` null: the list of the job is arriving. `job_id` null: there is none.
    statements: [
      `CREATE TABLE idempotent_requests (
        account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, key_hash TEXT NOT NULL, job_id TEXT, body_mac TEXT,
        answer TEXT, at_ms BIGINT NOT NULL, PRIMARY KEY (account_id, key_hash))`,
      "CREATE INDEX idempotent_requests_by_job ON idempotent_requests (job_id) WHERE job_id IS NOT NULL",
      "CREATE INDEX idempotent_requests_by_time ON idempotent_requests (at_ms)",
    ],
  },
  {
    number: 33,
    description: "rules of accounts",
    // JSON: rule → recommendation. Null: the account has none.
    statements: ["ALTER TABLE accounts ADD COLUMN rules TEXT"],
  },
  {
    number: 34,
    description: "invitations",
    // The address is sealed under the secret of the link, of which the row has the hash.
    statements: [
      `CREATE TABLE invitations (
        id TEXT PRIMARY KEY, link_hash TEXT NOT NULL UNIQUE, email_hash TEXT NOT NULL UNIQUE, email_by_link TEXT NOT NULL,
        tier BIGINT NOT NULL, created_at_ms BIGINT NOT NULL)`,
    ],
  },
  {
    number: 35,
    description: "columns of the results of jobs",
    // Names with commas. Null: the usual ones.
    statements: ["ALTER TABLE jobs ADD COLUMN result_columns TEXT"],
  },
  {
    number: 36,
    description: "recommendations of batches in the request log",
    // As `categories` are written. Empty: the request is no batch, or a version before logged it.
    statements: ["ALTER TABLE request_log ADD COLUMN recommendations TEXT NOT NULL DEFAULT ''"],
  },
  {
    number: 37,
    description: "terms that were withdrawn",
    // Null: they hold. A row stays, so that its version is not published again with other terms.
    statements: ["ALTER TABLE terms ADD COLUMN withdrawn_at_ms BIGINT"],
  },
  {
    number: 38,
    description: "sizes of request logs",
    // `text_length`: the characters of all texts of the rows. Rows that are there already are counted by the next visit of each account.
    statements: [
      `CREATE TABLE request_log_sizes (
        account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE, row_count BIGINT NOT NULL, text_length BIGINT NOT NULL)`,
    ],
  },
  {
    number: 39,
    description: "the lists that nodes share",
    statements: [
      // One row, once lists are shared. `mark` changes with what is in force. `holder` is the process that changes the files, until `held_until_ms`.
      `CREATE TABLE lists_head (
        singleton BIGINT PRIMARY KEY CHECK (singleton = 1), mark TEXT NOT NULL, holder TEXT, held_until_ms BIGINT NOT NULL)`,
      // `sha256` and `bytes` are those of the file, whose parts are its gzip in base64.
      `CREATE TABLE lists_files (
        name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, bytes BIGINT NOT NULL, parts BIGINT NOT NULL, written_at_ms BIGINT NOT NULL)`,
      `CREATE TABLE lists_file_parts (
        name TEXT NOT NULL REFERENCES lists_files (name) ON DELETE CASCADE, part BIGINT NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (name, part))`,
    ],
  },
  {
    number: 40,
    description: "a way to the acts of operators, which are few among those of accounts",
    statements: ["CREATE INDEX admin_acts_of_operators ON admin_acts (at_ms, id) WHERE actor_kind <> 'account'"],
  },
  {
    number: 41,
    description: "a way to the account that has made most acts",
    statements: ["CREATE INDEX admin_acts_of_accounts ON admin_acts (admin_id) WHERE actor_kind = 'account'"],
  },
  {
    number: 42,
    description: "settings of nodes",
    // A short digest of each setting that all nodes must have the same. Null: the node is of a version before.
    statements: ["ALTER TABLE nodes ADD COLUMN settings TEXT"],
  },
]

/** The tables that the migrations create, and the one in which they are recorded. */
export const TABLE_NAMES: readonly string[] = [
  "migrations",
  ...MIGRATIONS.flatMap(({ statements }) => statements).flatMap(sql => /^CREATE TABLE (\w+)/.exec(sql)?.[1] ?? []),
]

/** The number of the latest migration that this version knows. */
export const SCHEMA_VERSION: number = MIGRATIONS.at(-1)?.number ?? 0
