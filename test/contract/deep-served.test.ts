import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../bench/servers/product.ts"
import { DAY_MS } from "../../src/base/time.ts"
import { type DnsServer, dnsServer } from "../support/dns-server.ts"
import { askLoopback } from "../support/loopback.ts"
import { startProgram } from "../support/program.ts"

setDefaultTimeout(300_000)

/** How many days ago every domain was registered. */
const AGE_DAYS = 12

/** A registry and its bootstrap on loopback, and the domains that it was asked about. */
function registry() {
  const requests: string[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: request => {
      const { pathname, origin } = new URL(request.url)
      if (pathname === "/dns.json") {
        const services = [[["com"], [`${origin}/rdap/`]]]
        return Response.json({ version: "1.0", publication: "2026-01-01T00:00:00Z", services })
      }
      const domain = pathname.slice("/rdap/domain/".length)
      requests.push(domain)
      const eventDate = new Date(Date.now() - AGE_DAYS * DAY_MS - 60_000).toISOString()
      const facts = { objectClassName: "domain", ldhName: domain, events: [{ eventAction: "registration", eventDate }] }
      return new Response(JSON.stringify(facts), { headers: { "Content-Type": "application/rdap+json" } })
    },
  })
  return { url: server.url.origin, requests, stop: () => server.stop(true) }
}

const directory = mkdtempSync(join(tmpdir(), "mailkind-deep-"))
const rdap = registry()
let dns: DnsServer
let key = ""

/** A server on the data directory, whose deep checks ask the registry and DNS of this test; the first start's key is `key`. */
async function served() {
  const program = startProgram([...PROGRAM, "serve"], directory, {
    HOME: directory,
    PATH: process.env["PATH"] ?? "",
    MAILKIND_DATA_DIR: join(directory, "data"),
    MAILKIND_PORT: "0",
    MAILKIND_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILKIND_DNS_CANARIES: "off",
    MAILKIND_IDENTITY_URL: "off",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
    MAILKIND_RDAP_BOOTSTRAP_URL: `${rdap.url}/dns.json`,
  })
  const printed = await program.printed(key === "" ? /curl [^\n]*\n/ : /listens on \S+/)
  key ||= /svc_live_[0-9A-Za-z]{38}/.exec(printed)?.[0] ?? ""
  const url = /listens on (\S+)/.exec(printed)?.[1] ?? ""
  const deepCheck = async (email: string) => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" }
    const sent = { method: "POST", headers, body: JSON.stringify({ email, deep: true }) }
    return JSON.parse((await askLoopback(`${url}/v1/check`, sent)).body)
  }
  return { deepCheck, stop: program.stop }
}

beforeAll(async () => {
  dns = await dnsServer({
    "MX young-anvil.com": ["10 mx.young-anvil.com"],
    // A name that leads into the operator's own machine: nothing of ours ever connects there.
    "A young-anvil.com": ["127.0.0.1"],
  })
})

afterAll(async () => {
  dns[Symbol.dispose]()
  await rdap.stop()
  rmSync(directory, { recursive: true, force: true })
})

test("a deep check over the wire tells the age from the registry, takes a private address for no website, and another process on the data directory need not ask the registry again", async () => {
  const first = await served()
  const result = await first.deepCheck("jane@young-anvil.com")
  expect(result).toMatchObject({ domain_age_days: AGE_DAYS, is_new_domain: true, recommendation: "review" })
  expect(result.reasons).toEqual(expect.arrayContaining(["new_domain", "no_website"]))
  expect(result.reasons).not.toContain("deep_unavailable")
  expect((await first.stop()).code).toBe(0)
  expect(rdap.requests).toEqual(["young-anvil.com"])
  const second = await served()
  expect(await second.deepCheck("joe@young-anvil.com")).toMatchObject({
    domain_age_days: AGE_DAYS,
    is_new_domain: true,
  })
  expect((await second.stop()).code).toBe(0)
  expect(rdap.requests).toEqual(["young-anvil.com"])
})
