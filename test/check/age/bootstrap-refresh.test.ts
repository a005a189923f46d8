import { expect, test } from "bun:test"
import type { CacheValidators } from "../../../src/base/fetch.ts"
import { type BootstrapFiles, createRefreshingBootstrap } from "../../../src/check/age/bootstrap-refresh.ts"
import { bundledBootstrap } from "../../../src/check/age/rdap-bootstrap.ts"
import type { DownloadResult } from "../../../src/check/fetch/download.ts"
import { createFakeTime, settled } from "../../support/time.ts"

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const LOOK_MS = 600_000
const URL_OF_IANA = "https://data.test.net/rdap/dns.json"
const OWN_URL = "http://127.0.0.1:8080/dns.json"
const VALIDATORS: CacheValidators = { etag: '"1"', lastModified: null }

/** A bootstrap with `server` for these names. */
const bootstrap = (names: Iterable<string>, server = "https://new.test.net/", publication = "2026-06-01T00:00:00Z") =>
  JSON.stringify({ version: "1.0", publication, services: [[[...names], [server]]] })

const ALL = [...bundledBootstrap().names]
const taken = (text: string, validators = VALIDATORS): DownloadResult => ({
  kind: "taken",
  text,
  validators,
})
const UNCHANGED: DownloadResult = { kind: "unchanged" }
const FAILED: DownloadResult = { kind: "failed", message: "Nobody answered." }

/** A folder in memory. */
function memoryFolder() {
  const files = new Map<string, string>()
  const folder: BootstrapFiles = {
    read: async name => {
      const text = files.get(name)
      return text === undefined ? null : new TextEncoder().encode(text)
    },
    writeAtomic: async (name, text) => void files.set(name, text),
  }
  return { files, folder }
}

type Wanted = {
  readonly isOwn?: boolean
  readonly folder?: BootstrapFiles | null
  readonly url?: string
  readonly startMs?: number
}

/** A refreshed bootstrap, whose downloads the test gives in their order; the last one is given again. */
function refreshing(
  downloads: DownloadResult[],
  { isOwn: isOperatorUrl = false, folder = null, url, startMs }: Wanted = {},
) {
  const time = createFakeTime(startMs)
  const queries: (CacheValidators | null)[] = []
  const complaints: string[] = []
  const runInterval = (everyMs: number, work: () => void): (() => void) => {
    const again = (): (() => void) =>
      time.later(everyMs, () => {
        work()
        cancel = again()
      })
    let cancel = again()
    return () => cancel()
  }
  const refreshed = createRefreshingBootstrap({
    url: url ?? (isOperatorUrl ? OWN_URL : URL_OF_IANA),
    isOperatorUrl,
    download: async known => {
      queries.push(known)
      return (downloads.length > 1 ? downloads.shift() : downloads[0]) ?? FAILED
    },
    folder,
    clock: time.clock,
    runInterval,
    onWarning: description => complaints.push(description),
  })
  const serviceOf = (domain: string) => refreshed.current()?.serverOf(domain)
  return { ...refreshed, time, queries, complaints, serviceOf, downloads }
}

test("the bundled bootstrap is used until a newer one is there, and nothing is downloaded at the start", async () => {
  const { serviceOf, ready, start, queries, time } = refreshing([taken(bootstrap(ALL))])
  expect(serviceOf("acme.com")).toBe("https://rdap.verisign.com/com/v1/")
  expect((await ready())?.serverOf("acme.com")).toBe("https://rdap.verisign.com/com/v1/")
  start()
  await time.tick(LOOK_MS - 1)
  expect(queries).toEqual([])
  await time.tick(1)
  expect(queries).toEqual([null])
  expect(serviceOf("acme.com")).toBe("https://new.test.net/")
})

