import { describe, expect } from "bun:test"
import { SQL } from "bun"
import { seeded } from "../../../bench/load/seeded-random.ts"
import { removeAccount, setTier } from "../../../src/customers/accounts/accounts.ts"
import { decideFeedback } from "../../../src/customers/feedback/decision.ts"
import { listFeedbackOf, recordFeedback } from "../../../src/customers/feedback/feedback.ts"
import { createKey, listKeys, revokeKey } from "../../../src/customers/keys/keys.ts"
import { LastUseBuffer } from "../../../src/customers/keys/last-use-buffer.ts"
import { claimMails, endMail } from "../../../src/customers/notices/outbox.ts"
import { parseStoredEntry } from "../../../src/customers/own-lists/entries.ts"
import { addEntries, removeEntries } from "../../../src/customers/own-lists/own-lists.ts"
import { addLeased, subtractLeased } from "../../../src/customers/quota/units/unit-rows.ts"
import { type AttributedLog, latestChangeId } from "../../../src/customers/store/change-log/change-log.ts"
import type { OpenStore, Store } from "../../../src/customers/store/core/store.ts"
import { StoreError } from "../../../src/customers/store/core/store-error.ts"
import { openPostgres, TRANSACTION_ATTEMPTS_MAX } from "../../../src/customers/store/postgres-store.ts"
import { acceptTerms, publishTerms } from "../../../src/customers/terms/terms.ts"
import { notifyNextAccounts } from "../../../src/customers/terms/terms-notices.ts"
import { addCounts } from "../../../src/customers/usage/usage-rows.ts"
import { later } from "../../support/later.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { isBefore15 } from "../../support/postgres.ts"
import { emptyDatabase } from "../../support/postgres-databases.ts"
import { onPostgres } from "../engines.ts"
import { newAccount, random, tempLog } from "../temp-store.ts"

