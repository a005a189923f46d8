import { describe, expect } from "bun:test"
import { utcDay } from "../../../src/base/time.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import {
  emailByBrowser,
  emailByLink,
  openSignIn,
  proveByCode,
  proveByLink,
  pruneSignIns,
  SIGN_IN_MS,
  type SignInProof,
} from "../../../src/customers/sign-in/pending-sign-ins.ts"
import { trustedAt } from "../../support/clock.ts"
import { test } from "../engines.ts"
import { random, tempStore } from "../temp-store.ts"

const EMAIL = "jane.doe@private-example.com"

/** A sign-in that is open, beside one of somebody else. */
async function opened() {
  const store = await tempStore()
  const state = { nowMs: 1_800_000_000_000 }
  const clock = () => state.nowMs
  const query = await openSignIn(store, clock, random, EMAIL)
  let other = await openSignIn(store, clock, random, "other@example.com")
  while (other.code === query.code) other = await openSignIn(store, clock, random, "other@example.com")
  const wrong = ["000000", "000001", "000002"].find(code => code !== query.code && code !== other.code) ?? ""
  return {
    ...{ store, clock, state, requests: query, other, wrong },
    goOn: async (ms: number): Promise<undefined> => {
      state.nowMs += ms
    },
    byLink: (link = query.link) => store.transaction(inner => proveByLink(inner, clock(), link)),
    byCode: (code = query.code, browser = query.browser) =>
      store.transaction(inner => proveByCode(inner, { nowMs: clock(), day: utcDay(clock()) }, browser, code)),
  }
}
type Opened = Awaited<ReturnType<typeof opened>>

/** What may happen to a sign-in. */
const EVENTS = {
  link: ({ byLink }) => byLink(),
  right_code: ({ byCode }) => byCode(),
  wrong_code: ({ byCode, wrong }) => byCode(wrong),
  right_code_elsewhere: ({ byCode, requests: question, other }) => byCode(question.code, other.browser),
  link_as_browser: ({ byCode, requests }) => byCode(requests.code, requests.link),
  browser_as_link: ({ byLink, requests }) => byLink(requests.browser),
  last_moment: ({ goOn }) => goOn(SIGN_IN_MS - 1),
  time_is_over: ({ goOn }) => goOn(SIGN_IN_MS),
  clock_set_back_a_little: ({ goOn }) => goOn(1 - SIGN_IN_MS),
  clock_set_back: ({ goOn }) => goOn(-SIGN_IN_MS),
} as const satisfies Record<string, (sign: Opened) => Promise<SignInProof | undefined>>
type Event = keyof typeof EVENTS
const EVENT_NAMES = Object.keys(EVENTS) as Event[] // the keys of a table are its type's

/** How each state is reached. `open` and `tried` can be told apart; all of the others are gone. */
const STATES = {
  open: [],
  tried: ["wrong_code", "wrong_code", "wrong_code", "wrong_code"],
  tried_out: ["wrong_code", "wrong_code", "wrong_code", "wrong_code", "wrong_code"],
  link_used: ["link"],
  code_used: ["right_code"],
  code_used_after_tries: ["wrong_code", "right_code"],
  expired: ["time_is_over"],
  dated_ahead: ["clock_set_back"],
} as const satisfies Record<string, readonly Event[]>
type State = keyof typeof STATES

const PROVED: SignInProof = { kind: "proved", email: EMAIL }
const GONE: SignInProof = { kind: "gone" }
const wrongCode = (triesLeft: number): SignInProof => ({ kind: "wrong_code", triesLeft })
/** Nothing was brought, and all is as before. */
const NOTHING = [undefined, "open"] as const

type Row = { readonly [E in Event]: readonly [said: SignInProof | undefined, next: "open" | "gone"] }

const OPEN: Row = {
  link: [PROVED, "gone"],
  right_code: [PROVED, "gone"],
  wrong_code: [wrongCode(4), "open"],
  // The code is another sign-in's there, and this one knows nothing of it.
  right_code_elsewhere: [wrongCode(4), "open"],
  link_as_browser: [GONE, "open"],
  browser_as_link: [GONE, "open"],
  last_moment: NOTHING,
  time_is_over: [undefined, "gone"],
  clock_set_back_a_little: NOTHING,
  clock_set_back: [undefined, "gone"],
}

const OVER: Row = {
  link: [GONE, "gone"],
  right_code: [GONE, "gone"],
  wrong_code: [GONE, "gone"],
  right_code_elsewhere: [wrongCode(4), "gone"],
  link_as_browser: [GONE, "gone"],
  browser_as_link: [GONE, "gone"],
  last_moment: [undefined, "gone"],
  time_is_over: [undefined, "gone"],
  clock_set_back_a_little: [undefined, "gone"],
  clock_set_back: [undefined, "gone"],
}

/** The other sign-in ages with this one. */
const OVER_BY_TIME: Row = { ...OVER, right_code_elsewhere: [GONE, "gone"] }

const TABLE: { readonly [S in State]: Row } = {
  open: OPEN,
  tried: { ...OPEN, wrong_code: [wrongCode(0), "gone"] },
  tried_out: OVER,
  link_used: OVER,
  code_used: OVER,
  code_used_after_tries: OVER,
  // A clock that is set again brings back what it had ended, for no longer than it would have been open.
  expired: { ...OVER_BY_TIME, clock_set_back: [undefined, "open"], clock_set_back_a_little: [undefined, "open"] },
  dated_ahead: { ...OVER_BY_TIME, last_moment: [undefined, "open"], time_is_over: [undefined, "open"] },
}

