import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { createDoctor } from "../../src/assemble/doctor.ts"
import { readSettings } from "../../src/config/setting-sources.ts"
import { DIAGNOSTIC_NAMES, type DiagnosticName, type DiagnosticRow } from "../../src/doctor/diagnostics.ts"
import { backupName } from "../../src/process/backup-scheduler.ts"
import { createSystem } from "../../src/system/system.ts"
import { ROOT } from "../architecture/source-files.ts"
import { newAccount, tempLog, tempPath, tempStore } from "../customers/temp-store.ts"
import { dnsServer } from "../support/dns-server.ts"
import { freePort } from "../support/free-port.ts"
import { askLoopback } from "../support/loopback.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { deadServer, testSmtp } from "../support/smtp-server.ts"

setDefaultTimeout(300_000)

/** Where everybody is whom nobody may ask in a test: an address that no answer comes from at once. */
const NOBODY = "http://127.0.0.1:9"
const QUIET = { MAILKIND_DNS_SERVERS: "off", MAILKIND_IDENTITY_URL: "off", MAILKIND_LISTS_REFRESH_HOURS: "off" }

/** The doctor over the real world with an environment of its own, whose web is loopback alone. */
function doctor(environment: Readonly<Record<string, string>>, isRunning = false) {
  const system = createSystem()
  const main = join(ROOT, "src/main.ts")
  const ran: string[] = []
  const run = async (words: readonly string[]) => {
    ran.push(words.join(" "))
    const child = Bun.spawn([process.execPath, main, ...words], {
      env: { ...environment },
      stdout: "pipe",
      stderr: "ignore",
    })
    return { exitCode: await child.exited, stdout: await new Response(child.stdout).text(), stderr: "" }
  }
  const requests: string[] = []
  const fetchUrl = async (url: string) => {
    requests.push(url)
    const { status, headers, body } = await askLoopback(url)
    return new Response(body, { status, headers: { date: String(headers["date"] ?? "") } })
  }
  const read = () => readSettings({ environment, flags: new Map(), readFile: system.files.readSmall })
  const look = createDoctor({ ...system, fetchUrl, environment, processes: { ...system.processes, run } }, read)
  const rows = async (...names: DiagnosticName[]) => {
    const found = await look(names.length === 0 ? DIAGNOSTIC_NAMES : names, isRunning)
    return Object.fromEntries(found.map(row => [row.name, row])) as Record<DiagnosticName, DiagnosticRow>
  }
  return { rows, requests, ran }
}

test.if(process.platform === "linux")(
  "with --running the limit of descriptors is that of the server, and not that of the shell",
  async () => {
    const holdPort =
      'const { port } = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") }); console.log(port)'
    const child = Bun.spawn(["sh", "-c", 'ulimit -n 64; exec "$0" -e "$1"', process.execPath, holdPort], {
      stdout: "pipe",
    })
    onTestEnd(() => child.kill())
    const { value } = await child.stdout.getReader().read()
    const MAILKIND_PORT = new TextDecoder().decode(value).trim()
    const look = async (isRunning: boolean, port = MAILKIND_PORT) =>
      (await doctor({ MAILKIND_PORT: port }, isRunning).rows("descriptors")).descriptors
    expect(await look(true)).toMatchObject({
      verdict: "warning",
      seen: expect.stringMatching(new RegExp(`^The process ${child.pid} .* may open 64 files and sockets`)),
    })
    expect((await look(false)).seen).toStartWith("A process that is started as this one")
    expect((await look(true, String(await freePort()))).seen).toContain("cannot see the limit")
  },
)

const inDirectory = (): string => {
  const path = tempPath("data")
  mkdirSync(path, { mode: 0o700 })
  return path
}

const web = (answer: (path: string) => Response): string => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: request => answer(new URL(request.url).pathname) })
  onTestEnd(() => server.stop(true))
  return server.url.origin
}

const KEYS = await (async () => {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"])
  const der = Buffer.from(await crypto.subtle.exportKey("spki", pair.publicKey)).toString("base64")
  const key = `-----BEGIN PUBLIC KEY-----\n${der}\n-----END PUBLIC KEY-----\n`
  return JSON.stringify({ public_keys: [{ key_identifier: "a", key, is_current: true }] })
})()

