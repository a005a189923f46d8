import { describe, expect, test } from "bun:test"
import { utcDay } from "../../../src/base/time.ts"
import { createAccount } from "../../../src/customers/accounts/accounts.ts"
import { createKey, listKeys, revokeKey } from "../../../src/customers/keys/keys.ts"
import { openSignIn } from "../../../src/customers/sign-in/pending-sign-ins.ts"
import {
  endSession,
  findSession,
  listSessions,
  pruneSessions,
  SESSION_MS,
} from "../../../src/customers/sign-in/sessions.ts"
import { type SignInResult, signIn } from "../../../src/customers/sign-in/sign-in.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { publishTerms } from "../../../src/customers/terms/terms.ts"
import { trustedAt } from "../../support/clock.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { outboxRows } from "../notices/outbox-rows.ts"
import { random, tempLog, tempStore } from "../temp-store.ts"

const EMAIL = "jane@example.com"
const AGENT = "Firefox on Linux"

/** Asks for a sign-in and gives what brings it to its end. */
async function opened(wrap: (store: Store) => Store = store => store) {
  const store = await tempStore()
  const log = tempLog(store)
  const { clock } = log
  const tools = {
    store: wrap(store),
    clock,
    today: () => utcDay(clock()),
    random,
    maySignUp: () => true,
    newAccountTier: 2,
  }
  const asks = async (email = EMAIL) => {
    const { link, code, browser } = await openSignIn(store, clock, random, email)
    return {
      link: () => signIn(tools, { kind: "link", link }, AGENT),
      code: (typed = code) => signIn(tools, { kind: "code", browser, code: typed }, AGENT),
      wrong: code === "000000" ? "000001" : "000000",
    }
  }
  const emails = () => store.all("SELECT email FROM accounts")
  return { store, log, clock, tools, asks, emails }
}

/** What somebody got who was signed in. */
function signedIn(end: SignInResult) {
  if (end.kind !== "signed_in") throw new Error(end.kind)
  return end
}

describe.each(["link", "code"] as const)("a first sign-in by %s", by => {
  test("makes the account, its first key and a session, and the key's notice", async () => {
    const { store, log, clock, asks } = await opened()
    await publishTerms(log, { version: "2026-01", url: "https://example.com/terms", isMaterial: true })
    const { account, newSession: session, firstKey } = signedIn(await (await asks())[by]())
    expect(account).toMatchObject({ email: EMAIL, tier: 2, acceptedTermsVersion: "2026-01" })
    expect(firstKey).toMatch(/^svc_live_[0-9A-Za-z]{38}$/)
    expect(await listKeys(store, account.id, 10)).toMatchObject([{ kind: "secret", revokedAtMs: null }])
    expect(await findSession(store, clock, session.secret)).toMatchObject({ account: { id: account.id } })
    expect(await listSessions(store, clock, account.id)).toMatchObject([{ agent: AGENT }])
    expect(await outboxRows(store)).toMatchObject([{ notice: "key_created" }])
    const rows = JSON.stringify([await store.all("SELECT * FROM sessions"), await store.all("SELECT * FROM keys")])
    for (const secret of [session.secret, firstKey ?? ""]) expect(rows).not.toContain(secret)
  })

  test("makes all of that or nothing, and the link and the code are as good as before", async () => {
    for (const table of ["accounts", "keys", "sessions", "outbox"]) {
      let isBroken = true
      const { store, asks, emails } = await opened(inner => failingAt(inner, table, () => isBroken))
      const brought = await asks()
      expect(await outcomeOf(brought[by]())).toThrow("the disk is full")
      expect([await emails(), await store.all("SELECT id FROM sessions")]).toEqual([[], []])
      isBroken = false
      expect(signedIn(await brought[by]()).firstKey).not.toBeNull()
    }
  })
})

/** A store in which no row can be put into a table, as long as that is so. */
function failingAt(store: Store, table: string, isBroken: () => boolean): Store {
  const whole = (sql: string): string => {
    if (isBroken() && sql.includes(`INSERT INTO ${table} `)) throw new Error("the disk is full")
    return sql
  }
  return {
    all: async (sql, params) => await store.all(whole(sql), params),
    one: async (sql, params) => await store.one(whole(sql), params),
    run: async (sql, params) => await store.run(whole(sql), params),
    transaction: work => store.transaction(inner => work(failingAt(inner, table, isBroken))),
  }
}

test("a later sign-in finds the account, makes no key and accepts no terms", async () => {
  const { store, log, asks, emails } = await opened()
  const { account } = signedIn(await (await asks()).link())
  log.now += 10
  await publishTerms(log, { version: "2026-02", url: "https://example.com/terms", isMaterial: true })
  const again = signedIn(await (await asks()).code())
  expect(again).toMatchObject({ firstKey: null, account: { id: account.id, acceptedTermsVersion: null } })
  expect(await listKeys(store, account.id, 10)).toHaveLength(1)
  expect(await emails()).toEqual([{ email: EMAIL }])
})

