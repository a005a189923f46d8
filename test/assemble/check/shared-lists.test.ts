import { describe, expect, setDefaultTimeout } from "bun:test"
import { changeListsInForce, readListsInForce, readWaitingLists } from "../../../src/assemble/check/lists-in-force.ts"
import { BEHIND_AFTER_MS, createSharedLists, takeSharedListsAtStart } from "../../../src/assemble/check/shared-lists.ts"
import type { StoreContext } from "../../../src/assemble/context.ts"
import { createDoctor } from "../../../src/assemble/doctor.ts"
import { createHealthReport } from "../../../src/assemble/health-report.ts"
import { openListsForCommand } from "../../../src/check/active-lists/lists-in-place.ts"
import type { ListsService } from "../../../src/check/active-lists/lists-service.ts"
import type { LoadedLists } from "../../../src/check/domain-lookup.ts"
import { PACK_FORMAT } from "../../../src/check/lists/pack/pack-format.ts"
import { INITIAL_REFRESH_STATE, manifestFileName, packFileName } from "../../../src/check/refresh/refresh-state.ts"
import { StoreError } from "../../../src/customers/store/core/store-error.ts"
import { listSharedFiles, readListsMark, withSharedFiles } from "../../../src/customers/store/shared-files.ts"
import { test as onBoth, onPostgres as test } from "../../customers/engines.ts"
import { openAt } from "../../customers/temp-store.ts"
import { pollOver } from "../../support/database-poll.ts"
import { outcomeOf } from "../../support/outcome-of.ts"
import { until } from "../../support/until.ts"
import { sharedNodes, VERSIONS } from "./shared-nodes.ts"

setDefaultTimeout(60_000)

const HOUR_MS = 3_600_000

test("all nodes take the lists that one of them has refreshed, also one with an empty data directory", async () => {
  const { node } = await sharedNodes()
  const [fetcher, other, late] = [node(), node(), node()]
  await fetcher.refresh("first.org")
  for (const each of [fetcher, other]) expect((await each.take()).kind).toBe("taken")
  expect(await other.version()).toBe(await fetcher.version())
  expect(await other.lists("first.org")).toBe(true)
  await other.refresh("first.org", "second.org")
  for (const each of [fetcher, other, late]) await each.take()
  const versions = await Promise.all([fetcher, other, late].map(each => each.version()))
  expect(new Set(versions).size).toBe(1)
  expect(await late.lists("second.org")).toBe(true)
  // What the schedule goes by is shared as well, so no second node asks the sources.
  expect((await late.state()).asked_at_ms).toBe((await other.state()).asked_at_ms)
})

test("before anything is shared, a node keeps what it has, and the first one that refreshes brings its downloads along", async () => {
  const { node, store } = await sharedNodes()
  const one = node()
  expect(await one.take()).toEqual({ kind: "taken", mark: null, nextAtMs: null })
  await one.folder.writeAtomic("past.txt", "a download of before")
  await one.refresh("first.org")
  expect((await listSharedFiles(store)).map(({ name }) => name)).toContain("past.txt")
})

test("a start takes what is in force before the server serves, and serves what it has when the database is away", async () => {
  const { node, store, place } = await sharedNodes()
  const [fetcher, started, cutOff] = [node(), node(), node()]
  await fetcher.refresh("first.org")
  await takeSharedListsAtStart(started.context, store)
  expect(await started.lists("first.org")).toBe(true)
  expect(started.log()).toEqual([])
  const away = await openAt(place, () => 1)
  await takeSharedListsAtStart(cutOff.context, {
    ...away,
    one: () => Promise.reject(new StoreError("away", "the host", "It does not answer.")),
  })
  await away.close()
  expect(await cutOff.lists("built-in-1.com")).toBe(true)
  expect(cutOff.log()).toMatchObject([
    { level: "warn", msg: "the server starts without the lists of the other nodes", where: "the host" },
  ])
})

