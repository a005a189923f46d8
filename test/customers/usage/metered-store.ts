import { Database } from "bun:sqlite"
import { SQL } from "bun"
import type { Category } from "../../../src/contract/categories.ts"
import type { Recommendation } from "../../../src/contract/policies.ts"
import type { CountedVerdict, MeteredKey } from "../../../src/customers/usage/measures.ts"
import { USAGE_METER_BOUNDS, UsageMeter, type UsageMeterBounds } from "../../../src/customers/usage/usage-meter.ts"
import { engineNow } from "../engines.ts"
import { newAccount, tempLog, tempPlace, tempStore } from "../temp-store.ts"

/** The noon at which the clock of a metered store stands at first. */
export const NOON = Date.UTC(2026, 2, 10, 12)

/** A day in milliseconds. */
export const DAY_MS = 86_400_000

/** The day of `NOON`, as the store counts days. */
export const TODAY = Math.floor(NOON / DAY_MS)

/** A secret and a publishable key. */
export const SECRET: MeteredKey = { id: "key_s", kind: "secret" }
export const PUBLISHABLE: MeteredKey = { id: "key_p", kind: "publishable" }

/** A verdict of a category. */
export const verdict = (category: Category, recommendation: Recommendation = "allow"): CountedVerdict => ({
  category,
  recommendation,
})

/** A row of the table of usage. */
export type UsageTableRow = {
  readonly account_id: string
  readonly key_id: string
  readonly day: number
  readonly measure: string
  readonly count: number
}

/** A store with one account, its meter, a clock to set, and what stands in the table of usage. */
export async function meteredStore(bounds: Partial<UsageMeterBounds> = {}, path = tempPlace()) {
  const store = await tempStore(path)
  const log = tempLog(store)
  log.now = NOON
  let askedCount = 0
  const meter = new UsageMeter(store, log.clock, () => void askedCount++, { ...USAGE_METER_BOUNDS, ...bounds })
  const account = (email: string) => newAccount(log, email)
  return {
    path,
    store,
    log,
    meter,
    account,
    accountId: await account(`${crypto.randomUUID()}@example.com`),
    askedCount: () => askedCount,
    rows: () => store.all<UsageTableRow>("SELECT * FROM usage ORDER BY account_id, key_id, day, measure"),
    /** Writes all that is counted; gives how many flushes that took. */
    flushAll: async () => {
      let flushCount = 0
      while ((await meter.flush()) > 0) flushCount++
      return flushCount
    },
    /** Makes flushes fail that write `measure`: at the statement, when others have happened, or not before the commit. */
    refuse: (measure: string, at: "statement" | "commit" = "statement") =>
      beside(path, [
        "CREATE TABLE orphans (n TEXT REFERENCES terms (version) DEFERRABLE INITIALLY DEFERRED)",
        ...(engineNow() === "sqlite" ? sqliteTrigger : postgresTrigger)(measure, at),
      ]),
    /** Ends what `refuse` began. */
    accept: () =>
      beside(path, [`DROP TRIGGER refused${engineNow() === "sqlite" ? "" : " ON usage"}`, "DROP TABLE orphans"]),
  }
}

type Refusal = (measure: string, at: "statement" | "commit") => readonly string[]

const ORPHAN = "INSERT INTO orphans VALUES ('1')"

const sqliteTrigger: Refusal = (measure, at) => [
  `CREATE TRIGGER refused BEFORE INSERT ON usage WHEN NEW.measure = '${measure}'
    BEGIN ${at === "statement" ? "SELECT RAISE(ABORT, 'refused')" : ORPHAN}; END`,
]

const postgresTrigger: Refusal = (measure, at) => [
  `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN ${at === "statement" ? "RAISE 'refused'" : ORPHAN}; RETURN NEW; END $$`,
  `CREATE TRIGGER refused BEFORE INSERT ON usage FOR EACH ROW WHEN (NEW.measure = '${measure}') EXECUTE FUNCTION refuse()`,
]

/** Runs statements on a connection of its own; the store takes none with a semicolon, which triggers need. */
async function beside(path: string, statements: readonly string[]): Promise<void> {
  if (engineNow() === "sqlite") {
    const database = new Database(path)
    for (const statement of statements) database.run(statement)
    database.close()
    return
  }
  const client = new SQL(path, { max: 1 })
  for (const statement of statements) await client.unsafe(statement)
  await client.close()
}
