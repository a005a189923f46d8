import { expect, test } from "bun:test"
import { LIMITS } from "../../../src/contract/limits.ts"
import { createAccount, findAccount, removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { readChangesSince } from "../../../src/customers/store/change-log/change-log.ts"
import { acceptTerms, currentTermsVersion, publishTerms } from "../../../src/customers/terms/terms.ts"
import { TermsCache } from "../../../src/customers/terms/terms-cache.ts"
import { settled } from "../../support/time.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

const DAY_MS = 86_400_000
const NOTICE_MS = LIMITS.termsNoticeDays * DAY_MS

/** One account, seen by the process that changes it and by another one on the same file that reads the change log. */
async function opened() {
  const path = tempPlace()
  const [store, otherStore] = [await tempStore(path), await tempStore(path)]
  const log = tempLog(store)
  log.now = Date.UTC(2026, 0, 1)
  const here = new TermsCache(store, log.clock, () => undefined)
  const there = new TermsCache(otherStore, log.clock, () => undefined)
  for (const held of [here, there]) await held.load()
  const changes = { ...log, clock: log.clock, notify: here.applyChanges.bind(here) }
  const accountId = await newAccount(changes)
  let publishedCount = 0
  const publish = async (isMaterial: boolean) => {
    await publishTerms(changes, { version: `${++publishedCount}`, url: "https://example.com/", isMaterial })
  }
  /** What the two processes say of the account, once the other has read the log and both their readings are over. */
  const seen = async (id = accountId): Promise<readonly string[]> => {
    const read = await readChangesSince(otherStore, 0)
    if (read.kind === "read") there.applyChanges(read.changes)
    else there.invalidateAll()
    for (let turn = 0; turn < 3; turn++) for (const one of [store, otherStore]) await one.one("SELECT 1")
    await settled()
    const account = await findAccount(store, id)
    return account === null ? ["gone", "gone"] : [here.stateOf(account).kind, there.stateOf(account).kind]
  }
  return { log, changes, accountId, publish, seen }
}
type Opened = Awaited<ReturnType<typeof opened>>

/** How a table says a state or an event, and how it comes about. */
type Row = { readonly description: string; readonly happen: (all: Opened) => Promise<unknown> }

const moveClock =
  (ms: number) =>
  async ({ log }: Opened): Promise<void> => {
    log.now += ms
  }

/** The states, and how a new account comes into each. */
const STATES = {
  nothing_published: { description: "an account that no terms were published for", happen: moveClock(0) },
  accepted: {
    description: "an account that has accepted",
    happen: async all => {
      await all.publish(true)
      await moveClock(DAY_MS)(all)
      await acceptTerms(all.changes, all.accountId)
    },
  },
  grace: { description: "an account in its notice", happen: ({ publish }) => publish(true) },
  not_accepted: {
    description: "an account past its notice",
    happen: async all => {
      await all.publish(true)
      await moveClock(NOTICE_MS)(all)
    },
  },
} as const satisfies Record<string, Row>
type State = keyof typeof STATES

/** The events, each a day after the account came into its state. */
const EVENTS = {
  material_publication: { description: "when material terms are published", happen: ({ publish }) => publish(true) },
  plain_publication: { description: "when other terms are published", happen: ({ publish }) => publish(false) },
  notice_nearly_over: {
    description: "up to the last millisecond of thirty days",
    happen: moveClock(NOTICE_MS - DAY_MS - 1),
  },
  notice_over: { description: "when thirty days have passed", happen: moveClock(NOTICE_MS - DAY_MS) },
  clock_set_back: { description: "when the clock is set back by two days", happen: moveClock(-2 * DAY_MS) },
  acceptance: {
    description: "when somebody accepts",
    happen: ({ changes, accountId }) => acceptTerms(changes, accountId),
  },
  account_made: {
    description: "when another account is made",
    happen: async ({ changes, seen }) => {
      const termsVersion = await currentTermsVersion(changes.store)
      const made = await createAccount(changes, random, { email: "new@example.com", tier: 0, termsVersion })
      expect(await seen(made.kind === "created" ? made.account.id : "")).toEqual(["accepted", "accepted"])
    },
  },
  account_removed: {
    description: "when the account is removed",
    happen: ({ changes, accountId }) => removeAccount(changes, accountId),
  },
} as const satisfies Record<string, Row>
type Event = keyof typeof EVENTS

/** Every state × every event → what the account is seen as then. A cell that is missing does not compile. */
const TABLE = {
  nothing_published: {
    material_publication: "grace",
    plain_publication: "accepted",
    notice_nearly_over: "accepted",
    notice_over: "accepted",
    clock_set_back: "accepted",
    acceptance: "accepted",
    account_made: "accepted",
    account_removed: "gone",
  },
  accepted: {
    material_publication: "grace",
    plain_publication: "accepted",
    notice_nearly_over: "accepted",
    notice_over: "accepted",
    clock_set_back: "accepted",
    acceptance: "accepted",
    account_made: "accepted",
    account_removed: "gone",
  },
  grace: {
    material_publication: "grace",
    plain_publication: "grace",
    notice_nearly_over: "grace",
    notice_over: "not_accepted",
    clock_set_back: "grace",
    acceptance: "accepted",
    account_made: "grace",
    account_removed: "gone",
  },
  not_accepted: {
    material_publication: "not_accepted",
    plain_publication: "not_accepted",
    notice_nearly_over: "not_accepted",
    notice_over: "not_accepted",
    clock_set_back: "grace",
    acceptance: "accepted",
    account_made: "not_accepted",
    account_removed: "gone",
  },
} as const satisfies { readonly [S in State]: { readonly [E in Event]: Seen } }

/** What is seen of an account, and how a sentence says it. */
const SEEN_SAYS = {
  accepted: "has nothing left to accept",
  grace: "is in its notice",
  not_accepted: "is refused",
  gone: "is gone",
} as const
type Seen = keyof typeof SEEN_SAYS

const SEEN_BEFORE = {
  nothing_published: "accepted",
  accepted: "accepted",
  grace: "grace",
  not_accepted: "not_accepted",
} as const satisfies { readonly [S in State]: Seen }

const STATE_NAMES = Object.keys(STATES) as State[] // the keys of a table are its type's
const EVENT_NAMES = Object.keys(EVENTS) as Event[] // the keys of a table are its type's

for (const state of STATE_NAMES)
  for (const event of EVENT_NAMES) {
    const [before, after] = [SEEN_BEFORE[state], TABLE[state][event]]
    test(`${EVENTS[event].description}, ${STATES[state].description} ${SEEN_SAYS[after]}, here and in another process`, async () => {
      const all = await opened()
      await STATES[state].happen(all)
      expect(await all.seen()).toEqual([before, before])
      await moveClock(DAY_MS)(all)
      await EVENTS[event].happen(all)
      expect(await all.seen()).toEqual([after, after])
    })
  }
