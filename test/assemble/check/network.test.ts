import { expect, test } from "bun:test"
import { createNetworkService } from "../../../src/assemble/check/network.ts"
import { createContext } from "../../../src/assemble/context.ts"
import { LEARNED_BOUNDS, LearnedHosts } from "../../../src/check/learned/learned-hosts.ts"
import { ListMatch } from "../../../src/check/lists/list-match.ts"
import { LOW_TRUST_BIT, SET_BITS } from "../../../src/check/lists/sets.ts"
import { parseSettings } from "../../../src/config/settings.ts"
import { createSystem } from "../../../src/system/system.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { serving } from "../../support/test-check.ts"

/** Nothing learned yet, and the check of the command line, which learns nothing. */
const MEMORIES = [new LearnedHosts(LEARNED_BOUNDS), null]

test("a suite proves itself by its DKIM keys where only sources of low trust call the domain disposable", async () => {
  const names = ["low.com", "high.com", "unlisted.com"]
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
    "low.com": SET_BITS.disposable | LOW_TRUST_BIT,
    "high.com": SET_BITS.disposable,
  }
  for (const learnedHosts of MEMORIES) {
    const { networkProbe, stop } = createNetworkService(createContext(createSystem(), read.settings), {
      learnedHosts,
      matchLists: domain => new ListMatch(masks[domain] ?? 0, domain, 0),
    })
    onTestEnd(stop)
    const shown = async (domain: string) => {
      const query = { domain, organisationalDomain: domain, includeTenant: false, callerId: null }
      const { suites } = await networkProbe(query)
      return suites.known && suites.value.suiteA
    }
    expect(await shown("low.com")).toEqual(["mx:aspmx.l.google.com", "dkim:google._domainkey.low.com"])
    expect(await shown("high.com")).toEqual(["mx:aspmx.l.google.com"])
    expect(await shown("unlisted.com")).toEqual(["mx:aspmx.l.google.com"])
  }
})
