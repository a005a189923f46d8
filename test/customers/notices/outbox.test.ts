import { describe, expect } from "bun:test"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import {
  claimMails,
  endMail,
  pruneOutbox,
  readForeignClaims,
  readOutboxState,
  releaseClaim,
  renewClaims,
  rescheduleFutureMails,
  rescheduleMail,
} from "../../../src/customers/notices/outbox.ts"
import { SERVER_ACTOR } from "../../../src/customers/store/change-log/actor.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { trustedAt } from "../../support/clock.ts"
import { test } from "../engines.ts"
import { newAccount, tempLog, tempStore } from "../temp-store.ts"
import { outboxRows, post } from "./outbox-rows.ts"

const NOW = 10_000
const MANY = 100
const envelope = (accountId: string) => ({ accountId, notice: "key_created", subject: "key_1" })

async function opened() {
  const store = await tempStore()
  const log = tempLog(store)
  return { store, log, accountId: await newAccount(log) }
}

describe("a mail of the outbox", () => {
  const STATES = ["absent", "due", "later", "mine", "theirs", "sent", "refused", "given_up"] as const
  type State = (typeof STATES)[number]

  async function stateIn(store: Store): Promise<State> {
    const [row] = await outboxRows(store)
    if (row === undefined) return "absent"
    const ended = STATES.find(state => state === row.ending)
    if (ended !== undefined) return ended
    if (row.claim !== null) return row.claim === "me" ? "mine" : "theirs"
    return row.dueAtMs <= NOW ? "due" : "later"
  }

  const claim = (store: Store, by: string) => claimMails(store, by, NOW, MANY)
  const delay = { nowMs: NOW, dueAtMs: NOW + 1, isRefusal: true }
  const end = (how: "sent" | "refused" | "given_up") => async (store: Store, accountId: string) =>
    void (await endMail(store, "me", envelope(accountId), how, NOW))

  /** How each state comes to be. */
  const MAKE: { readonly [S in State]: (store: Store, accountId: string) => Promise<void> } = {
    absent: async () => undefined,
    due: async (store, id) => void (await post(store, id)),
    later: async (store, id) => {
      await MAKE.mine(store, id)
      await rescheduleMail(store, "me", envelope(id), delay)
    },
    mine: async (store, id) => {
      await MAKE.due(store, id)
      await claim(store, "me")
    },
    theirs: async (store, id) => {
      await MAKE.due(store, id)
      await claim(store, "other")
    },
    sent: async (store, id) => {
      await MAKE.mine(store, id)
      await end("sent")(store, id)
    },
    refused: async (store, id) => {
      await MAKE.mine(store, id)
      await end("refused")(store, id)
    },
    given_up: async (store, id) => {
      await MAKE.mine(store, id)
      await end("given_up")(store, id)
    },
  }

  const EVENTS = {
    post: async (store, id) => void (await post(store, id)),
    claim: async store => void (await claim(store, "me")),
    renew: async store => void (await renewClaims(store, "me")),
    end_sent: end("sent"),
    end_refused: end("refused"),
    end_given_up: end("given_up"),
    put_off: async (store, id) => void (await rescheduleMail(store, "me", envelope(id), delay)),
    release: async store => {
      for (const foreign of await readForeignClaims(store, "me")) await releaseClaim(store, foreign)
    },
    prune: async store =>
      void (await pruneOutbox(store, trustedAt(NOW + 1), { storedMs: 0, prunesWaiting: true, countMax: 10 })),
    account_gone: async (store, id) =>
      void (await removeAccount({ store, clock: () => NOW, notify: () => undefined, actor: SERVER_ACTOR }, id)),
  } as const satisfies Record<string, (store: Store, accountId: string) => Promise<void>>
  type Event = keyof typeof EVENTS

  const stays = (state: State): Readonly<Record<Event, State>> => ({
    post: state,
    claim: state,
    renew: state,
    end_sent: state,
    end_refused: state,
    end_given_up: state,
    put_off: state,
    release: state,
    prune: state,
    account_gone: "absent",
  })

  const TABLE: { readonly [S in State]: Readonly<Record<Event, State>> } = {
    absent: { ...stays("absent"), post: "due" },
    due: { ...stays("due"), claim: "mine", prune: "absent" },
    later: { ...stays("later"), prune: "absent" },
    mine: { ...stays("mine"), end_sent: "sent", end_refused: "refused", end_given_up: "given_up", put_off: "later" },
    theirs: { ...stays("theirs"), release: "due" },
    sent: { ...stays("sent"), prune: "absent" },
    refused: { ...stays("refused"), prune: "absent" },
    given_up: { ...stays("given_up"), prune: "absent" },
  }

  for (const [state, row] of Object.entries(TABLE) as [State, Readonly<Record<Event, State>>][]) // of the table's own names
    for (const [event, next] of Object.entries(row) as [Event, State][]) // of the table's own names
      test(`${state} is ${next} after ${event}`, async () => {
        const { store, accountId } = await opened()
        await MAKE[state](store, accountId)
        expect(await stateIn(store)).toBe(state)
        await EVENTS[event](store, accountId)
        expect(await stateIn(store)).toBe(next)
      })
})

