import { expect, test } from "bun:test"
import { createLearnedHostsService } from "../../../src/assemble/check/learned-hosts.ts"
import { createNetworkService } from "../../../src/assemble/check/network.ts"
import { createContext } from "../../../src/assemble/context.ts"
import type { Log } from "../../../src/base/log.ts"
import type { LogLevel } from "../../../src/base/log-level.ts"
import { DAY_MS, utcDay } from "../../../src/base/time.ts"
import { detectSubjectKind, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { createCheck, NO_CORRECTIONS, NO_OWN_LIST_MATCH } from "../../../src/check/check.ts"
import { OFFLINE_DEEP_PROBE } from "../../../src/check/deep-evidence.ts"
import type { Pack } from "../../../src/check/lists/pack/pack.ts"
import { registrableDomain } from "../../../src/check/lists/sources/normalized-name.ts"
import { fullResult } from "../../../src/check/result/result.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import { POLICY_NAMES, type Policy } from "../../../src/contract/policies.ts"
import type { OpenStore } from "../../../src/customers/store/core/store.ts"
import { createSystem, type System } from "../../../src/system/system.ts"
import { openedPack, smallPack } from "../../check/lists/pack/small-pack.ts"
import { tempPath, tempStore } from "../../customers/temp-store.ts"
import { lists } from "../../support/app.ts"
import { trustedTime } from "../../support/clock.ts"
import { pollOver } from "../../support/database-poll.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { packetsPass, serving } from "../../support/test-check.ts"
import { createFakeTime, type FakeTime } from "../../support/time.ts"

const HOST = "throw-away-hosting.com"
const PLACES = { host: HOST, addresses: ["198.51.99.25"] }

/** A pack whose disposable names are these. */
const packOf = (disposable: readonly string[]): Pack =>
  openedPack(smallPack(Object.fromEntries(disposable.map(name => [name, ["disposable"] as const]))))

/** Domains of our disposable list, as many as are asked for. */
const LISTED = [...lists.pack.names()]
  .filter(name => registrableDomain(name) === name && lists.pack.match(name, name).strength === "strong")
  .slice(0, 5)

/** What is done in the background, told when its time has come. */
type Background = { readonly everyMs: number; readonly work: () => void }

/** Learned hosts over a store, as a process has them; its background stands still until it is told to go on. */
function learned(store: OpenStore, time: FakeTime = createFakeTime(), pack = { current: lists.pack }) {
  const { clock, stopwatch, later: setTimer } = time
  const background = new Set<Background>()
  const logged: [LogLevel, string][] = []
  const runInterval: System["runInterval"] = (everyMs, work) => {
    const one = { everyMs, work }
    background.add(one)
    return () => background.delete(one)
  }
  const world: System = { ...createSystem(), clock, stopwatch, setTimer, runInterval }
  const log: Log = (level, message) => void logged.push([level, message])
  const atWork = createLearnedHostsService(
    { system: world, log, store, trustedTime: trustedTime(world.clock), ...pollOver(store) },
    () => pack.current,
  )
  const meet = (count: number, from = 0): void => {
    for (let at = from; at < from + count; at++) atWork.hosts.observe(`d${at}.com`, PLACES, true, utcDay(clock()))
  }
  return {
    ...atWork,
    world,
    time,
    background,
    logged,
    meet,
    isLearned: () => atWork.hosts.servesDisposable("acme.com", PLACES, utcDay(clock())),
  }
}

test("what a process learned is there after a restart", async () => {
  const path = tempPath()
  const store = await tempStore(path)
  const before = learned(store)
  before.meet(5)
  await before.stop()
  await store.close()
  const after = learned(await tempStore(path), before.time)
  expect(after.isLearned()).toBe(false)
  after.start()
  await packetsPass()
  expect(after.isLearned()).toBe(true)
  expect(after.logged).toEqual([])
})

test("what several processes see adds up", async () => {
  const path = tempPath()
  const [one, other] = [learned(await tempStore(path)), learned(await tempStore(path))]
  one.meet(3)
  other.meet(3, 2)
  for (const { write } of [one, other]) await write()
  expect([one.isLearned(), other.isLearned()]).toEqual([false, false])
  for (const { read } of [one, other]) await read()
  expect([one.isLearned(), other.isLearned()]).toEqual([true, true])
  expect(one.hosts.size).toEqual({ places: 2, observations: 5 })
})

test("more sightings than one page or one batch holds are all written and all read", async () => {
  const path = tempPath()
  const [one, other] = [learned(await tempStore(path)), learned(await tempStore(path))]
  for (let at = 0; at < 4001; at++)
    one.hosts.observe(
      `d${at}.com`,
      { host: `h${at % 100}.com`, addresses: [] },
      at % 2 === 0,
      utcDay(one.world.clock()),
    )
  await one.write()
  await other.read()
  expect(other.hosts.size).toEqual({ places: 100, observations: 4001 })
  expect(one.hosts.unwritten(1)).toEqual([])
})

test("a domain that was seen before lists named it counts as listed once they do, in other processes and after a restart too", async () => {
  const path = tempPath()
  const pack = { current: packOf([]) }
  const { hosts, world, relist, write, time } = learned(await tempStore(path), undefined, pack)
  for (const name of LISTED) hosts.observe(name, PLACES, false, utcDay(world.clock()))
  const serves = (of: typeof hosts) => of.servesDisposable("acme.com", PLACES, utcDay(world.clock()))
  await relist()
  await write()
  expect(serves(hosts)).toBe(false)
  pack.current = packOf(LISTED.slice(1))
  await relist()
  expect(serves(hosts)).toBe(false)
  pack.current = lists.pack
  await relist()
  expect(serves(hosts)).toBe(true)
  await write()
  const other = learned(await tempStore(path), time)
  await other.read()
  expect(serves(other.hosts)).toBe(true)
})

test("rows are deleted when they are ninety-one days old", async () => {
  const store = await tempStore()
  const { meet, write, prune, time } = learned(store)
  const count = async () => (await store.one<{ count: number }>("SELECT COUNT(*) AS count FROM host_sightings"))?.count
  meet(5)
  await write()
  await time.tick(90 * DAY_MS)
  await prune()
  expect(await count()).toBe(5)
  await time.tick(DAY_MS)
  await prune()
  expect(await count()).toBe(0)
})

test("a store that fails is logged without a word of what it was about, and nothing is lost by it", async () => {
  const store = await tempStore()
  const { meet, read, write, prune, hosts, logged } = learned(store)
  meet(5)
  await store.run("ALTER TABLE host_sightings RENAME TO hidden")
  for (const work of [read, write, prune]) await work()
  expect(logged.map(([level]) => level)).toEqual(["error", "error", "error"])
  expect(JSON.stringify(logged)).not.toContain("d0.com")
  await store.run("ALTER TABLE hidden RENAME TO host_sightings")
  await write()
  expect(hosts.unwritten(1)).toEqual([])
  expect(logged).toHaveLength(3)
})

test("once ended nothing is done in the background, and what was seen until then is written", async () => {
  const store = await tempStore()
  const { meet, start, stop, background, hosts } = learned(store)
  start()
  expect(background.size).toBe(4)
  meet(5)
  await stop()
  expect(background.size).toBe(0)
  expect(hosts.unwritten(1)).toEqual([])
})

test("each piece of background work does its own", async () => {
  const path = tempPath()
  const [one, other] = [learned(await tempStore(path)), learned(await tempStore(path))]
  one.start()
  other.start()
  one.meet(5)
  const run = async ({ background }: typeof one): Promise<void> => {
    for (const { work } of background) work()
    await packetsPass()
  }
  await run(one)
  await run(other)
  expect(other.isLearned()).toBe(true)
})

/** The check as it is wired for production, over a DNS server on loopback whose domains have their mail on one host. */
async function checkOver(domains: readonly string[], hostOf = (_domain: string): string => `mx1.${HOST}`) {
  const records = domains.flatMap(
    domain =>
      [
        [`MX ${domain}`, [`10 ${hostOf(domain)}`]],
        [`A ${hostOf(domain)}`, ["198.51.99.25"]],
        [`A ${domain}`, ["192.0.2.1"]],
      ] as const,
  )
  const { address, port } = await serving(Object.fromEntries(records))
  const read = parseSettings({
    MAILKIND_DNS_SERVERS: `${address}:${port}`,
    MAILKIND_DNS_CANARIES: "off",
    MAILKIND_IDENTITY_URL: "off",
  })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  const { hosts: learnedHosts, world } = learned(await tempStore())
  const matchLists = (domain: string, registrable: string) => lists.pack.match(domain, registrable)
  const { networkProbe, stop } = createNetworkService(createContext(world, read.settings), {
    learnedHosts,
    matchLists,
  })
  onTestEnd(stop)
  const { clock, stopwatch } = world
  const check = createCheck({
    activeLists: () => lists,
    networkProbe,
    deepProbe: OFFLINE_DEEP_PROBE,
    corrections: NO_CORRECTIONS,
    clock,
    stopwatch,
  })
  return async (domain: string, policy: Policy = "b2b") => {
    const input = `jane@${domain}`
    const subject = parseSubject(detectSubjectKind(input), input, "mailkind.test")
    const question = { subject, policy, isDeep: false, includeTenant: true, ownListMatch: NO_OWN_LIST_MATCH }
    return fullResult(await check(question), "req_learned")
  }
}

const UNKNOWN = "harbor-freight-and-sons.com"

test("four listed domains on one host say nothing of a fifth", async () => {
  const ask = await checkOver([...LISTED, UNKNOWN])
  expect(LISTED).toHaveLength(5)
  for (const domain of LISTED.slice(1)) expect((await ask(domain)).reasons[0]).toBe("disposable_domain")
  expect((await ask(UNKNOWN)).category).toBe("business")
})

test("after five listed domains on one host a sixth is disposable, and to be reviewed under every policy", async () => {
  const ask = await checkOver([...LISTED, UNKNOWN])
  for (const domain of LISTED) await ask(domain)
  for (const policy of POLICY_NAMES) {
    const { category, confidence, recommendation, reasons } = await ask(UNKNOWN, policy)
    expect([policy, category, confidence, recommendation, reasons[0]]).toEqual([
      policy,
      "disposable",
      0.7,
      "review",
      "disposable_mx",
    ])
  }
})

test("an honest domain that was seen at an address before the fifth listed one keeps it from being learned", async () => {
  const ask = await checkOver([...LISTED, UNKNOWN, "brick-and-mortar-goods.com"], domain => `mx.${domain}`)
  for (const domain of LISTED.slice(1)) await ask(domain)
  expect((await ask("brick-and-mortar-goods.com")).category).toBe("business")
  for (const domain of LISTED) await ask(domain)
  expect((await ask("brick-and-mortar-goods.com")).category).toBe("business")
  expect((await ask(UNKNOWN)).category).toBe("business")
})

test("five listed domains with hosts of their own names at one address make a sixth disposable, and to be reviewed", async () => {
  const ask = await checkOver([...LISTED, UNKNOWN], domain => `mx.${domain}`)
  for (const domain of LISTED) await ask(domain)
  const { category, confidence, recommendation, reasons } = await ask(UNKNOWN)
  expect([category, confidence, recommendation, reasons[0]]).toEqual(["disposable", 0.7, "review", "disposable_mx"])
})
