import { parseJson } from "../../base/text.ts"
import { isoDate, isoInstant } from "../../base/time.ts"
import { NEVER_LOGGED_MS } from "../request-log/request-log-switch.ts"
import type { SqlValue, Store } from "../store/core/store.ts"
import { UNIT_POOLS, unitSubject } from "./unit-subjects.ts"

/** One list of the export: its description, and the query for the rows of the account ($1). */
type ExportedList = {
  readonly description: string
  readonly table: string
  readonly columns: readonly string[]
  readonly whereSql: string
  /** Columns that identify a row of the account, each with a value that sorts before all others. */
  readonly order: Readonly<Record<string, string | number>>
}

const OF_ACCOUNT = "account_id = $1"

/** The lists of the export in order: every table with rows about an account, without hashes of keys or cookies. */
export const EXPORTED_LISTS = {
  keys: {
    description:
      "Your keys, active, expired and revoked, with their limits. A secret key itself is not stored; a publishable one is.",
    table: "keys",
    columns: [
      "id",
      "kind",
      "name",
      "last4",
      "origins",
      "created_at_ms",
      "last_used_at_ms",
      "revoked_at_ms",
      "revoked_by",
      "expires_at_ms",
      "units_per_day",
      "requests_per_second",
      "networks",
      "public_text",
      "reminded_for_ms",
      "networks_since_ms",
      "network_mail_at_ms",
    ],
    whereSql: OF_ACCOUNT,
    order: { id: "" },
  },
  key_networks: {
    description:
      "How many networks used each secret key, and when each was first and last seen. The networks themselves are not stored.",
    table: "key_networks",
    columns: ["key_id", "network_hash", "first_seen_at_ms", "last_seen_at_ms"],
    whereSql: "key_id IN (SELECT id FROM keys WHERE account_id = $1)",
    order: { key_id: "", network_hash: "" },
  },
  usage: {
    description: "What each key did on each day: counts, no addresses and no domains.",
    table: "usage",
    columns: ["day", "key_id", "measure", "count"],
    whereSql: OF_ACCOUNT,
    order: { day: -1, key_id: "", measure: "" },
  },
  units: {
    description:
      "Reserved units of the daily quotas: of your secret keys, of your publishable keys, of your reports, and of each key with its own limit.",
    table: "units",
    columns: ["subject", "day", "leased"],
    whereSql: `(subject IN (${UNIT_POOLS.map(pool => `$1 || '${unitSubject("", pool)}'`).join(", ")})
      OR subject IN (SELECT id FROM keys WHERE account_id = $1))`,
    order: { subject: "", day: -1 },
  },
  requests: {
    description: "Your last requests, without addresses: what the request log shows.",
    table: "request_log",
    columns: [
      ...["at_ms", "seq", "key_id", "route", "status", "code", "category", "recommendation", "reason", "domain"],
      ...["took_us", "units", "items", "categories", "recommendations", "skipped"],
    ],
    whereSql: "account_id = $1 AND at_ms >= (SELECT request_log_from_ms FROM accounts WHERE id = $1)",
    order: { at_ms: -1, seq: -1 },
  },
  feedback: {
    description: "The verdicts that you reported as wrong, with the decision on each report.",
    table: "feedback",
    columns: [
      "id",
      "domain",
      "role_word",
      "current_category",
      "reported_category",
      "comment",
      "status",
      "created_at_ms",
      "decided_at_ms",
    ],
    whereSql: OF_ACCOUNT,
    order: { id: "" },
  },
  list_entries: {
    description: "Your block and allow lists. They have hashes instead of addresses.",
    table: "own_list_entries",
    columns: ["list", "entry", "added_at_ms"],
    whereSql: OF_ACCOUNT,
    order: { list: "", entry: "" },
  },
  list_labels: {
    description: "The notes on your block and allow lists, and the masked form of each address.",
    table: "own_list_labels",
    columns: ["list", "entry", "shown_as", "note"],
    whereSql: OF_ACCOUNT,
    order: { list: "", entry: "" },
  },
  jobs: {
    description:
      "Your jobs, without their lists and results, which you download by the API. They are deleted with the job, and with your account.",
    table: "jobs",
    columns: [
      ...["id", "key_id", "state", "reason", "name", "format", "input_column", "has_header", "policy", "callback_url"],
      ...[
        "includes_tenant",
        "tells_canonical",
        "tells_duplicates",
        "result_columns",
        "created_at_ms",
        "started_at_ms",
        "ended_at_ms",
        "input_bytes",
        "rows_total",
        "rows_done",
        "reading",
      ],
      ...["units_used", "busy_ms", "result_bytes", "counts"],
    ],
    whereSql: "account_id = $1 AND state <> 'deleted'",
    order: { id: "" },
  },
  callback_secrets: {
    description: "When your callback secret was made. The secret itself is not in this file.",
    table: "callback_secrets",
    columns: ["made_at_ms", "former_until_ms"],
    whereSql: OF_ACCOUNT,
    order: { made_at_ms: -1 },
  },
  callbacks: {
    description: "What was sent to the callback URLs of your jobs, and how it went.",
    table: "callbacks",
    columns: ["id", "job_id", "event", "body", "happened_at_ms", "attempt_count", "tried_at_ms", "result", "ending"],
    whereSql: OF_ACCOUNT,
    order: { id: "" },
  },
  sessions: {
    description: "Your active sessions.",
    table: "sessions",
    columns: ["id", "agent", "created_at_ms", "seen_at_ms"],
    whereSql: OF_ACCOUNT,
    order: { id: "" },
  },
  mails: {
    description: "The emails that we wrote to you in the last 30 days, and if they were sent.",
    table: "outbox",
    columns: ["notice", "subject", "particulars", "written_at_ms", "ending", "ended_at_ms"],
    whereSql: OF_ACCOUNT,
    order: { notice: "", subject: "" },
  },
  muted_mails: {
    description: "The emails that you switched off, and since when.",
    table: "muted_notices",
    columns: ["notice", "muted_at_ms"],
    whereSql: OF_ACCOUNT,
    order: { notice: "" },
  },
  admin_acts: {
    description: "What was changed in your account and how, and what you changed as an administrator.",
    table: "admin_acts",
    columns: ["id", "act", "details", "actor_kind", "source", "key_id", "at_ms"],
    whereSql: "(account_id = $1 OR admin_id = $1)",
    order: { id: "" },
  },
} as const satisfies Record<string, ExportedList>

