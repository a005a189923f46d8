import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { processTree } from "../../../bench/servers/process-stats.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { startCallers } from "../../support/callers.ts"
import { dnsServer } from "../../support/dns-server.ts"
import { freePort } from "../../support/free-port.ts"
import { identityServer } from "../../support/identity-server.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"
import { testSmtp } from "../../support/smtp-server.ts"
import { alone, build, serving } from "./executable.ts"

setDefaultTimeout(180_000)

let own: ReturnType<typeof alone>
beforeAll(async () => {
  await build()
  own = alone()
})
afterAll(() => own.remove())

const PORT = { MAILKIND_PORT: "0" }
const TENANT = "4f1ba8b9-8a5c-4a0c-9a3e-7d8f2b6c1e55"
const PUBLISHED = {
  "A canary.com": ["192.0.2.10"],
  "MX granite-harbor.com": ["10 mxa-001.pphosted.com"],
  "TXT granite-harbor.com": ["v=spf1 include:_spf.google.com -all"],
  "TXT _dmarc.granite-harbor.com": ["v=DMARC1; p=reject"],
} as const
const JSON_BODY = { "Content-Type": "application/json" }

describe("the executable, alone in an empty directory", () => {
  test("obeys no file of the directory that it is run in", async () => {
    const directory = mkdtempSync(join(tmpdir(), "mailkind-elsewhere-"))
    onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
    const ran = join(directory, "ran")
    const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
    write("preload.ts", `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "")`)
    write("bunfig.toml", 'preload = ["./preload.ts"]\n[run]\npreload = ["./preload.ts"]\n')
    for (const name of [".env", ".env.local", ".env.production", ".env.development"])
      write(name, "MAILKIND_PORT=none\n")
    write("package.json", '{"type":"commonjs","imports":{"#x":"./preload.ts"}}')
    write("tsconfig.json", '{"compilerOptions":{"paths":{"*":["./preload.ts"]}}}')
    write("inputs.txt", "jane@gmail.com\n")
    const command = [join(own.directory, "mailkind"), "classify", "inputs.txt", "--offline"]
    const { code, out } = await startProgram(command, directory, own.environment).ended()
    expect([code, out]).toEqual([0, expect.stringContaining("personal")])
    expect(existsSync(ran)).toBe(false)
  })

  test("tells what it is made of: every licence with its text, and the bill of materials that the build wrote", async () => {
    const { code, out } = await own.run(["licences", "--texts", "--json"])
    const facts: { packages: { name: string; texts: string[] }[]; runtime: { version: string } } = JSON.parse(out)
    expect([code, facts.runtime.version]).toEqual([0, Bun.version])
    expect(facts.packages.map(({ name }) => name)).toContain("elysia")
    expect(facts.packages.filter(({ texts }) => texts.length === 0)).toEqual([])
    const bill = await own.run(["sbom"])
    expect(bill.out).toBe(await Bun.file(join(ROOT, "dist/mailkind.cdx.json")).text())
    expect(readdirSync(own.directory)).toEqual(["mailkind"])
  })

  test("it asks the DNS servers and identity endpoints that are set, and health tells of their death", async () => {
    using dns = await dnsServer(PUBLISHED)
    const identity = identityServer({ "granite-harbor.com": { tenant: TENANT, region: "EU" } })
    const settings = {
      MAILKIND_DNS_SERVERS: `${dns.address}:${dns.port}`,
      MAILKIND_DNS_CANARIES: "canary.com",
      MAILKIND_DNS_TIMEOUT_MS: "1000",
      MAILKIND_IDENTITY_URL: identity.url,
    }
    const { out } = await own.run(["check", "--json", "jane@granite-harbor.com", "jane@granite-gone.com"], settings)
    expect(JSON.parse(out)).toMatchObject([
      {
        category: "business",
        reasons: ["security_gateway", "mx_found", "suite_a_detected", "suite_b_tenant", "dmarc_enforced"],
        mail: { provider: "proofpoint" },
        workspace: { suite_a: { evidence: ["spf:_spf.google.com"] }, suite_b: { tenant_id: TENANT, auth: "managed" } },
        degraded: false,
      },
      { category: "invalid", reasons: ["domain_not_found"] },
    ])
    const child = own.start(["serve"], { ...PORT, ...settings })
    const { url } = await serving(child, /\n/)
    const dnsStatus = async () => JSON.parse((await askLoopback(`${url}/v1/health`)).body).dns.status
    const until = async (wanted: string) => {
      const deadline = Date.now() + 30_000
      while ((await dnsStatus()) !== wanted && Date.now() < deadline) await Bun.sleep(50)
      return await dnsStatus()
    }
    expect(await until("ok")).toBe("ok")
    dns.fault("*", "silent")
    const key = JSON.parse((await own.run(["key", "create", "--account", "owner@localhost", "--json"])).out).key
    const checked = await askLoopback(`${url}/v1/check?domain=granite-dead.com`, { headers: { "X-API-Key": key } })
    expect(JSON.parse(checked.body)).toMatchObject({ category: "unknown", degraded: true })
    expect(await until("unavailable")).toBe("unavailable")
    dns.fault("*", null)
    expect(await until("ok")).toBe("ok")
    expect(await child.stop()).toMatchObject({ code: 0 })
    identity.stop()
  })

  test("pages and their script come from the executable itself", async () => {
    const child = own.start(["serve"], PORT)
    const { url } = await serving(child, /\n/)
    const loaded = new Set<string>()
    for (const page of ["/", "/docs", "/docs/json", "/docs/errors", "/docs/reasons", "/docs/lists", "/sign-in"]) {
      const { status, body } = await askLoopback(`${url}${page}`)
      expect({ page, status }).toEqual({ page, status: 200 })
      for (const [, file = ""] of body.matchAll(/"(\/docs\/assets\/[^"]+)"/g)) loaded.add(file)
    }
    const sizes = await Promise.all([...loaded].map(async file => (await askLoopback(`${url}${file}`)).body.length))
    expect(Math.min(...sizes)).toBeGreaterThan(100)
    await child.stop()
  })

  test("a body of any size gets our own refusal, in the documented order", async () => {
    const child = own.start(["serve"], PORT)
    const { url } = await serving(child, /\n/)
    const key = JSON.parse((await own.run(["key", "create", "--account", "owner@localhost", "--json"])).out).key
    const body = "x".repeat(3_000_000)
    const posted = (headers: Record<string, string>) =>
      askLoopback(`${url}/v1/check`, { method: "POST", headers: { ...JSON_BODY, ...headers }, body })
    expect(JSON.parse((await posted({ "X-API-Key": key })).body)).toMatchObject({ code: "payload_too_large" })
    expect(JSON.parse((await posted({})).body)).toMatchObject({ code: "unauthorized" })
    await child.stop()
  })

  test("a later start prints no key, and a key that a command revokes stops in the running server", async () => {
    const child = own.start(["serve"], PORT)
    const { url, printed } = await serving(child, /\n/)
    expect(printed).not.toContain("svc_live_")
    const made = JSON.parse((await own.run(["key", "create", "--account", "owner@localhost", "--json"])).out)
    const status = async () =>
      (await askLoopback(`${url}/v1/check?domain=stripe.com`, { headers: { "X-API-Key": made.key } })).status
    expect(await status()).toBe(200)
    expect((await own.run(["key", "revoke", made.id])).code).toBe(0)
    const deadline = Date.now() + 60_000
    while ((await status()) === 200 && Date.now() < deadline) await Bun.sleep(100)
    expect(await status()).toBe(401)
    expect(await child.stop("SIGINT")).toMatchObject({ code: 0 })
  })

  test("several workers of the executable share a port, write no lists to the disk, and stop together", async () => {
    const child = own.start(["serve", "--workers", "2"], { ...PORT, MAILKIND_DATA_DIR: "workers-data" })
    const { url, printed } = await serving(child, /curl [^\n]*\n/)
    expect(printed).toContain("with 2 workers")
    const key = /svc_live_[0-9A-Za-z]{38}/.exec(printed)?.[0] ?? ""
    const ask = () => askLoopback(`${url}/v1/check?domain=stripe.com`, { headers: { "X-API-Key": key } })
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(existsSync(join(own.directory, "workers-data", "lists"))).toBe(false)
    const { code, err } = await child.stop()
    expect([code, err.match(/"a worker listens"/g)?.length]).toEqual([0, 2])
  })

  test.if(process.platform === "linux")(
    "it and its workers keep freed memory for ten seconds, in whatever order its words stand, unless their environment says otherwise",
    async () => {
      const delayOf = (pid: number) =>
        /MIMALLOC_PURGE_DELAY=(\d+)/.exec(readFileSync(`/proc/${pid}/environ`, "utf8"))?.[1]
      writeFileSync(join(own.directory, "workers.toml"), 'data_dir = "workers-data"\n')
      for (const [words, settings, delay] of [
        ["serve --workers 2", { MAILKIND_DATA_DIR: "workers-data" }, "10000"],
        ["--config workers.toml serve --workers 2", {}, "10000"],
        ["--config=workers.toml serve --workers=2", {}, "10000"],
        ["serve --config workers.toml --workers 2", {}, "10000"],
        ["--config workers.toml serve --workers 2", { MIMALLOC_PURGE_DELAY: "5" }, "5"],
      ] as const) {
        const child = own.start(words.split(" "), { ...PORT, ...settings })
        await serving(child, /with 2 workers\n/)
        expect([words, processTree(child.pid).map(delayOf)]).toEqual([words, [delay, delay, delay]])
        expect(await child.stop()).toMatchObject({ code: 0 })
      }
    },
  )

  test("lists are refreshed from what it carries, and all workers of a running server take them", async () => {
    const list = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("mailkind-own.com\n") })
    const settings = { MAILKIND_DATA_DIR: "refreshed-data" }
    const child = own.start(["serve", "--workers", "2"], { ...PORT, ...settings })
    const { url } = await serving(child, /curl [^\n]*\n/)
    const updated = await own.run(["lists", "update", "--json", "--source", `${list.url.href}list.txt`], settings)
    await list.stop(true)
    const { version } = JSON.parse(updated.out)
    await child.complained(new RegExp(`(?:the lists were reloaded[^\\n]*"${version}"[^]*){2}`))
    expect(JSON.parse((await askLoopback(`${url}/v1/health`)).body).lists.version).toBe(version)
    const { out } = await own.run(["check", "--offline", "--json", "jane@mailkind-own.com"], settings)
    expect(JSON.parse(out)).toMatchObject({ category: "disposable" })
    const back = JSON.parse((await own.run(["lists", "rollback", "--json"], settings)).out)
    expect(back).toMatchObject({ version: "built_in", pinned: "built_in" })
    expect(await child.stop()).toMatchObject({ code: 0 })
  })

  test("faulty settings stop the start with every fault and exit code 2", async () => {
    const { code, err, out } = await own.run(["serve"], { MAILKIND_PORT: "x", MAILKIND_PROT: "1" })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("MAILKIND_PORT must be")
    expect(err).toContain("MAILKIND_PROT is not a setting")
  })

  test("a port that is taken and a data directory that cannot be are told in a sentence", async () => {
    const child = own.start(["serve"], PORT)
    const { url } = await serving(child, /\n/)
    const taken = await own.run(["serve"], { MAILKIND_PORT: new URL(url).port })
    expect({ code: taken.code, lines: taken.err.trim().split("\n").length }).toEqual({ code: 1, lines: 1 })
    await child.stop()
    const nowhere = await own.run(["serve"], { ...PORT, MAILKIND_DATA_DIR: join(own.directory, "mailkind", "x") })
    expect({ code: nowhere.code, lines: nowhere.err.trim().split("\n").length }).toEqual({ code: 1, lines: 1 })
    expect(existsSync(join(own.directory, "mailkind"))).toBe(true)
  })
})

