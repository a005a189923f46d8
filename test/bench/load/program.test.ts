import { afterEach, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../../architecture/source-files.ts"

const LIMIT_MS = 300_000
const LOAD = join(ROOT, "bench/load/main.ts")
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A server that counts its requests. */
function counting(tls?: { readonly key: string; readonly cert: string }) {
  let count = 0
  const seen: Request[] = []
  const fetch = async (request: Request) => {
    count++
    if (seen.length < 50) seen.push(request.clone() as Request) // the same request, to be read twice
    await request.text()
    return Response.json({ ok: true })
  }
  const options = { hostname: "127.0.0.1", port: 0, fetch }
  const server = Bun.serve(tls === undefined ? options : { ...options, tls })
  ends.push(() => server.stop(true))
  return { url: server.url, seen, count: () => count }
}

async function run(...command: readonly string[]) {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  const [out, complaint] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, out, complaint }
}

const load = (...args: readonly string[]) => run(process.execPath, LOAD, ...args)

describe("the load program", () => {
  test(
    "sends a mix with its key to the paths of the server",
    async () => {
      const { url, seen, count } = counting()
      const sizes = ["--requests", "40", "--connections", "4", "--warmup", "0", "--json"]
      const { out } = await load(url.href, "--key", "svc_live_x", "--mix", "check=1,batch=1", ...sizes)
      expect(JSON.parse(out)).toMatchObject({ answers: 40, byStatus: { "200": 40 } })
      expect(count()).toBe(40)
      expect(new Set(seen.map(request => new URL(request.url).pathname))).toEqual(
        new Set(["/v1/check", "/v1/check/batch"]),
      )
      expect(new Set(seen.map(request => request.headers.get("Authorization")))).toEqual(new Set(["Bearer svc_live_x"]))
    },
    LIMIT_MS,
  )

  test(
    "exits 2 with its usage when it is used wrongly, and 1 when there is no server",
    async () => {
      const wrong = await load("http://127.0.0.1:1/", "--rate", "fast")
      expect([wrong.exitCode, wrong.out]).toEqual([2, ""])
      expect(wrong.complaint).toMatch(/^--rate wants a number[^\n]*\n\nbun run bench:load URL/)
      expect((await load("http://127.0.0.1:1/", "--bodies", "/nowhere")).exitCode).toBe(2)
      const nobody = await load("http://127.0.0.1:1/")
      expect([nobody.exitCode, nobody.out]).toEqual([1, ""])
      expect(nobody.complaint).toContain("127.0.0.1 port 1 refused a connection")
      expect((await load("--help")).exitCode).toBe(0)
    },
    LIMIT_MS,
  )
})

const OPENSSL = Bun.which("openssl")
const WITHOUT_OPENSSL = OPENSSL === null ? " (skipped: openssl is not installed, and makes the certificate)" : ""

/** A certificate that nobody vouches for. */
async function certificate() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-load-"))
  ends.push(() => rmSync(directory, { recursive: true, force: true }))
  const [keyFile, file] = [join(directory, "key.pem"), join(directory, "certificate.pem")]
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
  await run("openssl", "req", ...kind, "-keyout", keyFile, "-out", file, ...names)
  return { file, key: await Bun.file(keyFile).text(), cert: await Bun.file(file).text() }
}

test.skipIf(OPENSSL === null)(
  `the load program sends nothing over https: to whom nobody vouches for, unless it may${WITHOUT_OPENSSL}`,
  async () => {
    const { file, ...tls } = await certificate()
    const { url, count } = counting(tls)
    const sizes = ["--requests", "7", "--connections", "2", "--warmup", "0", "--json"]
    const refused = await load(url.href, "--key", "svc_live_x", ...sizes)
    expect([refused.exitCode, count()]).toEqual([1, 0])
    expect(refused.complaint).toContain("certificate")
    const { out } = await load(url.href, "--any-certificate", ...sizes)
    expect(JSON.parse(out)).toMatchObject({ answers: 7 })
    const trusting = ["env", `NODE_EXTRA_CA_CERTS=${file}`, process.execPath, LOAD]
    expect(JSON.parse((await run(...trusting, url.href, ...sizes)).out)).toMatchObject({ answers: 7 })
    expect(count()).toBe(14)
  },
  LIMIT_MS,
)

const WRK = Bun.which("wrk")
const WITHOUT_WRK = WRK === null ? " (skipped: wrk is not installed)" : ""

test.skipIf(WRK === null)(
  `the load program and wrk count what the server counts${WITHOUT_WRK}`,
  async () => {
    const connections = 8
    const ours = counting()
    const { out } = await load(ours.url.href, "--connections", "8", "--duration", "1", "--warmup", "0.2", "--json")
    const report = JSON.parse(out)
    expect(report.answers + report.warmupAnswers).toBe(ours.count())
    const theirs = counting()
    const reply = await run("wrk", "-t1", `-c${connections}`, "-d1s", theirs.url.href)
    const [, facts] = /(\d+) requests in/.exec(reply.out) ?? []
    // What wrk still waited for when its time was over, it does not count.
    expect(theirs.count() - Number(facts)).toBeGreaterThanOrEqual(0)
    expect(theirs.count() - Number(facts)).toBeLessThanOrEqual(connections)
    expect(report.answers).toBeGreaterThan(0)
  },
  LIMIT_MS,
)