describe("a node keeps what it has, and says why", () => {
  const DAMAGES = {
    "a part of the pack differs": `UPDATE lists_file_parts SET data = 'AAAA' || substr(data, 5) WHERE name LIKE '%.pack'`,
    "the manifest is cut": `DELETE FROM lists_file_parts WHERE name NOT LIKE 'state%' AND name LIKE '%.json'`,
    "the pack is not there": "DELETE FROM lists_files WHERE name LIKE '%.pack'",
    "the state differs": "UPDATE lists_files SET sha256 = '0' WHERE name LIKE 'state%'",
  }

  for (const [what, damage] of Object.entries(DAMAGES))
    test(`when ${what} in the database, and takes what the next refresh writes anew`, async () => {
      const { node, store } = await sharedNodes()
      const [fetcher, other] = [node(), node()]
      await fetcher.refresh("first.org")
      await other.take()
      await fetcher.refresh("first.org", "second.org")
      await store.run(damage)
      expect(await other.take()).toMatchObject({
        kind: "refused",
        outage: { why: expect.stringMatching(/damaged|not in the database/) },
      })
      expect([await other.lists("first.org"), await other.lists("second.org")]).toEqual([true, false])
      await fetcher.refresh("first.org", "second.org")
      expect((await other.take()).kind).toBe("taken")
      expect(await other.lists("second.org")).toBe(true)
    })

  test("when the manifest is that of other lists, and takes what the next refresh writes anew", async () => {
    const { node, store } = await sharedNodes()
    const [fetcher, other] = [node(), node()]
    await fetcher.refresh("first.org")
    await other.take()
    await fetcher.refresh("first.org", "second.org")
    await fetcher.take()
    const { in_use: sha256 } = await fetcher.state()
    await withSharedFiles(store, fetcher.context.system, ({ write }) =>
      write(manifestFileName(sha256 ?? ""), new TextEncoder().encode(`{"pack":{"sha256":"${"0".repeat(64)}"}}`), true),
    )
    expect(await other.take()).toMatchObject({ kind: "refused", outage: { why: expect.stringContaining("manifest") } })
    expect([await other.lists("first.org"), await other.lists("second.org")]).toEqual([true, false])
    await fetcher.refresh("first.org", "second.org")
    expect((await other.take()).kind).toBe("taken")
  })

  test("when the pack has a format of a later version of the program", async () => {
    const { node, store } = await sharedNodes()
    const [fetcher, older] = [node(), node()]
    await fetcher.refresh("first.org")
    await older.take()
    const { context } = fetcher
    await fetcher.refresh("first.org", "second.org")
    await fetcher.take()
    const { in_use: sha256 } = await fetcher.state()
    const bytes = await fetcher.folder.read(packFileName(sha256 ?? ""))
    if (bytes === null) throw new Error("there is no pack")
    new DataView(bytes.buffer).setUint32(8, PACK_FORMAT + 1, true)
    const later = new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
    await withSharedFiles(store, { ...context.system }, async ({ write }) => {
      await write(packFileName(later), bytes, false)
      await write(packFileName(later).replace("pack", "json"), new TextEncoder().encode("{}"), false)
      const state = {
        ...(await fetcher.state()),
        in_use: later,
        packs: [{ sha256: later, version: "later", made_at_ms: 1 }],
      }
      const name = `state-${VERSIONS.one.slice(0, 16)}.json`
      await write(name, new TextEncoder().encode(JSON.stringify({ ...state, is_paused: false })), true)
    })
    expect(await older.take()).toMatchObject({
      kind: "refused",
      outage: { why: expect.stringContaining(`format ${PACK_FORMAT + 1}`) },
    })
    expect(await older.lists("first.org")).toBe(true)
  })
})

test("a server that cannot take what is in force says so once, is behind until it can, and then says that too", async () => {
  const { node, store } = await sharedNodes()
  const fetcher = node()
  const { context, log, ...followed } = node()
  await fetcher.refresh("first.org")
  await followed.take()
  const current = () => ({ refreshState: { ...INITIAL_REFRESH_STATE, mark: seen.mark } }) as LoadedLists
  const seen = { mark: (await followed.state()).mark ?? "", nowMs: 0 }
  const { poll, claims } = pollOver(store)
  const reference = (): number => Date.now() + seen.nowMs
  const time = { reference, rowClock: reference, now: () => null }
  const system = { ...context.system, stopwatch: () => seen.nowMs }
  const shared = createSharedLists({ ...context, system, store, poll, claims, trustedTime: time }, "alone", current)
  const pollLater = async (ms: number) => {
    seen.nowMs += ms
    await poll.poll()
  }
  await pollLater(0)
  await fetcher.refresh("first.org", "second.org")
  await store.run("UPDATE lists_files SET sha256 = '0' WHERE name LIKE '%.pack'")
  await pollLater(0)
  expect(shared.isBehind()).toBe(false)
  await pollLater(BEHIND_AFTER_MS)
  for (let time = 0; time < 3; time++) await pollLater(BEHIND_AFTER_MS)
  expect([shared.isBehind(), shared.samples?.()]).toEqual([true, [["mailkind_lists_behind", 1]]])
  await until(
    () => log().length > 0,
    () => "nothing was logged",
  )
  await fetcher.refresh("first.org", "second.org")
  await pollLater(0)
  await until(
    async () => await followed.lists("second.org"),
    () => "the lists were not taken",
  )
  seen.mark = (await followed.state()).mark ?? ""
  await pollLater(0)
  expect(shared.isBehind()).toBe(false)
  await shared.stop?.()
  expect(log().map(({ level, msg }) => [level, msg])).toEqual([
    ["error", "the lists of all nodes cannot be used here; the current ones stay in use"],
    ["info", "the lists of all nodes are in use here again"],
  ])
})

