import { expect, test } from "bun:test"
import { DAY_MS } from "../../../src/base/time.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { KEY_AUTHENTICATOR_BOUNDS, KeyAuthenticator } from "../../../src/customers/keys/key-authenticator.ts"
import { changeKey } from "../../../src/customers/keys/key-changes.ts"
import { generateKey } from "../../../src/customers/keys/key-format.ts"
import { NO_CEILING, NO_RESTRICTIONS } from "../../../src/customers/keys/key-restrictions.ts"
import { isUsableKey } from "../../../src/customers/keys/key-state.ts"
import { createKey, findKey, listKeys, type Revoker, revokeKey } from "../../../src/customers/keys/keys.ts"
import type { AttributedLog } from "../../../src/customers/store/change-log/change-log.ts"
import { latestChangeId, readChangesSince } from "../../../src/customers/store/change-log/change-log.ts"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import { newAccount, random, tempLog, tempPlace, tempStore } from "../temp-store.ts"

type Outside = { nowMs: number; elapsedMs: number }

/** One process: its own connection, its own keys in memory, and how far it has read the change log. */
function oneOf(store: OpenStore, outside: Outside) {
  const clock = () => outside.nowMs
  const authenticator = new KeyAuthenticator(store, clock, () => outside.elapsedMs, KEY_AUTHENTICATOR_BOUNDS)
  const log: AttributedLog = { ...tempLog(store), clock, notify: changes => authenticator.applyChanges(changes) }
  let upTo = 0
  const skipLog = async () => {
    upTo = await latestChangeId(store)
  }
  const readLog = async () => {
    const read = await readChangesSince(store, upTo)
    if (read.kind === "read") authenticator.applyChanges(read.changes)
    else authenticator.invalidateAll()
    upTo = read.lastId
  }
  return { store, authenticator, log, skipLog, readLog }
}

/** A key of an account, in two processes on one file. Until it is created, its text and id are of no key. */
async function setUp() {
  const path = tempPlace()
  const outside: Outside = { nowMs: 5_000, elapsedMs: 0 }
  const [here, there] = [oneOf(await tempStore(path), outside), oneOf(await tempStore(path), outside)]
  const accountId = await newAccount(here.log)
  const key = { id: "key_none", text: generateKey("secret", random) }
  const create = (expiresAtMs: number | null = null) => {
    const restrictions = { ...NO_RESTRICTIONS, expiresAtMs }
    return createKey(here.log, random, { accountId, kind: "secret", name: null, origins: [], restrictions })
  }
  const become = async (expiresAtMs: number | null = null) => {
    const made = await create(expiresAtMs)
    if (made.kind === "created") Object.assign(key, { id: made.key.id, text: made.text })
    return made.kind
  }
  /** Creates keys until the account has so many active ones. */
  const fillTo = async (count: number) => {
    const active = (await listKeys(here.store, accountId, 100)).filter(key => isUsableKey(key, outside.nowMs))
    for (let more = count - active.length; more > 0; more--) await create()
  }
  return { outside, here, there, accountId, key, create, become, fillTo }
}
type Opened = Awaited<ReturnType<typeof setUp>>

/** How a sentence says a state, and how the key comes into it. */
const STATES = {
  none: { description: "a key that was never created", happen: async () => undefined },
  active: { description: "an active key", happen: ({ become }) => become() },
  expiring: {
    description: "a key that expires within the week",
    happen: ({ become, outside }) => become(outside.nowMs + 2 * DAY_MS),
  },
  expired: {
    description: "an expired key",
    happen: async ({ become, outside }) => {
      outside.nowMs -= 1
      await become(outside.nowMs + 1)
      outside.nowMs += 1
    },
  },
  revoked: {
    description: "a revoked key",
    happen: async ({ become, here, key }) => {
      await become()
      await revokeKey(here.log, key.id, "owner")
    },
  },
} as const satisfies Record<
  string,
  { readonly description: string; readonly happen: (all: Opened) => Promise<unknown> }
>
type State = keyof typeof STATES

const revocationBy =
  (by: Revoker) =>
  async ({ here, key }: Opened): Promise<string> => {
    const revocation = await revokeKey(here.log, key.id, by)
    return revocation.kind === "revoked" && !revocation.isNew ? "revoked_before" : revocation.kind
  }

/** When the account has so many active keys, creates one: it is the key itself if that was never created. */
const creationWith =
  (count: number) =>
  async (all: Opened): Promise<string> => {
    await all.fillTo(count)
    if (all.key.id === "key_none") return await all.become()
    return (await all.create()).kind
  }

