/**
 * Whether mail can reach an account's email at all. It cannot at a single label, which `owner@localhost` of the first start
 * has, nor below `localhost` and `invalid`, which are reserved for what is no mail host (RFC 6761 §6.3, §6.4). Names for
 * tests and examples are left to the mail server: where they are used, it has an answer.
 */
export function isMailable(email: string): boolean {
  const labels = email.slice(email.lastIndexOf("@") + 1).split(".")
  return labels.length > 1 && !UNREACHABLE.includes(labels.at(-1) ?? "")
}

/** The same as a condition of SQL about a column that holds accounts' emails. */
export function isMailableIn(column: string): string {
  const reachable = UNREACHABLE.map(label => `${column} NOT LIKE '%.${label}'`)
  // An account's email has one at-sign.
  return [`${column} LIKE '%@%.%'`, ...reachable].join(" AND ")
}

const UNREACHABLE: readonly string[] = ["localhost", "invalid"]
