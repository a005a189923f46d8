import { expect, test } from "bun:test"
import { createDnsOutageLog, createNetworkService, dnsServerPlaces } from "../../../src/assemble/check/network.ts"
import { createContext } from "../../../src/assemble/context.ts"
import type { Log, LogFields } from "../../../src/base/log.ts"
import { LEARNED_BOUNDS, LearnedHosts } from "../../../src/check/learned/learned-hosts.ts"
import { ListMatch, matchInSet, NO_LIST_MATCH } from "../../../src/check/lists/list-match.ts"
import { SET_BITS, STRENGTH_BITS } from "../../../src/check/lists/sets.ts"
import { QUESTIONS } from "../../../src/check/verdict/evidence-need.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import { createSystem } from "../../../src/system/system.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { serving } from "../../support/test-check.ts"

/** Nothing learned yet, and the check of the command line, which learns nothing. */
const MEMORIES = [new LearnedHosts(LEARNED_BOUNDS), null]

test("a suite proves itself by its DKIM keys where only aggregators call the domain disposable", async () => {
  const names = ["weak.com", "strong.com", "unlisted.com"]
  const records = names.flatMap(name => [
    [`MX ${name}`, ["1 aspmx.l.google.com"]] as const,
    [`TXT google._domainkey.${name}`, ["v=DKIM1; p=MIIB"]] as const,
  ])
  const { address, port } = await serving(Object.fromEntries(records))
  const read = parseSettings({
    MAILKIND_DNS_SERVERS: `${address}:${port}`,
    MAILKIND_DNS_CANARIES: "off",
    MAILKIND_IDENTITY_URL: "off",
  })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  const masks: Readonly<Record<string, number>> = {
    "weak.com": SET_BITS.disposable | STRENGTH_BITS.weak,
    "strong.com": SET_BITS.disposable,
  }
  for (const learnedHosts of MEMORIES) {
    const { networkProbe, stop } = createNetworkService(createContext(createSystem(), read.settings), {
      learnedHosts,
      matchLists: domain => new ListMatch(masks[domain] ?? 0, domain, 0),
    })
    onTestEnd(stop)
    const shown = async (domain: string) => {
      const query = { domain, organisationalDomain: domain, asked: QUESTIONS.records, isDecisive: true, callerId: null }
      const { suites } = await networkProbe(query)
      return suites.known && suites.value.suiteA
    }
    expect(await shown("weak.com")).toEqual(["mx:aspmx.l.google.com", "dkim:google._domainkey.weak.com"])
    expect(await shown("strong.com")).toEqual(["mx:aspmx.l.google.com"])
    expect(await shown("unlisted.com")).toEqual(["mx:aspmx.l.google.com"])
  }
})

test("cached mail is read by new lists at once, not by those of its lookup", async () => {
  const { address, port } = await serving({
    "MX acme.com": ["10 mx.known-name.com"],
    "A mx.known-name.com": ["45.1.2.3"],
  })
  const read = parseSettings({
    MAILKIND_DNS_SERVERS: `${address}:${port}`,
    MAILKIND_DNS_CANARIES: "off",
    MAILKIND_IDENTITY_URL: "off",
  })
  if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
  const hostListed = { "known-name.com": matchInSet("disposable") }
  let version = 0
  let active: Readonly<Record<string, ListMatch>> = hostListed
  const { networkProbe, stop } = createNetworkService(createContext(createSystem(), read.settings), {
    learnedHosts: null,
    matchLists: (_, registrable) => active[registrable] ?? NO_LIST_MATCH,
    listsVersion: () => String(version),
  })
  onTestEnd(stop)
  const operator = async () => {
    const query = {
      domain: "acme.com",
      organisationalDomain: "acme.com",
      asked: QUESTIONS.records,
      isDecisive: true,
      callerId: null,
    }
    const { mail, isCached } = await networkProbe(query)
    return [mail.known && mail.value.operatedBy, isCached]
  }
  expect(await operator()).toEqual(["learned_disposable", false])
  expect(await operator()).toEqual(["learned_disposable", true])
  const lists = [{ ...hostListed, "acme.com": matchInSet("personal") }, {}, hostListed]
  for (const [at, operatedBy] of ([null, null, "learned_disposable"] as const).entries()) {
    version++
    active = lists[at] ?? {}
    expect(await operator()).toEqual([operatedBy, false])
    expect(await operator()).toEqual([operatedBy, true])
  }
})

