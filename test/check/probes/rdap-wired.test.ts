import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { known, unknown } from "../../../src/base/finding.ts"
import { RDAP_BOUNDS, rdapProbe } from "../../../src/check/probes/rdap.ts"
import { rdapLookUp } from "../../../src/check/probes/rdap-look-up.ts"
import { refreshedBootstrap } from "../../../src/check/probes/rdap-refresh.ts"
import { DOWNLOAD_BOUNDS, download } from "../../../src/check/refresh/download.ts"
import { domainFacts } from "../../../src/customers/domain-facts/domain-facts.ts"
import { realFolder } from "../../../src/world-folder.ts"
import { tempStore } from "../../customers/temp-store.ts"
import { afterwards } from "../../world/afterwards.ts"
import { stoppedTime } from "../../world/time.ts"
import { loopbackWeb, webServer } from "../refresh/loopback-web.ts"

const AGENT = "mailkind/1.0"
const REGISTERED_AT_MS = Date.UTC(2025, 11, 15)

/** A registry and the bootstrap that names it, and every path that the registry was asked for. */
function registryServers() {
  const asked: string[] = []
  const registry = webServer(({ url }) => {
    const { pathname } = new URL(url)
    asked.push(pathname)
    const ldhName = pathname.replace("/rdap/domain/", "")
    const eventDate = "2025-12-15T02:00:00+02:00"
    return ldhName.startsWith("busy")
      ? new Response(null, { status: 429, headers: { "retry-after": "60" } })
      : Response.json({ ldhName, events: [{ eventAction: "registration", eventDate }] })
  })
  const bootstrap = webServer(() =>
    Response.json({ version: "1.0", services: [[["com"], [`${registry.url}rdap/`]]] }, { headers: { etag: '"1"' } }),
  )
  return { url: `${bootstrap.url}dns.json`, asked }
}

test("wired as the server wires them, a bootstrap on loopback leads to the age, which outlives the process", async () => {
  const { url, asked } = registryServers()
  const folder = mkdtempSync(join(tmpdir(), "mailkind-rdap-"))
  afterwards(() => rmSync(folder, { recursive: true, force: true }))
  const store = await tempStore()
  const { clock, later, tick } = stoppedTime()
  const { web } = loopbackWeb()
  const complaints: unknown[] = []
  const complain = (says: unknown): void => void complaints.push(says)
  const probing = () => {
    const facts = domainFacts(store, clock)
    const bootstrap = refreshedBootstrap({
      url,
      isOwn: true,
      download: known => download({ web, later, agent: AGENT }, url, known, DOWNLOAD_BOUNDS),
      folder: realFolder(folder),
      clock,
      every: () => () => undefined,
      complain,
    })
    const lookUp = rdapLookUp({ web, elsewhere: web, clock, later, agent: AGENT, isOwn: true }, RDAP_BOUNDS.line)
    return { ...rdapProbe({ lookUp, bootstrap, shelf: facts.ages, clock, failed: complain }, RDAP_BOUNDS), facts }
  }
  const first = probing()
  const found = { registration: known({ registeredAtMs: REGISTERED_AT_MS }), isCached: false }
  expect(await first.ask("acme.com")).toMatchObject(found)
  expect(first.heldAge("acme.com")).toBe(17)
  expect(await first.ask("acme.de")).toMatchObject({ registration: known(null) })
  expect(await first.ask("busy.com")).toMatchObject({ registration: unknown("unavailable") })
  expect(await first.ask("other.com")).toMatchObject({ registration: unknown("unavailable") })
  await first.facts.flush()
  await tick(60_000)
  const second = probing()
  expect(second.heldAge("acme.com")).toBeNull()
  expect(await second.ask("acme.com")).toMatchObject({ ...found, isCached: true })
  expect(second.heldAge("acme.com")).toBe(17)
  expect(await second.ask("other.com")).toMatchObject(found)
  expect(asked).toEqual(["/rdap/domain/acme.com", "/rdap/domain/busy.com", "/rdap/domain/other.com"])
  expect(complaints).toEqual([])
})