test("where all is well, every row says so, and nothing is left behind", async () => {
  const data = inDirectory()
  const store = await tempStore(join(data, "mailkind.sqlite"))
  await newAccount(tempLog(store))
  using dns = await dnsServer({ "A canary.com": ["192.0.2.10"] })
  const smtp = await testSmtp({ logIn: () => true })
  const origin = web(path => {
    if (path === "/rdap") return new Response('{"version":"1.0","services":[[["com"],["https://rdap.example/"]]]}')
    if (path === "/keys") return new Response(KEYS)
    return new Response("{}", { status: 400 })
  })
  const before = readdirSync(data)
  const backups = inDirectory()
  writeFileSync(join(backups, backupName(Date.now() - 60_000)), "")
  const { rows, ran } = doctor({
    MAILKIND_DATA_DIR: data,
    MAILKIND_PORT: "0",
    MAILKIND_LISTS_REFRESH_HOURS: "off",
    MAILKIND_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILKIND_DNS_CANARIES: "canary.com",
    // A busy machine may keep this process from reading an answer for a second.
    MAILKIND_DNS_TIMEOUT_MS: "10000",
    MAILKIND_IDENTITY_URL: origin,
    MAILKIND_RDAP_BOOTSTRAP_URL: `${origin}/rdap`,
    MAILKIND_SECRET_SCANNING_KEYS_URL: `${origin}/keys`,
    MAILKIND_SMTP_URL: smtp.url.replace("//", "//jane:s3cret@"),
    MAILKIND_BACKUP_DIR: backups,
  })
  const found = await rows()
  expect(Object.values(found).filter(({ verdict }) => verdict !== "ok")).toEqual([])
  expect(Object.keys(found)).toEqual([...DIAGNOSTIC_NAMES])
  // What would keep this process for seconds is looked at by another one.
  expect(ran).toEqual(["doctor --only database --json"])
  expect(found.clock.seen).toContain("the servers that were asked")
  expect(JSON.stringify(found)).not.toContain("s3cret")
  // On a busy machine a question may be sent again.
  expect([smtp.taken, new Set(dns.sendRequest()), readdirSync(data)]).toEqual([[], new Set(["A canary.com"]), before])
})