test("it is downloaded once a day, with the validators of the stored one, and stays if it has not changed", async () => {
  const { serviceOf, start, queries, time } = refreshing([taken(bootstrap(ALL)), UNCHANGED])
  start()
  await time.tick(LOOK_MS)
  await time.tick(DAY_MS - 1)
  expect(queries).toEqual([null])
  await time.tick(1)
  expect(queries).toEqual([null, VALIDATORS])
  await time.tick(DAY_MS)
  expect(queries).toHaveLength(3)
  expect(serviceOf("acme.com")).toBe("https://new.test.net/")
})

test("after a failed download the last valid one is used, and the download is repeated after an hour", async () => {
  const { serviceOf, start, queries, complaints, time } = refreshing([taken(bootstrap(ALL)), FAILED])
  start()
  await time.tick(LOOK_MS)
  await time.tick(DAY_MS)
  expect(queries).toHaveLength(2)
  expect(complaints).toEqual(["The RDAP bootstrap was not downloaded. Nobody answered."])
  await time.tick(HOUR_MS - 1)
  expect(queries).toHaveLength(2)
  await time.tick(1)
  expect(queries).toHaveLength(3)
  expect(serviceOf("acme.com")).toBe("https://new.test.net/")
})

test("a malformed bootstrap is rejected, and so is one that has lost a fifth of its names", async () => {
  const fifth = Math.ceil(ALL.length / 5)
  const renamed = [...ALL.slice(fifth), ...Array.from({ length: fifth }, (_, n) => `other${n}`)]
  for (const [text, description] of [
    ["<html>", "It is not JSON."],
    [bootstrap(ALL).slice(0, -2), "It is not JSON."],
    [bootstrap([]), `It has lost ${ALL.length} of ${ALL.length} names.`],
    [bootstrap(ALL.slice(fifth)), `It has lost ${fifth} of ${ALL.length} names.`],
    [bootstrap(renamed), `It has lost ${fifth} of ${ALL.length} names.`],
    [bootstrap(ALL, "http://plain.test.net/"), `It has lost ${ALL.length} of ${ALL.length} names.`],
  ] as const) {
    const { serviceOf, start, complaints, time } = refreshing([taken(text)])
    start()
    await time.tick(LOOK_MS)
    expect(complaints).toEqual([`The RDAP bootstrap is refused. ${description}`])
    expect(serviceOf("acme.com")).toBe("https://rdap.verisign.com/com/v1/")
  }
  const { serviceOf, start, complaints, time } = refreshing([taken(bootstrap([...ALL.slice(fifth - 1), "other"]))])
  start()
  await time.tick(LOOK_MS)
  expect([complaints, serviceOf("acme.other")]).toEqual([[], "https://new.test.net/"])
})

test("a rejected bootstrap leaves no validators: the next download is unconditional", async () => {
  const { start, queries, time } = refreshing([taken("<html>"), taken(bootstrap(ALL)), UNCHANGED])
  start()
  await time.tick(LOOK_MS)
  await time.tick(HOUR_MS)
  await time.tick(DAY_MS)
  expect(queries).toEqual([null, null, VALIDATORS])
})

test("a bootstrap that is unchanged without a stored one is downloaded again", async () => {
  const { start, queries, time } = refreshing([UNCHANGED])
  start()
  await time.tick(LOOK_MS + HOUR_MS)
  expect(queries).toEqual([null, null])
})

test("with a URL of the operator it is downloaded at once, and there is no bootstrap until then", async () => {
  const own = bootstrap(["com"], "http://127.0.0.1:9/")
  const { current, ready, start, serviceOf, queries } = refreshing([taken(own)], { isOwn: true })
  expect(current()).toBeNull()
  start()
  const [one, other] = await Promise.all([ready(), ready()])
  expect([one, other]).toEqual([current(), current()])
  expect(queries).toHaveLength(1)
  expect(serviceOf("acme.com")).toBe("http://127.0.0.1:9/")
  expect(serviceOf("acme.org")).toBeNull()
})