/** A database that detects deadlocks at once, two stores on it, and the count of transactions that it aborted. */
async function twoStores() {
  const url = emptyDatabase()
  const admin = new SQL(url, { max: 1 })
  onTestEnd(() => admin.close({ timeout: 0 }))
  await admin.unsafe(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET deadlock_timeout = '10ms'`)
  const setUp = async (): Promise<OpenStore> => {
    const store = await openPostgres(url, { clock: () => 1_000, setTimer: later, random })
    onTestEnd(store.close)
    return store
  }
  const conflictCount = async (): Promise<number> => {
    if (!isBefore15()) await admin.unsafe("SELECT pg_stat_force_next_flush()")
    const [row] = await admin.unsafe<{ count: string }[]>(
      "SELECT deadlocks AS count FROM pg_stat_database WHERE datname = current_database()",
    )
    return Number(row?.count)
  }
  return { one: await setUp(), other: await setUp(), conflictCount }
}

const take = (store: Store, id: string) => store.run("UPDATE accounts SET tier = tier + 1 WHERE id = $1", [id])

/** Resolves for all callers when there are so many. */
function meeting(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let come = 0
  return () => {
    if (++come === count) resolve()
    return promise
  }
}

describe("transactions that deadlock", () => {
  onPostgres("one is retried, and both are committed once", async () => {
    const { one, other } = await twoStores()
    const [first, second] = [await newAccount(tempLog(one)), await newAccount(tempLog(one), "joe@example.com")]
    const met = meeting(2)
    let begunCount = 0
    const crossed = (store: Store, ids: readonly [string, string]): Promise<number> =>
      store.transaction(async inner => {
        begunCount++
        await take(inner, ids[0])
        await met()
        return await take(inner, ids[1])
      })
    expect(await Promise.all([crossed(one, [first, second]), crossed(other, [second, first])])).toEqual([1, 1])
    expect(begunCount).toBe(3)
    expect(await one.all("SELECT tier FROM accounts")).toEqual([{ tier: 2 }, { tier: 2 }])
  })

  onPostgres("a transaction that conflicts at every attempt fails with a StoreError and writes nothing", async () => {
    const { one } = await twoStores()
    const id = await newAccount(tempLog(one))
    let begunCount = 0
    const work = one.transaction(async inner => {
      begunCount++
      await take(inner, id)
      await inner.run("DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''serialization_failure''; END'")
    })
    const error = await work.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreError)
    expect(error).toMatchObject({ code: "conflict" })
    expect(begunCount).toBe(TRANSACTION_ATTEMPTS_MAX)
    expect(await one.all("SELECT tier FROM accounts")).toEqual([{ tier: 0 }])
  })

  onPostgres("a retried transaction records its changes once", async () => {
    const { one, other } = await twoStores()
    const log = tempLog(one)
    const id = await newAccount(log)
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>()
    const { promise: isBegun, resolve: begun } = Promise.withResolvers<void>()
    // Locks the log's head, then the account: the reverse order of accepting terms.
    const crossing = other.transaction(async inner => {
      await inner.run("UPDATE change_head SET id = id WHERE singleton = 1")
      held()
      await isBegun
      await take(inner, id)
    })
    await isHeld
    const changing = setTier(log, id, 3)
    begun()
    await Promise.all([crossing, changing])
    expect(log.received).toEqual([{ kind: "account_changed", subject: id }])
    expect(await latestChangeId(one)).toBe(1)
  })
})

type Deed = (log: AttributedLog, chance: () => number) => Promise<unknown>

/** How often each deed is done by each of so many on each store. */
const [ROUNDS, EACH] = [Number(process.env["CONFLICT_ROUNDS"] ?? 6), 3]
const ACCOUNTS = 4

describe("every kind of write transaction", () => {
  onPostgres("runs concurrently with every other kind, and none fails", async () => {
    const { one, other, conflictCount } = await twoStores()
    const logs = [one, other].map(store => tempLog(store))
    const accounts = await Promise.all(
      Array.from({ length: ACCOUNTS }, (_, at) => newAccount({ ...tempLog(one) }, `stress-${at}@example.com`, 4)),
    )
    const chance = seeded(1)
    const failed: unknown[] = []
    const worker = async (log: AttributedLog, deed: Deed): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++)
        await deed(log, chance).catch((error: unknown) => failed.push([deed.name, String(error)]))
    }
    const deeds = Object.values(deedsOn(accounts))
    const workers = logs.flatMap(log => deeds.flatMap(deed => Array.from({ length: EACH }, () => worker(log, deed))))
    await Promise.all(workers)
    expect(failed).toEqual([])
    console.log(`${workers.length * ROUNDS} transactions side by side; ${await conflictCount()} were begun anew`)
  })
})

/** Every noun's transaction, on the same few accounts, keys, domains and mails. */
function deedsOn(accounts: readonly string[]): Readonly<Record<string, Deed>> {
  const some = <T>(chance: () => number, all: readonly T[]): T | undefined => all[Math.floor(chance() * all.length)]
  const account = (chance: () => number): string => some(chance, accounts) ?? ""
  const keyIds = async (log: AttributedLog): Promise<string[]> => {
    const keys = await Promise.all(accounts.map(id => listKeys(log.store, id, 10)))
    return keys.flat().map(({ id }) => id)
  }
  let count = 0
  return {
    publishes: log =>
      publishTerms(log, { version: `v${count++}`, url: "https://example.com/terms", isMaterial: count % 2 === 0 }),
    accepts: (log, chance) => acceptTerms(log, account(chance)),
    tells: log => notifyNextAccounts(log.store, 5_000, 2),
    setsTier: (log, chance) => setTier(log, account(chance), 4),
    comesAndGoes: async log => await removeAccount(log, await newAccount(log, `passing-${count++}@example.com`)),
    goes: async (log, chance) => {
      // One that others are at work on.
      if (chance() < 0.1) await removeAccount(log, account(chance))
    },
    makesKey: (log, chance) =>
      createKey(log, random, { accountId: account(chance), kind: "secret", name: null, origins: [] }),
    revokes: async (log, chance) => await revokeKey(log, some(chance, await keyIds(log)) ?? "", "owner"),
    notesUse: async (log, chance) => {
      const used = new LastUseBuffer(() => Math.floor(chance() * 1e6))
      for (const id of (await keyIds(log)).toSorted(() => chance() - 0.5)) used.record(id)
      // Where an account goes meanwhile, its keys are left out of the next flush.
      await used.flush(log.store).catch(() => used.flush(log.store))
    },
    counts: async log => {
      const counters = accounts.map(accountId => ({ ...COUNTER, accountId }))
      // Where an account goes meanwhile, it is written at the next turn, without that one.
      await log.store
        .transaction(inner => addCounts(inner, counters))
        .catch((error: unknown) => {
          if (!String(error).includes("FOREIGN KEY")) throw error
        })
    },
    leases: log =>
      log.store.transaction(async inner => {
        const units = accounts.toSorted().map(subject => ({ subject, day: 1, count: 5 }))
        await addLeased(inner, units, 1e6)
      }),
    givesBack: log =>
      log.store.transaction(async inner => {
        for (const subject of accounts.toSorted()) await subtractLeased(inner, { subject, day: 1, count: 1 })
      }),
    reports: (log, chance) =>
      recordFeedback(log, random, {
        accountId: account(chance),
        domain: `d${Math.floor(chance() * 5)}.com`,
        roleWord: null,
        currentCategory: "business",
        reportedCategory: "relay",
        comment: null,
      }),
    decides: async (log, chance) => {
      const reports = (await Promise.all(accounts.map(id => listFeedbackOf(log.store, id, null, 10)))).flat()
      await decideFeedback(log, some(chance, reports)?.id ?? "", chance() < 0.5 ? "accepted" : "rejected")
    },
    lists: (log, chance) => addEntries(log, { accountId: account(chance) }, "block", ENTRIES),
    unlists: (log, chance) => removeEntries(log, { accountId: account(chance) }, "block", ENTRIES.toReversed()),
    operates: log => addEntries(log, "operator", "block", ENTRIES),
    operatesNot: log => removeEntries(log, "operator", "block", ENTRIES.toReversed()),
    mails: async log => {
      const claim = `claim-${count++}`
      for (const mail of await claimMails(log.store, claim, 1e9, 5)) await endMail(log.store, claim, mail, "sent", 1e9)
    },
  }
}

const COUNTER = { keyId: "site", day: 1, measure: "checks", count: 1 } as const
const ENTRIES = ["a.com", "b.com", "c.com"].map(parseStoredEntry)
