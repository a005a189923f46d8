import type { Figures } from "./figures.ts"

/**
 * What bounds the rows of each table. After so many days of the same work it has no more rows than before; null: it grows with accounts, or
 * with what operators do, and with nothing else.
 */
export const SETTLED_AFTER_DAYS: Readonly<Record<string, { readonly days: number | null; readonly bound: string }>> = {
  migrations: { days: 0, bound: "the program" },
  change_head: { days: 0, bound: "one row" },
  changes: { days: null, bound: "the last 10 000" },
  accounts: { days: null, bound: "accounts" },
  keys: { days: null, bound: "five usable ones an account; revoked and expired ones for 400 days" },
  units: { days: null, bound: "subjects, seven days of each with checks" },
  usage: { days: 95, bound: "90 days" },
  feedback: { days: null, bound: "400 days" },
  corrections: { days: null, bound: "reports that operators accept, and a number of all" },
  own_list_entries: { days: null, bound: "10 000 an account" },
  key_origins: { days: null, bound: "keys" },
  terms: { days: null, bound: "versions that operators publish" },
  host_sightings_head: { days: 0, bound: "one row" },
  host_sightings: { days: null, bound: "a number of all" },
  domain_facts: { days: null, bound: "a number of all" },
  outbox: { days: 180, bound: "30 days, with those about a network that a key had not used for 90 days" },
  sign_ins: { days: 2, bound: "minutes" },
  sessions: { days: 35, bound: "30 days, 20 an account" },
  free_check_secret: { days: 0, bound: "one row" },
  free_check_days: { days: 3, bound: "two days" },
  free_check_passes: { days: 3, bound: "hours" },
  free_check_bans: { days: 3, bound: "a day after their end" },
  nodes: { days: 0, bound: "servers" },
  sign_in_wrong_codes: { days: 3, bound: "a day" },
  key_networks: { days: 95, bound: "90 days, 100 a key" },
  request_log: { days: 10, bound: "seven days, 10 000 an account, a budget of bytes" },
  request_log_sizes: { days: null, bound: "accounts" },
  muted_notices: { days: null, bound: "kinds of mails an account" },
  former_suspensions: { days: null, bound: "365 days" },
  admin_acts: { days: null, bound: "400 days, 200 000 in all" },
  own_list_labels: { days: null, bound: "entries" },
  traffic: { days: 35, bound: "hours of a month" },
  jobs: { days: 5, bound: "48 hours after their end, 20 an account" },
  jobs_folder: { days: 0, bound: "one row" },
  callback_secrets: { days: null, bound: "accounts" },
  callbacks: { days: 5, bound: "their jobs" },
  confirmed_time: { days: 0, bound: "one row" },
  idempotent_requests: { days: 3, bound: "24 hours, 10 000 an account" },
  lists_head: { days: 0, bound: "one row" },
  lists_files: { days: null, bound: "versions of the lists that nodes keep" },
  lists_file_parts: { days: null, bound: "their sizes" },
  invitations: { days: 10, bound: "seven days, 1 000 in all" },
}

/** Days differ by so much. */
const ROWS_FACTOR = 1.2
const ROWS_NOISE = 50
const VALUE_FACTOR = 1.5
const VALUE_NOISE = 5

/** What must not grow once it has settled, and when that is. Times differ from run to run on a busy machine, and are not compared here. */
const SETTLED_VALUES: Readonly<Record<string, number>> = {
  descriptors: 2,
  "private MB": 100,
  "backups MB": 130,
  "database MB": 130,
  "log of the database MB": 30,
  "lists MB": 100,
  "jobs MB": 5,
}

/** What grew after it must have settled, and tables without a bound, in sentences. */
export function growthOf(all: readonly Figures[]): readonly string[] {
  const last = all.at(-1)
  if (last === undefined) return []
  const before = (days: number): Figures | undefined => all.find(({ day }) => day >= days && day < last.day)
  const tables = Object.entries(SETTLED_AFTER_DAYS).flatMap(([name, { days }]) => {
    const [was, is] = [days === null ? undefined : before(days)?.rows.get(name), last.rows.get(name) ?? 0]
    return was !== undefined && is > was * ROWS_FACTOR + ROWS_NOISE ? [`${name} grew from ${was} to ${is} rows`] : []
  })
  const values = Object.entries(SETTLED_VALUES).flatMap(([name, days]) => {
    const [was, is] = [before(days)?.values.get(name), last.values.get(name) ?? 0]
    return was !== undefined && is > was * VALUE_FACTOR + VALUE_NOISE
      ? [`${name} grew from ${was.toFixed(1)} to ${is.toFixed(1)}`]
      : []
  })
  const unbounded = [...last.rows.keys()].filter(name => !Object.hasOwn(SETTLED_AFTER_DAYS, name))
  return [...unbounded.map(name => `nothing is said of what bounds ${name}`), ...tables, ...values]
}