test("a node whose files are damaged or gone takes them again, though it has what is in force", async () => {
  const { node } = await sharedNodes()
  const one = node()
  await one.refresh("first.org")
  await one.take()
  const name = packFileName((await one.state()).in_use ?? "")
  for (const content of ["no pack", null]) {
    await (content === null ? one.folder.remove(name) : one.folder.writeAtomic(name, content))
    await one.take()
    expect(await one.lists("first.org")).toBe(true)
  }
})

test("while one node changes the lists no other does, and nodes still take what is in force", async () => {
  const { node, store } = await sharedNodes()
  const [one, two] = [node(), node()]
  await one.refresh("first.org")
  await withSharedFiles(store, one.context.system, async () => {
    expect(await outcomeOf(two.refresh("second.org"))).toThrow("busy")
    expect(await changeListsInForce(two.context, { kind: "unpin" })).toBe("busy")
    await two.take()
  })
  expect(await two.lists("first.org")).toBe(true)
})

test("a refresh that ends between its files and its state changes nothing, and another node goes on", async () => {
  const { node, store } = await sharedNodes()
  const [dying, next] = [node(), node()]
  await dying.refresh("first.org")
  await next.take()
  const mark = await readListsMark(store)
  await dying.dieBeforeState("first.org", "second.org")
  expect(await readListsMark(store)).toBe(mark)
  await next.take()
  expect([await next.lists("first.org"), await next.lists("second.org")]).toEqual([true, false])
  await next.refresh("first.org", "second.org")
  await next.take()
  expect(await next.lists("second.org")).toBe(true)
})

test("a pinned version is used by all nodes over refreshes until it is unpinned, and of two pins the later one holds and tells the other", async () => {
  const { node } = await sharedNodes()
  const nodes = [node(), node()] as const
  const takeAll = async () => {
    for (const each of nodes) await each.take()
    return new Set(await Promise.all(nodes.map(each => each.version())))
  }
  const [one, two] = nodes
  await one.refresh("first.org")
  const [first = ""] = await takeAll()
  await two.refresh("first.org", "second.org")
  const [second = ""] = await takeAll()
  const pin = (version: string) => changeListsInForce(one.context, { kind: "pin", version })
  expect(await pin("2020-01-01-00000000")).toMatchObject({ kind: "none", now: { pinned: null } })
  expect(await pin(second)).toMatchObject({ kind: "done", pinnedBefore: null })
  expect(await pin(first)).toMatchObject({ kind: "done", pinnedBefore: second, now: { inUse: first, pinned: first } })
  expect([...(await takeAll())]).toEqual([first])
  await two.refresh("first.org", "third.org")
  expect([...(await takeAll())]).toEqual([first])
  expect((await two.state()).pinned).toBe(first)
  const { newest } = await readListsInForce(two.context)
  await changeListsInForce(two.context, { kind: "unpin" })
  expect([...(await takeAll())]).toEqual([newest ?? ""])
  expect(await one.lists("third.org")).toBe(true)
})

onBoth("the same commands pin, release, go back and unpin on one host and on nodes that share a database", async () => {
  const { node } = await sharedNodes()
  const { context, refresh } = node()
  const act = async (kind: "unpin" | "release" | "roll_back") => {
    const result = await changeListsInForce(context, { kind })
    return result === "busy" ? result : result.now
  }
  expect(await act("release")).toMatchObject({ inUse: "built_in", newest: null })
  await refresh("first.org")
  const { inUse: first } = await readListsInForce(context)
  await refresh("first.org", "second.org")
  const { inUse: second, newest, pinned } = await readListsInForce(context)
  expect([pinned, newest, first === second]).toEqual([null, second, false])
  expect(await act("roll_back")).toMatchObject({ inUse: first, pinned: first })
  expect(await act("roll_back")).toMatchObject({ inUse: "built_in", pinned: "built_in" })
  expect(await changeListsInForce(context, { kind: "roll_back" })).toMatchObject({ kind: "none" })
  expect(await act("release")).toMatchObject({ isReleased: true, pinned: "built_in" })
  expect(await act("unpin")).toMatchObject({ inUse: second, pinned: null, isReleased: true })
  expect(await readListsInForce(context)).toMatchObject({ inUse: second, pinned: null })
})

