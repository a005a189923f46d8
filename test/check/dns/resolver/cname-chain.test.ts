import { describe, expect, test } from "bun:test"
import { known, unknown } from "../../../../src/base/finding.ts"
import type { DnsAnswer, ServerReply } from "../../../../src/check/dns/dns-types.ts"
import { CNAME_QUERIES_MAX, DnsServers } from "../../../../src/check/dns/resolver/resolution.ts"
import { exchangeOf } from "../../../support/dns-exchange.ts"
import { createFakeTime } from "../../../support/time.ts"

const TIMEOUT_MS = 1500
const EMPTY: DnsAnswer = { outcome: "no_data", records: [], ttlS: 300 }
const FOUND: DnsAnswer = { outcome: "records", records: [{ type: "A", address: "192.0.2.1" }], ttlS: 300 }

const onTo = (name: string, ttlS = 300): ServerReply => ({
  kind: "answered",
  answer: { ...EMPTY, ttlS },
  pendingCname: name,
})
const ends = (answer: DnsAnswer): ServerReply => ({ kind: "answered", answer, pendingCname: null })

/** Resolves `start` with these replies of the servers, and returns the queries too. */
async function follow(replies: Readonly<Record<string, ServerReply>>, replyMs = 0) {
  const queries: string[] = []
  let nowMs = 0
  const exchange = exchangeOf(async ({ name, type }) => {
    queries.push(`${type} ${name}`)
    nowMs += replyMs
    return replies[name] ?? ends({ ...EMPTY, outcome: "no_name" })
  })
  const { directResolver } = new DnsServers([exchange], {
    timeoutMs: TIMEOUT_MS,
    attemptsMax: 1,
    setTimer: createFakeTime().later,
    stopwatch: () => nowMs,
  })
  return { finding: await directResolver({ name: "start", type: "A" }), queries }
}

const chainOf = (length: number): Record<string, ServerReply> => ({
  start: onTo("1"),
  ...Object.fromEntries(Array.from({ length }, (_, at) => [String(at + 1), onTo(String(at + 2))])),
  [length]: ends(FOUND),
})

describe("a chain of CNAMEs", () => {
  test("whose servers are slow is not followed for longer than one query may take", async () => {
    const { finding, queries } = await follow(chainOf(CNAME_QUERIES_MAX), TIMEOUT_MS / 3)
    expect(finding).toEqual(unknown("timed_out"))
    expect(queries).toHaveLength(3)
  })

  test("that the server resolved to its end is returned as it is", async () => {
    for (const outcome of ["no_name", "no_data"] as const) {
      const answer = { ...EMPTY, outcome, ttlS: 0 }
      expect(await follow({ start: ends(answer) })).toEqual({ finding: known(answer), queries: ["A start"] })
    }
  })

  test("continues where the server left off, and has the TTL of its shortest link", async () => {
    const { finding, queries } = await follow({ start: onTo("b", 120), b: onTo("c", 60), c: ends(FOUND) })
    expect(finding).toEqual(known({ ...FOUND, ttlS: 60 }))
    expect(queries).toEqual(["A start", "A b", "A c"])
    expect((await follow({ start: onTo("c", 999), c: ends(FOUND) })).finding).toEqual(known(FOUND))
  })

  test("that ends at a missing name begins at an existing one", async () => {
    const { finding } = await follow({ start: onTo("gone") })
    expect(finding).toEqual(known({ ...EMPTY, outcome: "no_data" }))
  })

  test("that ends at a name without records has none", async () => {
    expect((await follow({ start: onTo("b"), b: ends(EMPTY) })).finding).toEqual(known(EMPTY))
  })

  test("that has a loop is unavailable, and no name is queried twice", async () => {
    expect(await follow({ start: onTo("start") })).toEqual({ finding: unknown("unavailable"), queries: ["A start"] })
    const { finding, queries } = await follow({ start: onTo("b"), b: onTo("c"), c: onTo("b") })
    expect(finding).toEqual(unknown("unavailable"))
    expect(queries).toEqual(["A start", "A b", "A c"])
  })

  test("is followed up to the limit", async () => {
    const longest = await follow(chainOf(CNAME_QUERIES_MAX))
    expect(longest.finding).toEqual(known(FOUND))
    expect(longest.queries).toHaveLength(CNAME_QUERIES_MAX + 1)
    const tooLong = await follow(chainOf(CNAME_QUERIES_MAX + 1))
    expect(tooLong.finding).toEqual(unknown("unavailable"))
    expect(tooLong.queries).toHaveLength(CNAME_QUERIES_MAX + 1)
  })

  test("that ends in a failure is that failure", async () => {
    for (const [kind, cause] of [
      ["silent", "timed_out"],
      ["failed", "unavailable"],
    ] as const)
      expect((await follow({ start: onTo("b"), b: { kind } })).finding).toEqual(unknown(cause))
  })
})
