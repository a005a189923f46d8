import { expect, test } from "bun:test"
import { known, unknown } from "../../src/base/finding.ts"
import type { DnsAnswer, Resolver } from "../../src/check/dns/dns-types.ts"
import { diagnoseResolvers } from "../../src/doctor/network.ts"

const ALIVE: DnsAnswer = { outcome: "records", records: [], ttlS: 60 }

/** What is said of servers that know a canary after so long; null: they are silent. */
async function diagnosed(...tookMs: readonly (number | null)[]) {
  let now = 0
  const servers = tookMs.map((ms, at) => {
    const resolver: Resolver = async () => {
      now += ms ?? 1500
      return ms === null ? unknown("timed_out") : known(ALIVE)
    }
    return { name: `s${at}`, resolver, faults: () => [{ fault: ms === null ? "silent" : "none", why: null }] as const }
  })
  const found = []
  for (const server of servers)
    found.push(
      await diagnoseResolvers({ servers: [server], canaries: ["a.example"], attemptMs: 500, stopwatch: () => now }),
    )
  return found.map(({ verdict, seen, remedy }) => [verdict, seen, remedy?.split(":")[0] ?? null])
}

test("each DNS server is told with its time, and one that answers when the question was sent again already is warned of", async () => {
  const slow = "Name a nearer resolver in MAILKIND_DNS_SERVERS"
  expect(await diagnosed(12.5, 499, 500, null)).toEqual([
    ["ok", "s0 knows the canaries (13 ms).", null],
    ["ok", "s1 knows the canaries (499 ms).", null],
    ["warning", "s2 knows the canaries (500 ms).", slow],
    ["failed", expect.stringContaining("s3 does not answer in time"), expect.not.stringContaining(slow)],
  ])
})