test("with a URL of the operator a failed download is repeated by waiting lookups, after ten seconds", async () => {
  const own = taken(bootstrap(["com"], "http://127.0.0.1:9/"))
  const { ready, queries, time, downloads } = refreshing([FAILED], { isOwn: true })
  expect(await ready()).toBeNull()
  downloads[0] = own
  await time.tick(9999)
  expect(await ready()).toBeNull()
  expect(queries).toHaveLength(1)
  await time.tick(1)
  expect((await ready())?.serverOf("acme.com")).toBe("http://127.0.0.1:9/")
})

test("a download is stored for the next start and for other processes, which then do not download", async () => {
  const { files, folder } = memoryFolder()
  const first = refreshing([taken(bootstrap(ALL))], { folder })
  first.start()
  await first.time.tick(LOOK_MS)
  expect([...files.keys()]).toEqual(["rdap-bootstrap.json"])
  const second = refreshing([UNCHANGED], { folder })
  await second.time.tick(LOOK_MS)
  second.start()
  await settled()
  expect(second.serviceOf("acme.com")).toBe("https://new.test.net/")
  await second.time.tick(DAY_MS - LOOK_MS)
  expect(second.queries).toEqual([])
  await second.time.tick(LOOK_MS)
  expect(second.queries).toEqual([VALIDATORS])
  await first.time.tick(DAY_MS)
  expect(first.queries).toHaveLength(1)
})

test("a stored bootstrap is not used if it is of another URL, malformed, truncated, or rejected", async () => {
  const kept = { url: URL_OF_IANA, checked_at_ms: 1, etag: null, last_modified: null, text: bootstrap(ALL) }
  for (const text of [
    JSON.stringify({ ...kept, url: OWN_URL }),
    JSON.stringify({ ...kept, text: 7 }),
    JSON.stringify({ ...kept, checked_at_ms: "1" }),
    JSON.stringify({ ...kept, text: bootstrap(["com"]) }),
    JSON.stringify(kept).slice(0, -1),
    "null",
    "",
  ]) {
    const { files, folder } = memoryFolder()
    files.set("rdap-bootstrap.json", text)
    const { start, serviceOf } = refreshing([FAILED], { folder })
    start()
    await settled()
    expect([text.slice(0, 40), serviceOf("acme.com")]).toEqual([text.slice(0, 40), "https://rdap.verisign.com/com/v1/"])
  }
})

test("a stored bootstrap older than the bundled one is not used, but its validators are", async () => {
  const { files, folder } = memoryFolder()
  const text = bootstrap(ALL, "https://old.test.net/", "2024-01-01T00:00:00Z")
  const kept = { url: URL_OF_IANA, checked_at_ms: 1, etag: '"0"', last_modified: null, text }
  files.set("rdap-bootstrap.json", JSON.stringify(kept))
  const { start, serviceOf, queries, time } = refreshing([taken(bootstrap(ALL))], { folder })
  start()
  await settled()
  expect(serviceOf("acme.com")).toBe("https://rdap.verisign.com/com/v1/")
  await time.tick(LOOK_MS)
  expect(queries).toEqual([{ etag: '"0"', lastModified: null }])
  expect(serviceOf("acme.com")).toBe("https://new.test.net/")
})

test("a folder that fails is reported, and the download is used from memory", async () => {
  const fault = Object.assign(new Error("no space"), { code: "ENOSPC" })
  const folder: BootstrapFiles = { read: () => Promise.reject(fault), writeAtomic: () => Promise.reject(fault) }
  const { start, serviceOf, complaints, time } = refreshing([taken(bootstrap(ALL))], { folder })
  start()
  await time.tick(LOOK_MS)
  expect(serviceOf("acme.com")).toBe("https://new.test.net/")
  expect(new Set(complaints)).toEqual(
    new Set(["rdap-bootstrap.json cannot be read: ENOSPC.", "rdap-bootstrap.json cannot be written: ENOSPC."]),
  )
})

test("after stop nothing is downloaded", async () => {
  const { start, queries, time } = refreshing([taken(bootstrap(ALL))])
  start()()
  await time.tick(10 * DAY_MS)
  expect(queries).toEqual([])
})