test("where all is broken, every row says so with a remedy, and none holds a secret", async () => {
  const data = inDirectory()
  writeFileSync(join(data, "mailkind.sqlite"), "broken ".repeat(1000))
  writeFileSync(join(data, "jobs"), "no folder")
  mkdirSync(join(data, "lists", "refresh"), { recursive: true })
  writeFileSync(join(data, "lists", "refresh", "state.json"), "{}")
  const taken = createServer(socket => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"))
  const { promise, resolve } = Promise.withResolvers<void>()
  taken.listen(0, "127.0.0.1", resolve)
  await promise
  onTestEnd(() => taken.close())
  const address = taken.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  using dns = await dnsServer({})
  const dead = deadServer()
  const { rows } = doctor({
    MAILKIND_DATA_DIR: data,
    MAILKIND_PORT: String(port),
    MAILKIND_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILKIND_DNS_CANARIES: "canary.com",
    // A busy machine may keep this process from reading an answer for a second.
    MAILKIND_DNS_TIMEOUT_MS: "10000",
    MAILKIND_IDENTITY_URL: NOBODY,
    MAILKIND_RDAP_BOOTSTRAP_URL: `${NOBODY}/rdap`,
    MAILKIND_SECRET_SCANNING_KEYS_URL: web(() => new Response("{}")),
    MAILKIND_SMTP_URL: dead.replace("//", "//jane:s3cret@"),
  })
  const found = await rows()
  const failed = Object.values(found).filter(({ verdict }) => verdict === "failed")
  expect(failed.map(({ name }) => name)).toEqual([
    ...(["database", "jobs", "dns", "smtp", "identity", "rdap", "leak_keys", "lists", "port", "outbox"] as const),
  ])
  expect(failed.filter(({ remedy }) => remedy === null)).toEqual([])
  expect(found.port.seen).toContain("Another program")
  expect(found.dns.seen).toContain("denies names that exist (NXDOMAIN)")
  expect(JSON.stringify(found)).not.toContain("s3cret")
})

describe("the port", () => {
  test("on which our server answers is well, and one that is free too", async () => {
    const health = { version: "1.2.3", status: "ok", uptime_seconds: 1 }
    const port = new URL(web(() => Response.json(health))).port
    const data = inDirectory()
    const settings = { ...QUIET, MAILKIND_PORT: port, MAILKIND_DATA_DIR: data }
    const look = async (isRunning: boolean) => (await doctor(settings, isRunning).rows("port")).port
    const another = `mailkind 1.2.3 answers on 127.0.0.1 port ${port}, and no server with the data directory ${data} does.`
    expect(await look(false)).toMatchObject({ verdict: "failed", seen: another })
    expect((await look(true))?.verdict).toBe("ok")
    const stop = createSystem().controlSockets.listen(join(data, `server-${port}.sock`), () => undefined)
    onTestEnd(() => stop?.())
    expect(await look(false)).toMatchObject({
      verdict: "ok",
      seen: `mailkind 1.2.3 answers on 127.0.0.1 port ${port}.`,
    })
    const free = String(freePort())
    expect((await doctor({ ...QUIET, MAILKIND_PORT: free }).rows("port")).port).toMatchObject({
      verdict: "ok",
      seen: expect.stringContaining("is free"),
    })
  })

  test("that is free has failed where a server is to be running", async () => {
    const free = String(freePort())
    const { rows } = doctor({ ...QUIET, MAILKIND_PORT: free }, true)
    expect((await rows("port")).port).toMatchObject({
      verdict: "failed",
      seen: expect.stringContaining("No server answers"),
    })
  })

  test("of an address that is not this host's cannot be had", async () => {
    const { rows } = doctor({ ...QUIET, MAILKIND_HOST: "localhost.invalid.example", MAILKIND_PORT: "8080" })
    expect((await rows("port")).port).toMatchObject({
      verdict: "failed",
      seen: expect.stringContaining("or the name is not known"),
      remedy: "Set MAILKIND_HOST and MAILKIND_PORT.",
    })
  })
})

test("with DNS off and nobody named, what is off is skipped, and nobody is asked but who is not off", async () => {
  const { rows, requests } = doctor({ ...QUIET, MAILKIND_PORT: "0", MAILKIND_DATA_DIR: inDirectory() })
  const found = await rows("dns", "smtp", "identity")
  expect(Object.values(found).map(({ verdict }) => verdict)).toEqual(["skipped", "skipped", "skipped"])
  expect(requests).toEqual([])
})

test("faulty settings are told with every fault, and all else is skipped", async () => {
  const found = await doctor({ MAILKIND_PORT: "x", MAILKIND_PROT: "1" }).rows()
  expect(found.settings).toMatchObject({
    verdict: "failed",
    seen: expect.stringMatching(/MAILKIND_PROT.*MAILKIND_PORT/),
  })
  expect(Object.values(found).filter(({ verdict }) => verdict === "skipped")).toHaveLength(DIAGNOSTIC_NAMES.length - 1)
})

test("one DNS server of two that is silent is a warning", async () => {
  using alive = await dnsServer({ "A canary.com": ["192.0.2.10"] })
  using silent = await dnsServer({ "A canary.com": ["192.0.2.10"] })
  silent.fault("*", "silent")
  const { rows } = doctor({
    MAILKIND_DNS_SERVERS: `${alive.address}:${alive.port},${silent.address}:${silent.port}`,
    MAILKIND_DNS_CANARIES: "other.com,canary.com",
    MAILKIND_DNS_TIMEOUT_MS: "500",
  })
  expect((await rows("dns")).dns).toMatchObject({
    verdict: "warning",
    seen: expect.stringMatching(/knows the canaries \(\d+ ms\);.*does not answer in time \(ETIMEOUT\)\./),
  })
})

test("a DNS server that refuses or fails is told in the words of the log, with what to do", async () => {
  const told = async (fails: "refused" | "servfail" | null) => {
    using server = await dnsServer({})
    if (fails !== null) server.fault("*", fails)
    const address = fails === null ? `127.0.0.1:${freePort()}` : `${server.address}:${server.port}`
    const { rows } = doctor({ MAILKIND_DNS_SERVERS: address, MAILKIND_DNS_CANARIES: "canary.com" })
    const { verdict, seen, remedy } = (await rows("dns")).dns
    return { verdict, seen: seen.replace(address, "It"), remedy: remedy?.split(";")[0] }
  }
  const refused = "Start the resolver at that address and port, and allow this host in its access list"
  const failing = "They run and cannot resolve: look at their logs and at what they forward to"
  expect([await told("refused"), await told("servfail"), await told(null)]).toEqual([
    { verdict: "failed", seen: "It answers REFUSED.", remedy: refused },
    { verdict: "failed", seen: "It answers SERVFAIL.", remedy: failing },
    { verdict: "failed", seen: "It refuses: nothing listens at its port (ECONNREFUSED).", remedy: refused },
  ])
})

test("in a closed network that says so, nothing outside is asked, and that is no warning", async () => {
  const { rows, requests } = doctor({
    MAILKIND_DATA_DIR: inDirectory(),
    MAILKIND_PORT: "0",
    MAILKIND_DNS_SERVERS: "off",
    MAILKIND_OUTSIDE: "off",
  })
  const found = await rows("identity", "rdap", "leak_keys", "lists", "clock")
  for (const name of ["identity", "rdap", "leak_keys"] as const)
    expect(found[name]).toMatchObject({ verdict: "skipped", seen: "MAILKIND_OUTSIDE is off." })
  expect(found.lists.seen).toContain("They are not refreshed.")
  expect(requests).toEqual([])
})