test("a canary uses new lists first, and the others when they are old enough or released", async () => {
  const { node } = await sharedNodes()
  const [canary, waiting] = [node(), node({ MAILKIND_LISTS_DELAY_HOURS: "4" })]
  await canary.refresh("first.org")
  for (const each of [canary, waiting]) await each.take(4 * HOUR_MS)
  await canary.refresh("first.org", "second.org")
  for (const each of [canary, waiting]) await each.take()
  expect([await canary.lists("second.org"), await waiting.lists("second.org")]).toEqual([true, false])
  const [taken] = [await waiting.take()]
  expect(taken).toMatchObject({ kind: "taken", nextAtMs: expect.any(Number) })
  const [inUse, { newest }] = [await waiting.version(), await readListsInForce(waiting.context)]
  const waits = { version: newest ?? "", untilMs: expect.any(Number), inUse }
  expect(await readWaitingLists(waiting.context)).toEqual(waits)
  expect((await readListsInForce(waiting.context)).waiting).toEqual(waits)
  const [row] = await createDoctor(waiting.context.system, () => ({
    ...{ kind: "read", settings: waiting.context.settings, given: new Map() },
  }))(["lists"], false)
  expect(row?.seen).toContain(`The newer ${newest} waits until 20`)
  const health = async (one: typeof waiting) => {
    const lists = await openListsForCommand(one.context)
    const context = { ...one.context, store: { isUnavailable: () => false } } as unknown as StoreContext // of which it reads these alone
    const service = { current: () => lists, damage: () => null } as ListsService
    const [no, none] = [() => false, () => null]
    const faults = { isDnsUnavailable: no, isInDoubt: no, isBehind: no, databaseAnsweredMsAgo: none }
    return createHealthReport(context, service, faults)().lists.waiting_until
  }
  const { untilMs = 0 } = (await readWaitingLists(waiting.context)) ?? {}
  expect([await health(waiting), await health(canary)]).toEqual([new Date(untilMs).toISOString(), null])
  expect([await readWaitingLists(canary.context), (await readListsInForce(canary.context)).waiting]).toEqual([
    null,
    null,
  ])
  await waiting.take(4 * HOUR_MS)
  expect(await waiting.lists("second.org")).toBe(true)
  await canary.refresh("first.org", "third.org")
  await waiting.take()
  expect(await waiting.lists("third.org")).toBe(false)
  await changeListsInForce(canary.context, { kind: "release" })
  await waiting.take()
  expect(await waiting.lists("third.org")).toBe(true)
})

test("three packs are kept in the database, and the files that a node uses in its directory", async () => {
  const { node, store } = await sharedNodes()
  const one = node()
  for (const name of ["a.org", "b.org", "c.org", "d.org", "e.org"]) {
    await one.refresh(name)
    await one.take()
  }
  const packs = async (names: readonly string[]) => names.filter(name => name.endsWith(".pack")).length
  expect(await packs((await listSharedFiles(store)).map(({ name }) => name))).toBe(3)
  expect(await packs(await one.folder.list())).toBe(3)
})

describe("nodes of two versions of the program", () => {
  test("each use the lists of their own version, and neither removes those of the other", async () => {
    const { node } = await sharedNodes()
    const [old, next] = [node(), node({}, VERSIONS.two)]
    await old.refresh("first.org")
    for (const each of [old, next]) await each.take()
    expect(await next.lists("built-in-2.com")).toBe(true)
    for (const name of ["second.org", "third.org", "fourth.org", "fifth.org"]) {
      await next.refresh(name)
      for (const each of [old, next]) await each.take()
    }
    expect([await old.lists("first.org"), await next.lists("fifth.org")]).toEqual([true, true])
    const late = node()
    await late.take()
    expect(await late.lists("first.org")).toBe(true)
  })

  test("have one pin, which also holds for a version that starts while it stands", async () => {
    const { node } = await sharedNodes()
    const old = node()
    await old.refresh("first.org")
    await old.take()
    const version = await old.version()
    await changeListsInForce(old.context, { kind: "pin", version })
    const next = node({}, VERSIONS.two)
    await next.take()
    expect(await next.version()).toBe(version)
    await next.refresh("first.org", "second.org")
    await next.take()
    expect(await next.version()).toBe(version)
    await changeListsInForce(next.context, { kind: "unpin" })
    for (const each of [old, next]) await each.take()
    expect([await old.lists("second.org"), await next.lists("second.org")]).toEqual([false, true])
  })
})