describe("mails", () => {
  test("what happens to an account is mailed once, over a kill and a restart, and no log line holds the address", async () => {
    const harness = alone()
    try {
      const server = await testSmtp()
      const settings = { ...PORT, MAILKIND_SMTP_URL: server.url, MAILKIND_LOG: "debug" }
      const first = harness.start(["serve"], settings)
      await serving(first, /listens on \S+/)
      await harness.run(["account", "create", "jane@example.com"])
      const { out } = await harness.run(["key", "create", "--account", "jane@example.com", "--json"])
      await server.takes(1)
      await first.complained(/a mail was sent/)
      await first.kill()
      const { id, key } = JSON.parse(out)
      await harness.run(["key", "revoke", id])
      await harness.run(["terms", "publish", "--version", "2", "--url", "https://example.com/2", "--material"])
      const second = harness.start(["serve"], settings)
      await serving(second, /listens on \S+/)
      await server.takes(3)
      const { err } = await second.stop()
      const subjectOf = (raw: string): string =>
        /^Subject: (.*(?:\r\n .*)*)/m.exec(raw)?.[1]?.replaceAll("\r\n", "") ?? ""
      expect(server.taken.map(({ to }) => to.join())).toEqual(Array(3).fill("jane@example.com"))
      // The two that were due together may go in either order.
      expect(server.taken.map(({ raw }) => subjectOf(raw)).sort()).toEqual([
        "An administrator revoked one of your mailkind keys",
        "New API key in your mailkind account",
        expect.stringMatching(/^mailkind's terms change on/),
      ])
      expect(JSON.stringify(server.taken)).not.toContain(key)
      expect(err).toContain("a mail was sent")
      expect(err).not.toContain("jane")
    } finally {
      await harness.remove()
    }
  })
})

describe("the executable in operation", () => {
  let own: ReturnType<typeof alone>
  beforeAll(() => {
    own = alone()
  })
  afterAll(() => own.remove())

  test("looks at itself beside its own server, and tells a program what it saw", async () => {
    const child = own.start(["serve"], PORT)
    const { url } = await serving(child, /curl [^\n]*\n/)
    const names = ["settings", "directory", "database", "dns", "clock", "lists", "port", "outbox"]
    const settings = { MAILKIND_PORT: new URL(url).port }
    const { out, code } = await own.run(["doctor", "--json", "--running", "--only", ...names], settings)
    const { verdict, examinations } = JSON.parse(out)
    expect([code, verdict]).toEqual([0, "ok"])
    expect(examinations.map(({ name, verdict }: { name: string; verdict: string }) => [name, verdict])).toEqual(
      names.map(name => [name, ["dns", "clock"].includes(name) ? "skipped" : "ok"]),
    )
    expect(await child.stop()).toMatchObject({ code: 0 })
    const stopped = await own.run(["doctor", "--running", "--only", "port"], settings)
    expect([stopped.code, stopped.out]).toEqual([1, expect.stringMatching(/^port +failed +No server answers/)])
  })

  test("backs its database up while it serves, refuses to restore it then, and restores it afterwards", async () => {
    const child = own.start(["serve"], PORT)
    const { url } = await serving(child, /\n/)
    const { key, id } = JSON.parse((await own.run(["key", "create", "--account", "owner@localhost", "--json"])).out)
    const backup = join(own.directory, "backup.sqlite")
    expect(JSON.parse((await own.run(["backup", backup, "--json"])).out)).toMatchObject({ accounts: 1, keys: 2 })
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    await own.run(["account", "create", "late@example.com"])
    expect(await own.run(["restore", backup])).toMatchObject({
      code: 1,
      err: expect.stringContaining("held the database"),
    })
    expect((await askLoopback(`${url}/v1/check?domain=stripe.com`, { headers: { "X-API-Key": key } })).status).toBe(200)
    await own.run(["key", "revoke", id])
    await child.stop()
    const restored = JSON.parse((await own.run(["restore", backup, "--json"])).out)
    expect(restored).toMatchObject({ accounts: 1, carried_over: { revoked_keys: 1, lost_accounts: 1 } })
    expect(existsSync(restored.kept_as)).toBe(true)
    const again = own.start(["serve"], PORT)
    const { url: address } = await serving(again, /\n/)
    const refused = await askLoopback(`${address}/v1/check?domain=stripe.com`, { headers: { "X-API-Key": key } })
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([401, "key_revoked"])
    expect(readFileSync(backup).subarray(0, 15).toString()).toBe("SQLite format 3")
    expect(await again.stop()).toMatchObject({ code: 0 })
  })

  test.skipIf(process.platform !== "linux")("takes over from itself without losing an answer", async () => {
    const port = freePort()
    const settings = { MAILKIND_PORT: String(port) }
    const old = own.start(["serve", "--replace"], settings)
    await serving(old, /\n/)
    const callers = startCallers(port, "/v1/health", { count: 12, pauseMs: 20 }, false)
    await callers.got(100)
    const next = own.start(["serve", "--replace"], settings)
    await serving(next, /\n/)
    expect(await old.ended()).toMatchObject({ code: 0 })
    expect((await callers.stop()).lost).toEqual([])
    expect(await next.stop()).toMatchObject({ code: 0 })
  })
})
