/** The daily counts of an account, each of them exact over all processes: units of its secret keys and of its publishable keys, and reports. */
export const UNIT_POOLS = ["account", "publishable", "reports"] as const
export type UnitPool = (typeof UNIT_POOLS)[number]

/** The subject under which units of an account are leased. All publishable keys of the account share one, revoked ones included. */
export const unitSubject = (accountId: string, pool: UnitPool): string =>
  pool === "account" ? accountId : `${accountId}/${pool}`