/** The members of the export that are not lists. */
export const EXPORTED_MEMBERS = {
  exported_at: { description: "When the file was made." },
  account: {
    description:
      "Your email address, your tier, when the account was created, the terms that you accepted, the switch of the request log, your rules, a suspension, and a note of the operator.",
  },
} as const satisfies Record<string, { readonly description: string }>

const ACCOUNT_COLUMNS =
  "id, email, tier, created_at_ms, accepted_terms_version, accepted_terms_at_ms, request_log_from_ms, rules, " +
  "suspended_at_ms, suspension_reason, operator_note"

type ExportedRow = Readonly<Record<string, SqlValue>>

/** How many rows are read at once. */
const PAGE_ROWS = 500

/**
 * Yields everything stored about an account as one JSON object, in parts. Its members are those of `EXPORTED_MEMBERS` and
 * `EXPORTED_LISTS`; instants are ISO 8601 in UTC. One page of rows is in memory at a time. Throws when the store fails; the
 * parts yielded before are then incomplete JSON.
 */
export async function* exportAccount(store: Store, nowMs: number, accountId: string): AsyncGenerator<string> {
  const account = await store.one<ExportedRow>(`SELECT ${ACCOUNT_COLUMNS} FROM accounts WHERE id = $1`, [accountId])
  yield `{\n"exported_at": ${JSON.stringify(isoInstant(nowMs))},\n"account": ${account === null ? "null" : toJson(account)}`
  for (const [name, list] of Object.entries<ExportedList>(EXPORTED_LISTS)) {
    yield `,\n${JSON.stringify(name)}: [`
    let separator = "\n"
    for await (const rows of readPages(store, list, accountId)) {
      yield rows.map((row, at) => `${at === 0 ? separator : ",\n"}${toJson(row)}`).join("")
      separator = ",\n"
    }
    yield "]"
  }
  yield "\n}\n"
}

async function* readPages(store: Store, { table, columns, whereSql, order }: ExportedList, accountId: string) {
  const names = Object.keys(order)
  const places = names.map((_, at) => `$${at + 3}`)
  const sql = `SELECT ${columns.join(", ")} FROM ${table} WHERE ${whereSql} AND (${names.join(", ")}) > (${places.join(", ")})
    ORDER BY ${names.join(", ")} LIMIT $2`
  let after: readonly SqlValue[] = Object.values(order)
  for (;;) {
    const rows = await store.all<ExportedRow>(sql, [accountId, PAGE_ROWS, ...after])
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    if (rows.length < PAGE_ROWS) return
    after = names.map(name => last[name] ?? null)
  }
}

/** A row as JSON, with readable member names and instants. */
const toJson = (row: ExportedRow): string =>
  JSON.stringify(Object.fromEntries(Object.entries(row).map(([column, cell]) => exportedMember(column, cell))))

/** Columns of texts that are separated by spaces. */
const LIST_COLUMNS: readonly string[] = ["origins", "networks"]

/** Columns of JSON texts. */
const JSON_COLUMNS: readonly string[] = ["particulars", "counts", "rules"]

const INSTANT_COLUMN = /(?:^|_)at_ms$/

function exportedMember(column: string, cell: SqlValue): readonly [name: string, value: unknown] {
  if (INSTANT_COLUMN.test(column))
    return [column.slice(0, -"_ms".length), typeof cell === "number" ? isoInstant(cell) : null]
  if (column === "request_log_from_ms") return ["request_log", cell === NEVER_LOGGED_MS ? "off" : "on"]
  if (column === "day" && typeof cell === "number") return ["date", isoDate(cell)]
  if (LIST_COLUMNS.includes(column) && typeof cell === "string") return [column, cell === "" ? [] : cell.split(" ")]
  if (JSON_COLUMNS.includes(column) && typeof cell === "string") return [column, parseJson(cell) ?? null]
  return [column, cell]
}