/** The text of an event, and the result for its caller. */
const EVENTS = {
  created_with_4: { description: "when a key is created beside four active ones", happen: creationWith(4) },
  created_with_5: { description: "when a key is asked for beside five active ones", happen: creationWith(5) },
  revoked_by_owner: { description: "when its owner revokes it", happen: revocationBy("owner") },
  revoked_by_admin: { description: "when an admin revokes it", happen: revocationBy("admin") },
  revoked_by_leak: { description: "when it is reported as leaked", happen: revocationBy("leak") },
  revoked_elsewhere: {
    description: "when another process revokes it and this one reads the log",
    happen: async all => {
      const outcome = await revocationBy("admin")({ ...all, here: all.there })
      await all.here.readLog()
      return outcome
    },
  },
  revoked_elsewhere_unread: {
    description: "when another process revokes it and this one cannot read the log for a minute",
    happen: async all => {
      const outcome = await revocationBy("admin")({ ...all, here: all.there })
      all.outside.elapsedMs += LIMITS.revocationSecondsMax * 1000
      return outcome
    },
  },
  revoked_elsewhere_log_lost: {
    description: "when another process revokes it and the log that this one reads was cut",
    happen: async all => {
      const outcome = await revocationBy("admin")({ ...all, here: all.there })
      await all.here.store.run("DELETE FROM changes")
      await all.here.readLog()
      return outcome
    },
  },
  used: {
    description: "when a request comes with it",
    happen: async ({ here, key, outside }) => {
      const { kind } = await here.authenticator.lookup(key.text)
      await here.authenticator.flush()
      const { lastUsedAtMs = null } = (await findKey(here.store, key.id)) ?? {}
      expect(lastUsedAtMs).toBe(kind === "active" ? outside.nowMs : null)
      return kind
    },
  },
  renamed: {
    description: "when it is renamed",
    happen: async ({ here, key }) => (await changeKey(here.log, key.id, { name: "other" })).kind,
  },
  time_passed: {
    description: "when three days pass",
    happen: async ({ outside }) => {
      outside.nowMs += 3 * DAY_MS
      return "passed"
    },
  },
  expiry_removed: {
    description: "when its owner removes its expiry",
    happen: async ({ here, key }) =>
      (await changeKey(here.log, key.id, { restrictions: NO_RESTRICTIONS }, NO_CEILING)).kind,
  },
  expiry_set_elsewhere: {
    description: "when another process sets an expiry that then comes, and this one reads the log",
    happen: async ({ here, there, key, outside }) => {
      const restrictions = { ...NO_RESTRICTIONS, expiresAtMs: outside.nowMs + 1 }
      const { kind } = await changeKey(there.log, key.id, { restrictions }, NO_CEILING)
      await here.readLog()
      outside.nowMs += 1
      return kind
    },
  },
  account_removed: {
    description: "when its account is removed",
    happen: async ({ here, accountId }) => ((await removeAccount(here.log, accountId)) ? "removed" : "unknown_account"),
  },
} as const satisfies Record<string, { readonly description: string; readonly happen: (all: Opened) => Promise<string> }>
type Event = keyof typeof EVENTS

/** The result of a request with the key, and its text. */
const SEEN_SAYS = {
  unknown: "is unknown",
  active: "lets requests in",
  expired: "is refused as expired",
  revoked: "is refused as revoked",
} as const
type Seen = keyof typeof SEEN_SAYS

const SEEN_BEFORE = {
  none: "unknown",
  active: "active",
  expiring: "active",
  expired: "expired",
  revoked: "revoked",
} as const satisfies Record<State, Seen>

type Cell = readonly [answer: string, seen: Seen, revokedBy?: Revoker]