describe.each(Object.keys(STATES) as State[])("a sign-in that is %s", state => {
  test.each(EVENT_NAMES)("meets %s", async event => {
    const sign = await opened()
    for (const before of STATES[state]) await EVENTS[before](sign)
    const [reply, next] = TABLE[state][event]
    expect(await EVENTS[event](sign)).toEqual(reply)
    const { store, clock, requests } = sign
    const emails = [
      await emailByLink(store, clock, requests.link),
      await emailByBrowser(store, clock, requests.browser),
    ]
    expect(emails).toEqual(next === "open" ? [EMAIL, EMAIL] : [null, null])
    // What is gone signs nobody in, by the link nor by the code.
    if (next === "gone") expect([await sign.byLink(), await sign.byCode()]).toEqual([GONE, GONE])
  })
})

test("of many guesses at once five are looked at", async () => {
  const { byCode, wrong, byLink } = await opened()
  const reply = await Promise.all(Array.from({ length: 40 }, () => byCode(wrong)))
  const left = reply.flatMap(answer => (answer.kind === "wrong_code" ? [answer.triesLeft] : []))
  expect(left.toSorted()).toEqual([0, 1, 2, 3, 4])
  expect(reply.filter(({ kind }) => kind === "gone")).toHaveLength(35)
  expect(await byLink()).toEqual(GONE)
})

test("the right code after five wrong ones that were sent at once is not looked at", async () => {
  const { byCode, wrong } = await opened()
  await Promise.all(Array.from({ length: 5 }, () => byCode(wrong)))
  expect(await byCode()).toEqual(GONE)
})

test("of many who bring one link, or its code, one has proved anything", async () => {
  const { byLink, byCode } = await opened()
  const reply = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? byLink() : byCode())))
  expect(reply.filter(({ kind }) => kind === "proved")).toEqual([PROVED])
  expect(reply.filter(({ kind }) => kind === "gone")).toHaveLength(19)
})

test("what is no secret is not looked up", async () => {
  const { store, clock, byLink, byCode, requests } = await opened()
  for (const hostile of [
    "",
    "' OR 1=1 --",
    "%",
    requests.link.slice(1),
    `${requests.link} `,
    `${requests.link}0`,
    "\0".repeat(32),
  ]) {
    expect([await byLink(hostile), await byCode(requests.code, hostile)]).toEqual([GONE, GONE])
    expect([await emailByLink(store, clock, hostile), await emailByBrowser(store, clock, hostile)]).toEqual([
      null,
      null,
    ])
  }
})

test("no row holds an address, a link, a browser's secret or a code that can be read", async () => {
  const { store, requests } = await opened()
  const rows = JSON.stringify(await store.all("SELECT * FROM sign_ins"))
  const plain = [
    EMAIL,
    requests.link,
    requests.browser,
    "jane",
    "private-example",
    Buffer.from(EMAIL).toString("base64").slice(0, 12),
  ]
  for (const text of plain) expect(rows).not.toContain(text)
  for (const text of [requests.code, `code ${requests.code}`])
    expect(rows).not.toContain(new Bun.CryptoHasher("sha256").update(text).digest("hex"))
})

test("one code is stored in another way for each browser", async () => {
  const { store, clock } = await opened()
  const zeros = (count: number) => (count === 4 ? new Uint8Array(4) : random(count))
  const requests = [await openSignIn(store, clock, zeros, EMAIL), await openSignIn(store, clock, zeros, EMAIL)]
  expect(requests.map(({ code }) => code)).toEqual(["000000", "000000"])
  const rows = await store.all<{ code_hash: string }>("SELECT code_hash FROM sign_ins")
  expect(new Set(rows.map(row => row.code_hash)).size).toBe(4)
})

test("at most ten thousand sign-ins are open: one more ends the oldest", async () => {
  const { store, clock, state, byLink } = await opened()
  await store.run(
    `INSERT INTO sign_ins (link_hash, browser_hash, code_hash, email_by_link, email_by_browser, tries_left, asked_at_ms)
     WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 9999)
     SELECT 'l' || n, 'b' || n, 'c', 'e', 'e', 5, $1 FROM many`,
    [state.nowMs + 1],
  )
  state.nowMs += 2
  await openSignIn(store, clock, random, "late@example.com")
  const count = await store.one<{ n: number }>("SELECT COUNT(*) AS n FROM sign_ins")
  expect(count?.n).toBe(10_000)
  await openSignIn(store, clock, random, "later@example.com")
  expect(await byLink()).toEqual(GONE)
})

test("sign-ins that are over by time are deleted in batches, and no others", async () => {
  const { store, clock, state } = await opened()
  state.nowMs += 1
  for (let count = 0; count < 3; count++) await openSignIn(store, clock, random, EMAIL)
  state.nowMs += SIGN_IN_MS - 1
  expect(await pruneSignIns(store, trustedAt(clock()), 1)).toBe(1)
  expect(await pruneSignIns(store, trustedAt(clock()), 100)).toBe(1)
  expect(await pruneSignIns(store, trustedAt(clock()), 100)).toBe(0)
  state.nowMs -= 2 * SIGN_IN_MS
  expect(await pruneSignIns(store, trustedAt(clock()), 100)).toBe(3)
})

test("the limits of a sign-in are those that are told", () => {
  expect(SIGN_IN_MS).toBe(15 * 60_000)
  expect(LIMITS.signInTriesMax).toBe(5)
})