test("an account whose keys are all revoked, or that never had one, gets none by signing in", async () => {
  const { store, log, asks } = await opened()
  const creation = await createAccount(log, random, { email: EMAIL, tier: 4, termsVersion: null })
  if (creation.kind !== "created") throw new Error(creation.kind)
  const { id } = creation.account
  expect(signedIn(await (await asks()).link())).toMatchObject({ firstKey: null, account: { id, tier: 4 } })
  const key = await createKey(log, random, { accountId: id, kind: "secret", name: null, origins: [] })
  if (key.kind !== "created") throw new Error(key.kind)
  await revokeKey(log, key.key.id, "owner")
  expect(signedIn(await (await asks()).code()).firstKey).toBeNull()
  expect(await listKeys(store, id, 10)).toHaveLength(1)
})

test("two first sign-ins of one address at once make one account with one key", async () => {
  const { store, asks, emails } = await opened()
  const [one, other] = [await asks(), await asks()]
  const ends = (await Promise.all([one.link(), other.code()])).map(signedIn)
  expect(new Set(ends.map(({ account }) => account.id)).size).toBe(1)
  expect(ends.filter(({ firstKey }) => firstKey !== null)).toHaveLength(1)
  expect(await emails()).toHaveLength(1)
  expect(await store.all("SELECT id FROM keys")).toHaveLength(1)
})

test("one link that is brought twice at once signs in once", async () => {
  const { asks, store } = await opened()
  const brought = await asks()
  const ends = await Promise.all([brought.link(), brought.link(), brought.code()])
  expect(ends.map(({ kind }) => kind).sort()).toEqual(["gone", "gone", "signed_in"])
  expect(await store.all("SELECT id FROM sessions")).toHaveLength(1)
})

test("a wrong code is counted, and makes nothing", async () => {
  const { asks, store, emails } = await opened()
  const { code, wrong } = await asks()
  for (const triesLeft of [4, 3, 2, 1, 0]) expect(await code(wrong)).toEqual({ kind: "wrong_code", triesLeft })
  expect(await code()).toEqual({ kind: "gone" })
  expect([await emails(), await store.all("SELECT id FROM sessions")]).toEqual([[], []])
})

test("an address that cannot be written to signs in to the account that has it", async () => {
  const { log, asks, store } = await opened()
  await createAccount(log, random, { email: "owner@localhost", tier: 4, termsVersion: null })
  expect(signedIn(await (await asks("owner@localhost")).code()).account.email).toBe("owner@localhost")
  expect(await outboxRows(store)).toEqual([])
})

test("a session is open for its days from the sign-in on, and no longer where the clock was far ahead of them", async () => {
  const { store, clock, asks } = await opened()
  const { account, newSession: session } = signedIn(await (await asks()).link())
  const openedAtMs = session.session.createdAtMs
  const isOpen = async (nowMs: number): Promise<boolean> => {
    const found = await findSession(store, () => nowMs, session.secret)
    expect(await listSessions(store, () => nowMs, account.id)).toHaveLength(found === null ? 0 : 1)
    return found !== null
  }
  for (const [afterMs, expected] of [
    [-SESSION_MS, false],
    [1 - SESSION_MS, true],
    [SESSION_MS - 1, true],
    [SESSION_MS, false],
  ] as const)
    expect({ afterMs, isOpen: await isOpen(openedAtMs + afterMs) }).toEqual({ afterMs, isOpen: expected })
  expect(await pruneSessions(store, trustedAt(clock()), 10)).toBe(0)
  expect(await pruneSessions(store, trustedAt(openedAtMs - SESSION_MS), 10)).toBe(1)
})

test("an account ends its own sessions by their ids, and none of another account", async () => {
  const { store, log, clock, asks } = await opened()
  const one = signedIn(await (await asks()).link())
  const other = signedIn(await (await asks("john@example.com")).link())
  expect(await endSession(log, other.account.id, one.newSession.session.id)).toBe(false)
  expect(await findSession(store, clock, one.newSession.secret)).not.toBeNull()
  expect(await endSession(log, one.account.id, one.newSession.session.id)).toBe(true)
  expect(await findSession(store, clock, one.newSession.secret)).toBeNull()
})

test("an account has 20 sessions at most: the next sign-in ends its oldest, and none of another account", async () => {
  const { store, log, clock, asks } = await opened()
  const other = signedIn(await (await asks("john@example.com")).link())
  const secrets: string[] = []
  for (let count = 0; count < 21; count++) {
    log.now++
    secrets.push(signedIn(await (await asks()).link()).newSession.secret)
  }
  const isOpen = await Promise.all(secrets.map(async secret => (await findSession(store, clock, secret)) !== null))
  expect(isOpen).toEqual([false, ...Array(20).fill(true)])
  expect(await findSession(store, clock, other.newSession.secret)).not.toBeNull()
})
