import { expect, test } from "bun:test"
import { createNetworkService } from "../../../src/assemble/check/network.ts"
import { createContext } from "../../../src/assemble/context.ts"
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
