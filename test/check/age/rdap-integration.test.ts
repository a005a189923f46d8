import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { known, unknown } from "../../../src/base/finding.ts"
import { AGE_PROBE_BOUNDS, createAgeProbe } from "../../../src/check/age/age-probe.ts"
import { createRefreshingBootstrap } from "../../../src/check/age/bootstrap-refresh.ts"
import { createRdapLookup } from "../../../src/check/age/rdap-lookup.ts"
import { DOWNLOAD_BOUNDS, download } from "../../../src/check/fetch/download.ts"
import { createDomainFacts } from "../../../src/customers/evidence/domain-facts.ts"
import { createFolder } from "../../../src/system/files.ts"
import { tempStore } from "../../customers/temp-store.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { createFakeTime } from "../../support/time.ts"
import { loopbackFetch, webServer } from "../fetch/loopback-web.ts"

const AGENT = "mailkind/1.0"
const REGISTERED_AT_MS = Date.UTC(2025, 11, 15)

/** A registry with its bootstrap, and the path of every request. */
function registryServers() {
  const queries: string[] = []
  const registry = webServer(({ url }) => {
    const { pathname } = new URL(url)
    queries.push(pathname)
    const ldhName = pathname.replace("/rdap/domain/", "")
    const eventDate = "2025-12-15T02:00:00+02:00"
    return ldhName.startsWith("busy")
      ? new Response(null, { status: 429, headers: { "retry-after": "60" } })
      : Response.json({ ldhName, events: [{ eventAction: "registration", eventDate }] })
  })
  const bootstrap = webServer(() =>
    Response.json({ version: "1.0", services: [[["com"], [`${registry.url}rdap/`]]] }, { headers: { etag: '"1"' } }),
  )
  return { url: `${bootstrap.url}dns.json`, queries }
}

test("assembled as in the server, a bootstrap on loopback leads to the age, which outlives the process", async () => {
  const { url, queries } = registryServers()
  const folder = mkdtempSync(join(tmpdir(), "mailkind-rdap-"))
  onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
  const store = await tempStore()
  const { clock, later: setTimer, tick } = createFakeTime()
  const { fetchUrl } = loopbackFetch()
  const complaints: unknown[] = []
  const onWarning = (description: unknown): void => void complaints.push(description)
  const probing = () => {
    const facts = createDomainFacts(store, clock)
    const bootstrap = createRefreshingBootstrap({
      url,
      isOperatorUrl: true,
      download: known => download({ fetchUrl, setTimer, userAgent: AGENT }, url, known, DOWNLOAD_BOUNDS),
      folder: createFolder(folder),
      clock,
      runInterval: () => () => undefined,
      onWarning,
    })
    const lookupRegistration = createRdapLookup(
      { fetchUrl, fetchPublicUrl: fetchUrl, clock, setTimer, userAgent: AGENT, isOperatorUrl: true },
      AGE_PROBE_BOUNDS.server,
    )
    return {
      ...createAgeProbe(
        { lookupRegistration, bootstrap, store: facts.ages, clock, onError: onWarning },
        AGE_PROBE_BOUNDS,
      ),
      facts,
    }
  }
  const first = probing()
  const result = { registration: known({ registeredAtMs: REGISTERED_AT_MS }), isCached: false }
  expect(await first.lookup("acme.com")).toMatchObject(result)
  expect(first.cachedAgeDays("acme.com")).toBe(17)
  expect(await first.lookup("acme.de")).toMatchObject({ registration: known(null) })
  expect(await first.lookup("busy.com")).toMatchObject({ registration: unknown("unavailable") })
  expect(await first.lookup("other.com")).toMatchObject({ registration: unknown("unavailable") })
  await first.facts.flush()
  await tick(60_000)
  const second = probing()
  expect(second.cachedAgeDays("acme.com")).toBeNull()
  expect(await second.lookup("acme.com")).toMatchObject({ ...result, isCached: true })
  expect(second.cachedAgeDays("acme.com")).toBe(17)
  expect(await second.lookup("other.com")).toMatchObject(result)
  expect(queries).toEqual(["/rdap/domain/acme.com", "/rdap/domain/busy.com", "/rdap/domain/other.com"])
  expect(complaints).toEqual([])
})
