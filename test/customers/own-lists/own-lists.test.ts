import { describe, expect } from "bun:test"
import { parseAddressOrDomain } from "../../../src/check/address/parse-subject.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { removeAccount } from "../../../src/customers/accounts/accounts.ts"
import { type OwnListEntry, parseEntry } from "../../../src/customers/own-lists/entries.ts"
import {
  addEntries,
  type ListOwner,
  listEntries,
  type OwnList,
  removeEntries,
} from "../../../src/customers/own-lists/own-lists.ts"
import { readChangesSince } from "../../../src/customers/store/change-log/change-log.ts"
import type { Store } from "../../../src/customers/store/core/store.ts"
import { POOL_BOUNDS } from "../../../src/customers/store/postgres/clients.ts"
import { onPostgres, test } from "../engines.ts"
import { newAccount, tempLog, tempPlace, tempStore, writtenAt } from "../temp-store.ts"

async function opened(path = tempPlace()) {
  const log = tempLog(await tempStore(path))
  const add = (owner: ListOwner, list: OwnList, ...texts: string[]) => addEntries(log, owner, list, entries(...texts))
  const remove = (owner: ListOwner, list: OwnList, ...texts: string[]) =>
    removeEntries(log, owner, list, entries(...texts))
  const listed = async (owner: ListOwner, list: OwnList) =>
    (await listEntries(log.store, owner, list, "", 100_000)).map(({ storedText }) => storedText)
  return { log, add, remove, listed, path }
}

function entries(...texts: string[]): OwnListEntry[] {
  return texts.map(text => {
    const entry = parseEntry(text, parseAddressOrDomain)
    if (entry === null) throw new Error(`${text} is no entry`)
    return entry
  })
}

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `name${from + at}.example`)
const { ownListEntriesMax } = LIMITS

describe("adding", () => {
  test("tells new entries from those that were there, and counts one that is given twice once", async () => {
    const { add, listed } = await opened()
    expect(await add("operator", "block", "b.com", "a.com", "B.com")).toMatchObject({
      kind: "added",
      addedCount: 2,
      presentCount: 0,
    })
    expect(await add("operator", "block", "b.com", "*.b.com")).toMatchObject({
      kind: "added",
      addedCount: 1,
      presentCount: 1,
    })
    expect(await listed("operator", "block")).toEqual(["*.b.com", "a.com", "b.com"])
  })

  test("an address is one entry however it is written", async () => {
    const { add, listed } = await opened()
    await add("operator", "allow", "jane@acme.com")
    expect(await add("operator", "allow", '"Jane"@Acme.com')).toMatchObject({ addedCount: 0, presentCount: 1 })
    expect(await listed("operator", "allow")).toHaveLength(1)
  })

  test("an entry that was there keeps the time at which it was added", async () => {
    const { add, log } = await opened()
    await add("operator", "block", "a.com")
    log.now = 6_000
    await add("operator", "block", "a.com", "b.com")
    const listed = await listEntries(log.store, "operator", "block", "", 10)
    expect(listed.map(({ storedText, addedAtMs }) => [storedText, addedAtMs])).toEqual([
      ["a.com", 5_000],
      ["b.com", 6_000],
    ])
  })

  test("lists and owners are apart", async () => {
    const { add, listed, log } = await opened()
    const jane = { accountId: await newAccount(log, "jane@example.com") }
    const joan = { accountId: await newAccount(log, "joan@example.com") }
    await add(jane, "block", "a.com")
    await add(jane, "allow", "a.com", "b.com")
    await add(joan, "block", "c.com")
    await add("operator", "block", "d.com")
    expect(await listed(jane, "block")).toEqual(["a.com"])
    expect(await listed(jane, "allow")).toEqual(["a.com", "b.com"])
    expect(await listed(joan, "block")).toEqual(["c.com"])
    expect(await listed(joan, "allow")).toEqual([])
    expect(await listed("operator", "block")).toEqual(["d.com"])
    expect(await listed("operator", "allow")).toEqual([])
  })

  test("an account that does not exist has no lists", async () => {
    const { add, log } = await opened()
    expect(await add({ accountId: "acc_none" }, "block", "a.com")).toEqual({ kind: "unknown_account" })
    expect(await add({ accountId: "operator" }, "block", "a.com")).toEqual({ kind: "unknown_account" })
    expect(log.received).toEqual([])
  })

  test("an account's lists go with it, and nobody else's", async () => {
    const { add, listed, log } = await opened()
    const jane = { accountId: await newAccount(log, "jane@example.com") }
    const joan = { accountId: await newAccount(log, "joan@example.com") }
    for (const owner of [jane, joan, "operator"] as const) await add(owner, "block", "a.com")
    await removeAccount(log, jane.accountId)
    expect(await listed(jane, "block")).toEqual([])
    expect(await listed(joan, "block")).toEqual(["a.com"])
    expect(await listed("operator", "block")).toEqual(["a.com"])
  })
})

