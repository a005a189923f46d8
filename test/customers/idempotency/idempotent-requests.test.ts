import { describe, expect } from "bun:test"
import type { TrustedInstant } from "../../../src/base/trusted-clock.ts"
import { parseAddressOrDomain } from "../../../src/check/address/parse-subject.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { createBodyMark, idempotencyKeyHash } from "../../../src/customers/idempotency/body-mark.ts"
import {
  findRequest,
  pruneIdempotentRequests,
  RepeatedRequest,
  recordAnswer,
  reserveForJob,
} from "../../../src/customers/idempotency/idempotent-requests.ts"
import { parseNotedEntry } from "../../../src/customers/own-lists/entries.ts"
import { addEntries, listEntries, removeEntries } from "../../../src/customers/own-lists/own-lists.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { test } from "../engines.ts"
import { newAccount, tempLog, tempPlace, tempStore } from "../temp-store.ts"

/** Two nodes over one database, with an account. */
async function twoNodes() {
  const place = tempPlace()
  const nodes = [tempLog(await tempStore(place)), tempLog(await tempStore(place))] as const
  return { nodes, store: nodes[0].store, accountId: await newAccount(nodes[0]) }
}

const requestOf = (accountId: string, key: string, body: unknown = "body") => ({
  accountId,
  keyHash: idempotencyKeyHash(accountId, key),
  bodyMac: createBodyMark(key, body).text(),
})

const entry = (text: string) => {
  const parsed = parseNotedEntry(text, "", parseAddressOrDomain)
  if (typeof parsed === "string") throw new Error(parsed)
  return parsed
}

const HOURS_MS = LIMITS.idempotencyHours * 3_600_000

describe("two nodes with the same key", () => {
  test("do the work once: the one that is late rolls its work back and finds the answer of the first", async () => {
    const { nodes, store, accountId } = await twoNodes()
    const request = requestOf(accountId, "k")
    const works = Array.from({ length: 8 }, (_, at) =>
      addEntries(nodes[at % 2 === 0 ? 0 : 1], { accountId }, "block", [entry(`name${at}.example`)], undefined, inner =>
        recordAnswer(inner, request, String(at), 1),
      ).catch(error => error),
    )
    const ends = await Promise.all(works)
    const done = ends.flatMap((end, at) => (end instanceof RepeatedRequest ? [] : [at]))
    expect(done).toHaveLength(1)
    expect(await findRequest(nodes[1].store, request)).toEqual({
      ...{ kind: "answered", bodyMac: request.bodyMac, answer: String(done[0]) },
    })
    const listed = await listEntries(store, { accountId }, "block", "", 10)
    expect(listed.map(({ storedText }) => storedText)).toEqual([`name${done[0]}.example`])
  })

  test("leave neither the work nor its answer when one ends before both are stored", async () => {
    const { nodes, accountId } = await twoNodes()
    const request = requestOf(accountId, "k")
    const ended = addEntries(nodes[0], { accountId }, "block", [entry("acme.com")], undefined, async inner => {
      await recordAnswer(inner, request, "answer", 1)
      throw new Error("the process has ended")
    })
    expect(await ended.catch(String)).toBe("Error: the process has ended")
    expect(await findRequest(nodes[1].store, request)).toBeNull()
    const again = await addEntries(nodes[1], { accountId }, "block", [entry("acme.com")], undefined, inner =>
      recordAnswer(inner, request, "answer", 1),
    )
    expect(again).toMatchObject({ kind: "added", addedCount: 1 })
  })
})

test("two nodes that add and remove the same entries agree with the list in what they have changed", async () => {
  const { nodes, store, accountId } = await twoNodes()
  const entries = Array.from({ length: 40 }, (_, at) => entry(`name${at}.example`))
  const works = Array.from({ length: 24 }, async (_, at) => {
    const log = nodes[at % 2 === 0 ? 0 : 1]
    const some = at % 3 === 0 ? entries.toReversed() : entries.slice(at)
    if (at % 4 < 2) return { added: await addEntries(log, { accountId }, "block", some) }
    return { removed: await removeEntries(log, { accountId }, "block", some) }
  })
  const onList = new Map<string, number>()
  const count = (texts: ReadonlySet<string>, by: number): void => {
    for (const text of texts) onList.set(text, (onList.get(text) ?? 0) + by)
  }
  for (const { added, removed } of await Promise.all(works)) {
    if (added?.kind === "added") count(added.added, 1)
    if (removed !== undefined) count(removed.removed, -1)
  }
  const listed = await listEntries(store, { accountId }, "block", "", 100)
  expect(listed.map(({ storedText }) => storedText)).toEqual(
    [...onList].flatMap(([text, times]) => (times === 1 ? [text] : [])).toSorted(),
  )
  expect([...onList.values()].every(times => times === 0 || times === 1)).toBe(true)
})

describe("a stored answer", () => {
  test("is kept for 24 hours, and a key whose upload still runs for as long as that takes", async () => {
    const { store, accountId } = await twoNodes()
    const [old, young, running] = [requestOf(accountId, "a"), requestOf(accountId, "b"), requestOf(accountId, "c")]
    await recordAnswer(store, old, "old", 1000)
    await recordAnswer(store, young, "young", 1001)
    await reserveForJob(store, running, "job_1", 1000)
    const prune = (store: Store) => pruneIdempotentRequests(store, (1000 + HOURS_MS) as TrustedInstant, 10)
    expect(await prune(store)).toBe(1)
    expect(await findRequest(store, old)).toBeNull()
    expect(await findRequest(store, young)).toMatchObject({ answer: "young" })
    expect(await findRequest(store, running)).toEqual({ kind: "running" })
  })

  test("of an account makes room for the newest when there are too many, and no other account's does", async () => {
    const { nodes, store, accountId } = await twoNodes()
    const other = requestOf(await newAccount(nodes[0], "other@localhost"), "k")
    await recordAnswer(store, other, "other", 0)
    const max = LIMITS.idempotencyKeysPerAccountMax
    await store.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${max})
       INSERT INTO idempotent_requests (account_id, key_hash, body_mac, answer, at_ms)
       SELECT $1, 'hash' || CAST(n AS TEXT), 'mac', 'answer', n FROM numbers`,
      [accountId],
    )
    await recordAnswer(store, requestOf(accountId, "new"), "new", max + 1)
    const rows = await store.all<{ keyHash: string }>(
      `SELECT key_hash AS "keyHash" FROM idempotent_requests WHERE account_id = $1 ORDER BY at_ms`,
      [accountId],
    )
    expect(rows).toHaveLength(max)
    expect(rows[0]?.keyHash).toBe("hash2")
    expect(await findRequest(store, other)).toMatchObject({ answer: "other" })
  })

  test("holds neither the key nor the body, and is another one for another account", async () => {
    const { store, accountId } = await twoNodes()
    await recordAnswer(store, requestOf(accountId, "secret-key", "secret-body"), "{}", 1)
    expect(JSON.stringify(await store.all("SELECT * FROM idempotent_requests"))).not.toContain("secret")
    expect(idempotencyKeyHash("a", "k")).not.toBe(idempotencyKeyHash("b", "k"))
  })
})