test("a notice is posted once about a subject, and by its kind and its account", async () => {
  const { store, log, accountId } = await opened()
  const other = await newAccount(log, "joe@example.com")
  expect(await post(store, accountId)).toBe(true)
  expect(await post(store, accountId)).toBe(false)
  expect(await post(store, accountId, "key_2")).toBe(true)
  expect(await post(store, other)).toBe(true)
  expect(await post(store, "acc_unknown")).toBe(false)
  expect(await outboxRows(store)).toHaveLength(3)
})

test("nothing is posted to an email that no mail can reach", async () => {
  const { store, log } = await opened()
  expect(await post(store, await newAccount(log, "owner@localhost"))).toBe(false)
  expect(await outboxRows(store)).toEqual([])
})

test("the outbox holds no address", async () => {
  const { store, accountId } = await opened()
  await post(store, accountId)
  expect(JSON.stringify(await store.all("SELECT * FROM outbox"))).not.toContain("@")
})

test("mails are claimed in the order in which they are due, and no more than are wanted", async () => {
  const { store, accountId } = await opened()
  for (const [subject, at] of [
    ["key_b", 3_000],
    ["key_a", 4_000],
    ["key_c", 2_000],
    ["key_d", NOW + 1],
  ] as const)
    await post(store, accountId, subject, at)
  const claimed = await claimMails(store, "me", NOW, 2)
  expect(claimed.map(({ subject, email }) => [subject, email])).toEqual([
    ["key_c", "jane@example.com"],
    ["key_b", "jane@example.com"],
  ])
  expect((await claimMails(store, "other", NOW, MANY)).map(({ subject }) => subject)).toEqual(["key_a"])
  expect(await claimMails(store, "third", NOW, MANY)).toEqual([])
})

test("a mail is due from its millisecond on", async () => {
  const { store, accountId } = await opened()
  await post(store, accountId, "key_1", NOW)
  expect(await claimMails(store, "me", NOW - 1, MANY)).toHaveLength(0)
  expect(await claimMails(store, "me", NOW, MANY)).toHaveLength(1)
})

test("a mail that waits for a time that no delay can mean is due now", async () => {
  const { store, accountId } = await opened()
  await post(store, accountId, "key_1", NOW)
  expect(await rescheduleFutureMails(store, 1, NOW)).toBe(0)
  expect(await rescheduleFutureMails(store, 1, NOW - 1)).toBe(1)
  expect(await claimMails(store, "me", 1, MANY)).toHaveLength(1)
})

test("a claim that was renewed, or ended and made anew, is not released by what was seen of it before", async () => {
  const { store, accountId } = await opened()
  await post(store, accountId)
  await claimMails(store, "other", NOW, MANY)
  const [seen] = await readForeignClaims(store, "me")
  if (seen === undefined) throw new Error("nothing is claimed")
  await renewClaims(store, "other")
  expect(await releaseClaim(store, seen)).toBe(false)
  await rescheduleMail(store, "other", envelope(accountId), { nowMs: NOW, dueAtMs: NOW, isRefusal: false })
  await claimMails(store, "other", NOW, MANY)
  expect(await releaseClaim(store, seen)).toBe(false)
  const [now] = await readForeignClaims(store, "me")
  expect(now !== undefined && (await releaseClaim(store, now))).toBe(true)
})

test("a mail is kept up to its bound, and a pruning deletes no more than it may", async () => {
  const { store, accountId } = await opened()
  for (const subject of ["key_a", "key_b", "key_c", "key_d"]) await post(store, accountId, subject)
  const claimed = await claimMails(store, "me", NOW, 3)
  for (const mail of claimed) await endMail(store, "me", mail, "sent", NOW)
  const prune = (fromMs: number, prunesWaiting: boolean) =>
    pruneOutbox(store, trustedAt(fromMs + 7), { storedMs: 7, prunesWaiting, countMax: 2 })
  expect(await prune(5_000, true)).toEqual({ endedCount: 0, waitingCount: 0 })
  expect(await prune(NOW, false)).toEqual({ endedCount: 0, waitingCount: 0 })
  expect(await prune(NOW + 1, false)).toEqual({ endedCount: 2, waitingCount: 0 })
  expect(await prune(5_001, true)).toEqual({ endedCount: 0, waitingCount: 1 })
  expect(await prune(NOW + 1, true)).toEqual({ endedCount: 1, waitingCount: 0 })
})

test("the outbox tells how many mails wait and since when, and how many were never taken", async () => {
  const store = await tempStore()
  const accountId = await newAccount(tempLog(store))
  const state = () => readOutboxState(store)
  expect(await state()).toEqual({ waitingCount: 0, waitingSinceMs: null, refusedCount: 0, givenUpCount: 0 })
  for (const [at, subject] of ["a", "b", "c", "d"].entries()) await post(store, accountId, subject, 5_000 + at)
  expect(await state()).toMatchObject({ waitingCount: 4, waitingSinceMs: 5_000 })
  const claimed = await claimMails(store, "claim", 9_000, 3)
  expect(await state()).toMatchObject({ waitingCount: 4, waitingSinceMs: 5_000 })
  for (const [at, ending] of (["sent", "refused", "given_up"] as const).entries())
    await endMail(store, "claim", claimed[at] ?? { accountId, notice: "", subject: "" }, ending, 9_000)
  expect(await state()).toEqual({ waitingCount: 1, waitingSinceMs: 5_003, refusedCount: 1, givenUpCount: 1 })
})