/** Every state × every event → the result, the look-up of the key afterwards, and who revoked it. No cell can be missing. */
const TABLE = {
  none: {
    created_with_4: ["created", "active"],
    created_with_5: ["too_many_keys", "unknown"],
    revoked_by_owner: ["unknown_key", "unknown"],
    revoked_by_admin: ["unknown_key", "unknown"],
    revoked_by_leak: ["unknown_key", "unknown"],
    revoked_elsewhere: ["unknown_key", "unknown"],
    revoked_elsewhere_unread: ["unknown_key", "unknown"],
    revoked_elsewhere_log_lost: ["unknown_key", "unknown"],
    used: ["unknown", "unknown"],
    renamed: ["unknown_key", "unknown"],
    time_passed: ["passed", "unknown"],
    expiry_removed: ["unknown_key", "unknown"],
    expiry_set_elsewhere: ["unknown_key", "unknown"],
    account_removed: ["removed", "unknown"],
  },
  active: {
    created_with_4: ["created", "active"],
    created_with_5: ["too_many_keys", "active"],
    revoked_by_owner: ["revoked", "revoked", "owner"],
    revoked_by_admin: ["revoked", "revoked", "admin"],
    revoked_by_leak: ["revoked", "revoked", "leak"],
    revoked_elsewhere: ["revoked", "revoked", "admin"],
    revoked_elsewhere_unread: ["revoked", "revoked", "admin"],
    revoked_elsewhere_log_lost: ["revoked", "revoked", "admin"],
    used: ["active", "active"],
    renamed: ["changed", "active"],
    time_passed: ["passed", "active"],
    expiry_removed: ["changed", "active"],
    expiry_set_elsewhere: ["changed", "expired"],
    account_removed: ["removed", "unknown"],
  },
  expiring: {
    created_with_4: ["created", "active"],
    created_with_5: ["too_many_keys", "active"],
    revoked_by_owner: ["revoked", "revoked", "owner"],
    revoked_by_admin: ["revoked", "revoked", "admin"],
    revoked_by_leak: ["revoked", "revoked", "leak"],
    revoked_elsewhere: ["revoked", "revoked", "admin"],
    revoked_elsewhere_unread: ["revoked", "revoked", "admin"],
    revoked_elsewhere_log_lost: ["revoked", "revoked", "admin"],
    used: ["active", "active"],
    renamed: ["changed", "active"],
    time_passed: ["passed", "expired"],
    expiry_removed: ["changed", "active"],
    expiry_set_elsewhere: ["changed", "expired"],
    account_removed: ["removed", "unknown"],
  },
  expired: {
    created_with_4: ["created", "expired"],
    created_with_5: ["too_many_keys", "expired"],
    revoked_by_owner: ["revoked", "revoked", "owner"],
    revoked_by_admin: ["revoked", "revoked", "admin"],
    revoked_by_leak: ["revoked", "revoked", "leak"],
    revoked_elsewhere: ["revoked", "revoked", "admin"],
    revoked_elsewhere_unread: ["revoked", "revoked", "admin"],
    revoked_elsewhere_log_lost: ["revoked", "revoked", "admin"],
    used: ["expired", "expired"],
    renamed: ["changed", "expired"],
    time_passed: ["passed", "expired"],
    expiry_removed: ["changed", "active"],
    expiry_set_elsewhere: ["changed", "expired"],
    account_removed: ["removed", "unknown"],
  },
  revoked: {
    created_with_4: ["created", "revoked", "owner"],
    created_with_5: ["too_many_keys", "revoked", "owner"],
    revoked_by_owner: ["revoked_before", "revoked", "owner"],
    revoked_by_admin: ["revoked_before", "revoked", "owner"],
    revoked_by_leak: ["revoked_before", "revoked", "owner"],
    revoked_elsewhere: ["revoked_before", "revoked", "owner"],
    revoked_elsewhere_unread: ["revoked_before", "revoked", "owner"],
    revoked_elsewhere_log_lost: ["revoked_before", "revoked", "owner"],
    used: ["revoked", "revoked", "owner"],
    renamed: ["changed", "revoked", "owner"],
    time_passed: ["passed", "revoked", "owner"],
    expiry_removed: ["revoked", "revoked", "owner"],
    expiry_set_elsewhere: ["revoked", "revoked", "owner"],
    account_removed: ["removed", "unknown"],
  },
} as const satisfies { readonly [S in State]: { readonly [E in Event]: Cell } }

const STATE_NAMES = Object.keys(STATES) as State[] // the keys of a table are its type's
const EVENT_NAMES = Object.keys(EVENTS) as Event[] // the keys of a table are its type's

/** What both processes tell a request with the key: this one at once, the other one when it has read the log. */
async function seenOf({ here, there, key }: Opened): Promise<readonly Seen[]> {
  const atOnce = await here.authenticator.lookup(key.text)
  await there.readLog()
  const elsewhere = await there.authenticator.lookup(key.text)
  return [atOnce, elsewhere].map(({ kind }) => {
    if (kind === "malformed" || kind === "bad_checksum") throw new Error(kind)
    return kind
  })
}

for (const state of STATE_NAMES)
  for (const event of EVENT_NAMES) {
    const [answer, seen, revokedBy]: Cell = TABLE[state][event]
    test(`${EVENTS[event].description}, ${STATES[state].description} ${SEEN_SAYS[seen]}, here and elsewhere; the answer is ${answer}`, async () => {
      const all = await setUp()
      const { outside, here, there, key } = all
      await STATES[state].happen(all)
      await here.skipLog()
      // Both processes hold the key, as it was before the event.
      expect(await seenOf(all)).toEqual([SEEN_BEFORE[state], SEEN_BEFORE[state]])
      await there.skipLog()
      outside.nowMs += 2_000
      outside.elapsedMs += 2_000
      expect(await EVENTS[event].happen(all)).toBe(answer)
      expect(await seenOf(all)).toEqual([seen, seen])
      // Who and when are those of the first revocation, and the key itself is gone only with its account.
      const revokedAtMs = revokedBy && (state === "revoked" ? 5_000 : 7_000)
      const stored = await findKey(here.store, key.id)
      expect(stored && { by: stored.revokedBy, at: stored.revokedAtMs }).toEqual(
        seen === "unknown" ? null : { by: revokedBy ?? null, at: revokedAtMs ?? null },
      )
    })
  }
