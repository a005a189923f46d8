import { describe, expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { POLICY_NAMES, type Policy } from "../../src/contract/policies.ts"
import { CheckResult, ReducedResult } from "../../src/contract/result-schema.ts"
import {
  addEntries,
  type ListOwner,
  OPERATOR,
  type OwnList,
  removeEntries,
} from "../../src/customers/own-lists/own-lists.ts"
import { latestChangeId } from "../../src/customers/store/change-log/change-log.ts"
import { createChangePoller } from "../../src/customers/store/change-log/change-poller.ts"
import { testApp } from "../support/app.ts"
import { anotherAccount } from "./another-account.ts"
import { entry } from "./own-list-entry.ts"

type Harness = Awaited<ReturnType<typeof testApp>>

const put = ({ changes }: Harness, owner: ListOwner, list: OwnList, ...texts: string[]) =>
  addEntries(changes, owner, list, texts.map(entry))
const take = ({ changes }: Harness, owner: ListOwner, list: OwnList, ...texts: string[]) =>
  removeEntries(changes, owner, list, texts.map(entry))

/** What a check says, without what differs from one request to the next. */
async function checked({ ask }: Harness, input: object, key?: string) {
  const { status, body } = await ask("POST /v1/check", { body: input, ...(key === undefined ? {} : { key }) })
  expect(status).toBe(200)
  expect(Value.Check(CheckResult, body)).toBe(true)
  return { ...(body as CheckResult), request_id: "" } // checked in the line before
}

/** The four lists that may have a domain. */
const PLACES = [
  { whose: "account", list: "block" },
  { whose: "account", list: "allow" },
  { whose: "operator", list: "block" },
  { whose: "operator", list: "allow" },
] as const

const INPUTS = [
  { email: "jane@stripe.com", at: "stripe.com" },
  { domain: "gmail.com", at: "gmail.com" },
  { email: "jane+x@duck.com", at: "duck.com" },
  { url: "https://www.mailinator.com/inbox", at: "mailinator.com" },
  { domain: "mit.edu", at: "mit.edu" },
  { email: "jane@granite-unknown.com", at: "granite-unknown.com" },
  { email: "support@gmial.com", at: "gmial.com" },
  { domain: "paypa1.com", at: "paypa1.com" },
  { email: "a..b@stripe.com", at: "stripe.com" },
] as const

/** What an allow entry of the operator takes a domain out of: throw-away domains and relays are what nobody knows then. */
const UNKNOWN_ONCE_ALLOWED: readonly string[] = ["duck.com", "mailinator.com", "gmial.com"]

/** Which of `PLACES` have the domains. */
type On = readonly boolean[]

/** What the lists make of a result that a check gives without any. */
function withLists(before: CheckResult, at: string, policy: Policy, on: On) {
  const [accountBlocks = false, accountAllows = false, operatorBlocks = false, operatorAllows = false] = on
  const hasFault = before.reasons[0] === "invalid_syntax"
  const isTakenOut = operatorAllows && !hasFault && UNKNOWN_ONCE_ALLOWED.includes(at)
  const isBlocked = accountBlocks || operatorBlocks
  return {
    category: isTakenOut ? "unknown" : before.category,
    decisive: isTakenOut ? "no_evidence" : before.reasons[0],
    recommendation: () => {
      if (accountAllows && !operatorBlocks && !hasFault) return "allow"
      if (isBlocked) return "block"
      // DNS is never asked here, and what is degraded and unknown is looked at under all but one policy.
      if (isTakenOut) return policy === "lenient" ? "allow" : "review"
      return before.recommendation
    },
    isBlocked,
    isAllowed: accountAllows,
    isListed: !isTakenOut && (before.is_disposable || before.is_relay),
  }
}

describe("under every policy, whatever lists a domain is on", () => {
  const combinations = Array.from({ length: 2 ** PLACES.length }, (_, bits): [On] => [
    PLACES.map((_place, at) => (bits & (1 << at)) !== 0),
  ])
  test.each(combinations)("account block, account allow, operator block, operator allow: %j", async on => {
    const plain = await testApp()
    const harness = await testApp()
    const domains = [...new Set(INPUTS.map(({ at }) => at))]
    for (const [at, { whose, list }] of PLACES.entries())
      if (on[at])
        await put(harness, whose === "account" ? { accountId: harness.accountId } : OPERATOR, list, ...domains)
    for (const { at, ...input } of INPUTS)
      for (const policy of POLICY_NAMES) {
        const wanted = withLists(await checked(plain, { ...input, policy }), at, policy, on)
        const result = await checked(harness, { ...input, policy })
        const { category, reasons, recommendation } = result
        expect({ input, policy, category, recommendation }).toEqual({
          input,
          policy,
          category: wanted.category,
          recommendation: wanted.recommendation(),
        })
        expect([reasons[0], result.is_blocked]).toEqual([wanted.decisive, wanted.isBlocked])
        const description = [reasons.includes("blocklisted"), reasons.includes("allowlisted")]
        expect(description).toEqual([wanted.isBlocked, wanted.isAllowed])
        expect(result.is_disposable || result.is_relay).toBe(wanted.isListed)
      }
  })
})

describe("reasons", () => {
  const first = async (harness: Harness, input: object) => (await checked(harness, input)).reasons.slice(0, 2)

  test("have what blocked or allowed right after the decisive one", async () => {
    const harness = await testApp()
    await put(harness, { accountId: harness.accountId }, "block", "gmail.com")
    expect(await first(harness, { email: "support@gmail.com" })).toEqual(["free_provider", "blocklisted"])
    await put(harness, { accountId: harness.accountId }, "allow", "gmail.com")
    expect(await first(harness, { email: "support@gmail.com" })).toEqual(["free_provider", "allowlisted"])
    await put(harness, OPERATOR, "block", "gmail.com")
    expect(await first(harness, { email: "support@gmail.com" })).toEqual(["free_provider", "blocklisted"])
  })
})

describe("an entry", () => {
  const BLOCKED_BY: readonly (readonly [entry: string, on: readonly object[], off: readonly object[]])[] = [
    [
      "granite.com",
      [
        { domain: "granite.com" },
        { domain: "GRANITE.com." },
        { domain: "a.b.granite.com" },
        { email: "jane+x@granite.com" },
        { email: "jane@mail.granite.com" },
        { url: "https://www.granite.com:8443/x" },
      ],
      [{ domain: "xgranite.com" }, { domain: "granite.com.br" }, { domain: "granite.co" }],
    ],
    [
      "*.granite.com",
      [{ domain: "a.granite.com" }, { email: "jane@b.a.granite.com" }, { url: "http://a.granite.com" }],
      [{ domain: "granite.com" }, { email: "jane@granite.com" }, { url: "http://www.granite.com" }],
    ],
    [
      "WWW.granite.com",
      [
        { url: "https://www.granite.com:8443/x" },
        { url: "WWW.Granite.com." },
        { url: "http://a.www.granite.com" },
        { domain: "www.granite.com" },
        { domain: "a.www.granite.com" },
        { email: "jane@www.granite.com" },
      ],
      [
        { url: "https://granite.com/" },
        { url: "http://www.a.granite.com" },
        { url: "http://www2.granite.com" },
        { domain: "granite.com" },
        { email: "jane@granite.com" },
      ],
    ],
    [
      "*.www.granite.com",
      [{ url: "http://a.www.granite.com" }, { domain: "www.www.granite.com" }],
      [{ url: "http://www.granite.com" }, { url: "http://www.www.granite.com" }],
    ],
    [
      "Jane.Doe+News@Granite.com",
      [{ email: "jane.doe+news@granite.com" }, { email: '"JANE.DOE+NEWS"@granite.com' }],
      [
        { email: "jane.doe@granite.com" },
        { email: "jane.doe+new@granite.com" },
        { email: "jane.doe+news+x@granite.com" },
      ],
    ],
    [
      "Jane.Doe@Granite.com",
      [
        { email: "jane.doe@granite.com" },
        { email: "JANE.DOE+other@granite.com" },
        { email: "\u00a0jane.doe@granite.com\ufeff" },
      ],
      [
        { email: "janedoe@granite.com" },
        { email: "jane.doe@mail.granite.com" },
        { domain: "granite.com" },
        { url: "https://granite.com/" },
      ],
    ],
    [
      "bücher-granite.de",
      [{ domain: "xn--bcher-granite-wob.de" }, { email: "x@BÜCHER-granite.de" }],
      [{ domain: "bucher-granite.de" }],
    ],
  ]

  test.each(BLOCKED_BY)("%s blocks what it names and nothing else", async (text, on, off) => {
    for (const owner of ["account", "operator"]) {
      const harness = await testApp()
      await put(harness, owner === "account" ? { accountId: harness.accountId } : OPERATOR, "block", text)
      for (const input of on) expect([input, (await checked(harness, input)).is_blocked]).toEqual([input, true])
      for (const input of off) expect([input, (await checked(harness, input)).is_blocked]).toEqual([input, false])
    }
  })

  test("of a host with www. holds for a website address among the items of a batch too", async () => {
    const harness = await testApp()
    await put(harness, { accountId: harness.accountId }, "block", "www.granite.com")
    const { body } = await harness.ask("POST /v1/check/batch", {
      body: { items: ["https://www.granite.com/", "https://granite.com/", "www.granite.com", "granite.com"] },
    })
    const results = body["results"] as readonly CheckResult[] // as documented
    expect(results.map(result => result.is_blocked)).toEqual([true, false, true, false])
  })

  test("of an address on the operator's allow list takes that address alone out of the set", async () => {
    const harness = await testApp()
    await put(harness, OPERATOR, "allow", "jane@mailinator.com")
    expect(await checked(harness, { email: "jane@mailinator.com" })).toMatchObject({ is_disposable: false })
    expect(await checked(harness, { email: "john@mailinator.com" })).toMatchObject({ category: "disposable" })
    expect(await checked(harness, { domain: "mailinator.com" })).toMatchObject({ category: "disposable" })
  })

  test("of a test address changes nothing, and `blocked` is blocked without one", async () => {
    const harness = await testApp()
    await put(harness, OPERATOR, "block", "mailkind.test", "business@mailkind.test")
    await put(harness, { accountId: harness.accountId }, "allow", "blocked@mailkind.test")
    expect(await checked(harness, { email: "business@mailkind.test" })).toMatchObject({ is_blocked: false })
    expect(await checked(harness, { email: "blocked@mailkind.test" })).toMatchObject({
      is_blocked: true,
      recommendation: "block",
    })
  })
})

describe("a change of a list", () => {
  test("changes a verdict that was settled before, at once, and taken back it is as it was", async () => {
    const harness = await testApp()
    const own: ListOwner = { accountId: harness.accountId }
    const inputs = POLICY_NAMES.flatMap(policy => [
      { email: "jane@gmail.com", policy },
      { domain: "mailinator.com", policy },
    ])
    const results = async () => await Promise.all(inputs.map(input => checked(harness, input)))
    for (let round = 0; round < 4; round++) await results()
    const before = await results()
    for (const [owner, list, description] of [
      [own, "block", { is_blocked: true, recommendation: "block" }],
      [own, "allow", { is_blocked: false, recommendation: "allow" }],
      [OPERATOR, "block", { is_blocked: true, recommendation: "block" }],
      [OPERATOR, "allow", { is_disposable: false }],
    ] as const) {
      await put(harness, owner, list, "gmail.com", "mailinator.com")
      for (const result of await results()) expect(result).toMatchObject(description)
      await take(harness, owner, list, "gmail.com", "mailinator.com")
      expect(await results()).toEqual(before)
    }
  })

  test("in another process is heard through the change log", async () => {
    const harness = await testApp()
    const { keys, terms, corrections, ownLists } = harness.customers
    const faults: unknown[] = []
    const read = createChangePoller(
      harness.store,
      [keys, terms, corrections, ownLists],
      await latestChangeId(harness.store),
      fault => faults.push(fault),
    )
    const blocked = async () => (await checked(harness, { domain: "stripe.com" })).is_blocked
    const elsewhere = { ...harness, changes: { ...harness.changes, notify: () => undefined } }
    for (const owner of [OPERATOR, { accountId: harness.accountId }] as const) {
      expect(await blocked()).toBe(false)
      await put(elsewhere, owner, "block", "stripe.com")
      expect(await blocked()).toBe(false)
      read()
      expect(await eventually(blocked, true)).toBe(true)
      await take(elsewhere, owner, "block", "stripe.com")
      read()
      expect(await eventually(blocked, false)).toBe(false)
    }
    expect(faults).toEqual([])
  })
})

/** Asks until it is so, a bounded number of times. */
async function eventually(ask: () => Promise<boolean>, wanted: boolean): Promise<boolean> {
  for (let turn = 0; turn < 100; turn++) if ((await ask()) === wanted) return wanted
  return !wanted
}

test("two accounts do not see each other's lists, and both see the operator's", async () => {
  const harness = await testApp()
  const { accountId, key } = await anotherAccount(harness.changes)
  const both = async (domain: string) => [
    (await checked(harness, { domain })).recommendation,
    (await checked(harness, { domain }, key)).recommendation,
  ]
  await put(harness, { accountId: harness.accountId }, "block", "mit.edu")
  await put(harness, { accountId }, "block", "nasa.gov")
  await put(harness, { accountId }, "allow", "mit.edu", "gmail.com")
  await put(harness, OPERATOR, "block", "stripe.com")
  expect(await both("mit.edu")).toEqual(["block", "allow"])
  expect(await both("nasa.gov")).toEqual(["allow", "block"])
  expect(await both("gmail.com")).toEqual(["review", "allow"])
  expect(await both("stripe.com")).toEqual(["block", "block"])
})

test("another key of the account has the same lists", async () => {
  const harness = await testApp()
  const { text } = await harness.newKey()
  await put(harness, { accountId: harness.accountId }, "block", "stripe.com")
  expect(await checked(harness, { domain: "stripe.com" }, text)).toMatchObject({ is_blocked: true })
})

test("a page is told the recommendation that the lists of the key's account make, and no `is_blocked`", async () => {
  const harness = await testApp()
  const { text } = await harness.newKey(["https://shop.example"])
  await put(harness, { accountId: harness.accountId }, "block", "stripe.com")
  await put(harness, { accountId: harness.accountId }, "allow", "gmail.com")
  for (const [domain, recommendation] of [
    ["stripe.com", "block"],
    ["gmail.com", "allow"],
  ] as const) {
    const headers = { Origin: "https://shop.example" }
    const { body } = await harness.ask("POST /v1/check", { body: { domain }, key: text, headers })
    expect(Value.Check(ReducedResult, body)).toBe(true)
    expect(Object.keys(body)).not.toContain("is_blocked")
    expect(body["recommendation"]).toBe(recommendation)
  }
})