test("an outage of DNS is told with each server, and a refusal is told from silence and from a failure", async () => {
  const [failing, refusing, denying, dead] = await Promise.all([serving({}), serving({}), serving({}), serving({})])
  failing.fault("*", "servfail")
  refusing.fault("*", "refused")
  await dead.pause()
  const silent = { address: "127.0.0.1", port: await silentPort() }
  const placeOf = ({ address, port }: { readonly address: string; readonly port: number }) => `${address}:${port}`
  const toldOf = async (...servers: readonly { readonly address: string; readonly port: number }[]) => {
    const read = parseSettings({
      MAILKIND_DNS_SERVERS: servers.map(placeOf).join(),
      MAILKIND_DNS_CANARIES: "known.example",
      MAILKIND_DNS_TIMEOUT_MS: "200",
      MAILKIND_IDENTITY_URL: "off",
    })
    if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
    const lines: LogFields[] = []
    const told = Promise.withResolvers()
    const log: Log = (_level, _message, fields = {}) => void told.resolve(lines.push(fields))
    const context = { system: createSystem(), settings: read.settings, log }
    const outages = createDnsOutageLog(context, () => dnsServerPlaces(context))
    const learning = { learnedHosts: null, matchLists: () => NO_LIST_MATCH }
    const { stop } = createNetworkService(context, learning, { outages })
    await told.promise
    stop()
    const [{ fault, where, why } = {}] = lines
    expect(where).toBe(servers.map(placeOf).join(", "))
    return [fault, why]
  }
  expect(await toldOf(failing)).toEqual(["dns_failing", `${placeOf(failing)} answers SERVFAIL`])
  expect(await toldOf(refusing)).toEqual(["dns_refused", `${placeOf(refusing)} answers REFUSED`])
  const nobody = `${placeOf(dead)} refuses: nothing listens at its port (ECONNREFUSED)`
  expect(await toldOf(dead)).toEqual(["dns_refused", nobody])
  expect(await toldOf(denying)).toEqual(["dns_denying", `${placeOf(denying)} denies names that exist (NXDOMAIN)`])
  const silence = `${placeOf(silent)} does not answer in time (ETIMEOUT)`
  expect(await toldOf(silent)).toEqual(["dns_silent", silence])
  expect(await toldOf(dead, silent)).toEqual(["dns_silent", `${nobody}; ${silence}`])
})

/** A port that takes packets and answers none. */
async function silentPort(): Promise<number> {
  const socket = await Bun.udpSocket({ hostname: "127.0.0.1" })
  onTestEnd(() => socket.close())
  return socket.port
}

test("a system that names no DNS server is told of at the start, and one whose operator turned DNS off is not", () => {
  const toldWith = (environment: Readonly<Record<string, string>>) => {
    const read = parseSettings(environment)
    if (read.kind === "faulty") throw new Error(read.faults.join("\n"))
    const lines: unknown[] = []
    const system = { ...createSystem(), systemDnsServers: () => [] }
    const log: Log = (_level, message, { fault, where } = {}) => void lines.push([message, fault, where])
    const context = { system, settings: read.settings, log }
    const outages = createDnsOutageLog(context, () => [])
    const network = createNetworkService(context, { learnedHosts: null, matchLists: () => NO_LIST_MATCH }, { outages })
    return { lines, samples: network.samples() }
  }
  expect(toldWith({})).toEqual({
    lines: [["DNS does not answer", "dns_unnamed", "/etc/resolv.conf"]],
    samples: [["mailkind_dns_up", 0]],
  })
  expect(toldWith({ MAILKIND_DNS_SERVERS: "off" })).toEqual({ lines: [], samples: [["mailkind_dns_up", 1]] })
})