describe("the bound", () => {
  test(`an account has ${ownListEntriesMax} entries on both lists together, and not one more`, async () => {
    const { add, remove, listed, log } = await opened()
    const jane = { accountId: await newAccount(log) }
    expect(await add(jane, "block", ...names(0, ownListEntriesMax - 1))).toMatchObject({ kind: "added" })
    expect(await add(jane, "allow", "a.com", "b.com")).toEqual({ kind: "too_many" })
    expect(await listed(jane, "allow")).toEqual([])
    expect(await add(jane, "allow", "a.com")).toMatchObject({ kind: "added", addedCount: 1 })
    expect(await add(jane, "allow", "b.com")).toEqual({ kind: "too_many" })
    expect(await add(jane, "block", "a.com")).toEqual({ kind: "too_many" })
    expect(await add(jane, "allow", "a.com")).toMatchObject({ kind: "added", addedCount: 0, presentCount: 1 })
    await remove(jane, "block", "name0.example")
    expect(await add(jane, "allow", "b.com")).toMatchObject({ kind: "added", addedCount: 1 })
    expect(await add({ accountId: await newAccount(log, "b@x.com") }, "block", "a.com")).toMatchObject({
      addedCount: 1,
    })
    expect(await add("operator", "block", "a.com")).toMatchObject({ addedCount: 1 })
  })

  test(`${ownListEntriesMax} entries are added at once, ${ownListEntriesMax + 1} are refused whole`, async () => {
    const { add, listed, log } = await opened()
    expect(await add("operator", "block", ...names(0, ownListEntriesMax + 1))).toEqual({ kind: "too_many" })
    expect(await listed("operator", "block")).toEqual([])
    expect(log.received).toEqual([])
    const twice = [...names(0, ownListEntriesMax), "name7.example"]
    expect(await add("operator", "block", ...twice)).toMatchObject({ addedCount: ownListEntriesMax })
    expect(await add("operator", "allow", "a.com")).toEqual({ kind: "too_many" })
  })

  test("two who add at once do not pass it together", async () => {
    const { add, log } = await opened()
    const jane = { accountId: await newAccount(log) }
    const half = ownListEntriesMax / 2
    const kinds = await Promise.all([
      add(jane, "block", ...names(0, half)),
      add(jane, "block", ...names(half, ownListEntriesMax)),
      add(jane, "allow", "a.com"),
    ])
    // Which of them comes last is nobody's to say.
    expect(kinds.filter(({ kind }) => kind === "too_many")).toHaveLength(1)
  })

  test("two who add to the operator's lists at once do not pass it together", async () => {
    const { add } = await opened()
    const half = ownListEntriesMax / 2
    const kinds = await Promise.all([
      add("operator", "block", ...names(0, half)),
      add("operator", "block", ...names(half, ownListEntriesMax)),
      add("operator", "allow", "a.com"),
    ])
    expect(kinds.filter(({ kind }) => kind === "too_many")).toHaveLength(1)
  })
})

describe("removing", () => {
  test("takes an entry in any of its forms, and tells what was not there", async () => {
    const { add, remove, listed } = await opened()
    await add("operator", "block", "jane@acme.com", "joan@acme.com", "acme.com", "*.acme.com")
    const [joan = ""] = entries("joan@acme.com").map(({ storedText }) => storedText)
    expect(await remove("operator", "block", "JANE@acme.com", joan)).toMatchObject({ removedCount: 2, absentCount: 0 })
    expect(await remove("operator", "block", "Acme.com", "jane@acme.com", "b.com")).toMatchObject({
      removedCount: 1,
      absentCount: 2,
    })
    expect(await listed("operator", "block")).toEqual(["*.acme.com"])
  })

  test("leaves the other list and other owners alone", async () => {
    const { add, remove, listed, log } = await opened()
    const jane = { accountId: await newAccount(log) }
    for (const owner of [jane, "operator"] as const)
      for (const list of ["block", "allow"] as const) await add(owner, list, "a.com")
    await remove(jane, "block", "a.com")
    expect(await listed(jane, "block")).toEqual([])
    for (const owner of [jane, "operator"] as const) expect(await listed(owner, "allow")).toEqual(["a.com"])
    expect(await listed("operator", "block")).toEqual(["a.com"])
  })
})

describe("change", () => {
  test("each write that changes something is noted once, with its owner, and this process hears of each write", async () => {
    const { add, remove, log } = await opened()
    const accountId = await newAccount(log)
    await add({ accountId }, "block", "a.com", "b.com")
    await add({ accountId }, "block", "a.com")
    await add("operator", "allow", "a.com")
    await remove({ accountId }, "block", "a.com", "b.com")
    await remove({ accountId }, "block", "a.com")
    await remove("operator", "allow", "a.com")
    const changesOf = (...subjects: string[]) => subjects.map(subject => ({ kind: "own_lists_changed", subject }))
    expect(await readChangesSince(log.store, 0)).toMatchObject({
      changes: changesOf(accountId, "operator", accountId, "operator"),
    })
    // Another process may have made a list what it is wanted to be, of which this one has not heard.
    expect(log.received).toEqual(changesOf(accountId, accountId, "operator", accountId, accountId, "operator"))
  })
})

onPostgres(
  "no change compares each entry of a list with each that it names, also before there are statistics",
  async () => {
    const { log, add } = await opened()
    for (let from = 0; from < 5000; from += 1000) await add("operator", "block", ...names(from, from + 1000))
    const plans: string[] = []
    const explaining = (store: Store): Store => ({
      ...store,
      run: async (sql, params) => {
        const lines = await store.all<{ "QUERY PLAN": string }>(`EXPLAIN ${sql}`, params)
        plans.push(lines.map(line => line["QUERY PLAN"]).join("\n"))
        return await store.run(sql, params)
      },
      transaction: work => store.transaction(inner => work(explaining(inner))),
    })
    const explained = { ...log, store: explaining(log.store) }
    await removeEntries(explained, "operator", "block", entries(...names(0, 500)))
    await addEntries(explained, "operator", "block", entries(...names(0, 500)))
    expect(plans.filter(plan => plan.includes("own_list_entries_pkey"))).not.toEqual([])
    expect(plans.filter(plan => /Join|Nested Loop/.test(plan))).toEqual([])
  },
)

onPostgres("many changes of one owner take one of the connections, and leave the others to the rest", async () => {
  const { log } = await opened()
  const { promise: whenOver, resolve: end } = Promise.withResolvers<void>()
  const changes = names(0, 3 * POOL_BOUNDS.connectionsMax).map(name =>
    addEntries(log, "operator", "block", entries(name), () => whenOver),
  )
  // When so many statements were answered, all of the changes have come as far as they can.
  for (let count = 0; count < 50; count++) await log.store.one("SELECT 1")
  end()
  for (const addition of await Promise.all(changes)) expect(addition).toMatchObject({ addedCount: 1 })
})

describe("listing", () => {
  test("pages go on after the last entry, in one order", async () => {
    const { add, log } = await opened()
    await add("operator", "block", "c.com", "jane@a.com", "a.com", "*.b.com", "b.com")
    const pages: string[][] = []
    for (let after = ""; ; ) {
      const page = (await listEntries(log.store, "operator", "block", after, 2)).map(({ storedText }) => storedText)
      pages.push(page)
      if (page.length < 2) break
      after = page.at(-1) ?? ""
    }
    expect(pages.map(page => page.length)).toEqual([2, 2, 1])
    expect(pages.flat()).toEqual([...pages.flat()].sort())
    expect(new Set(pages.flat())).toEqual(
      new Set(entries("c.com", "jane@a.com", "a.com", "*.b.com", "b.com").map(({ storedText }) => storedText)),
    )
  })

  test("an address shows its domain and no more", async () => {
    const { add, log } = await opened()
    await add("operator", "block", "jane.doe+x@acme.com")
    const [listed] = await listEntries(log.store, "operator", "block", "", 10)
    expect(listed).toMatchObject({ kind: "address", domain: "acme.com", addedAtMs: 5_000 })
    expect(JSON.stringify(listed)).not.toContain("jane")
  })
})

test("no address stands in the database's files, its domain does", async () => {
  const { add, remove, path } = await opened()
  await add("operator", "block", "Janette.Roebuck+News@acme.example")
  await add("operator", "allow", "janette.roebuck@acme.example")
  await remove("operator", "allow", "janette.roebuck@acme.example")
  // The names are long, since random ids hold any three letters now and then.
  const written = writtenAt(path).toLowerCase()
  expect(written).toContain("@acme.example")
  expect(written).not.toContain("janette")
  expect(written).not.toContain("roebuck")
})
