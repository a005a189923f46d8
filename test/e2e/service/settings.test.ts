import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"
import { until } from "../../support/until.ts"
import { environment } from "../workers/workers-server.ts"

setDefaultTimeout(120_000)

/** A directory with a configuration file, and programs that run there with what else is set. */
function place(config: string) {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-config-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, "mailkind.toml")
  const write = (text: string, mode = 0o600): void => {
    writeFileSync(file, text)
    chmodSync(file, mode)
  }
  write(config)
  const run = (words: readonly string[], settings: Readonly<Record<string, string>> = {}) => {
    const program = startProgram([...PROGRAM, ...words], directory, { ...environment(directory), ...settings })
    onTestEnd(program.kill)
    return program
  }
  return { directory, file, write, run }
}

/** The address of a server that has started, and its key. */
async function started(server: ReturnType<ReturnType<typeof place>["run"]>) {
  const out = await server.printed(/listens on \S+[\s\S]*(?:dashboard|secret key of .*)\.\n/)
  return { url: /listens on (\S+)/.exec(out)?.[1] ?? "", key: /svc_live_\w+/.exec(out)?.[0] ?? "", out }
}

/** The limits of requests that an account of tier 4 has. */
async function policyOf(url: string, key: string): Promise<string | undefined> {
  const { headers } = await askLoopback(`${url}/v1/check?email=jane@gmail.com`, {
    headers: { authorization: `Bearer ${key}` },
  })
  return headers["ratelimit-policy"]?.toString()
}

const limitsPage = async (url: string): Promise<string> => (await askLoopback(`${url}/docs/limits`)).body

/** Asks until it is so many times in a row: each time another worker may answer. */
async function untilEach(isSo: () => Promise<boolean>, what: string): Promise<void> {
  let inRow = 0
  await until(
    async () => {
      inRow = (await isSo()) ? inRow + 1 : 0
      return inRow === ANSWERS_IN_ROW
    },
    () => `${what} does not change at every worker`,
  )
}

const ANSWERS_IN_ROW = 12

const READ_AGAIN = /"the settings were read again"/g

describe("SIGHUP", () => {
  test.each([
    ["a server", []],
    ["a server of workers", ["--workers", "2"]],
  ] as const)(
    "%s takes what a running server can take, says what it cannot, and takes no half of a file",
    async (_, words) => {
      const { file, write, run } = place('tiers = "4=707/-/-"\ntrusted_proxies = "192.0.2.1"\n')
      const server = run(["serve", ...words, "--config", file])
      const { url, key } = await started(server)
      expect(await policyOf(url, key)).toContain("707")
      expect(await limitsPage(url)).toContain("707")
      write('tiers = "4=909/-/-"\ntest_domain = "other.test"\n')
      server.tell("SIGHUP")
      const log = await server.complained(/"some settings need a restart"/)
      expect(log).toContain('"changed":"MAILKIND_TIERS, MAILKIND_TRUSTED_PROXIES"')
      expect(log).toContain('"changed":"MAILKIND_TEST_DOMAIN"')
      await untilEach(async () => (await policyOf(url, key))?.includes("909") === true, "the limit")
      await untilEach(async () => (await limitsPage(url)).includes("909"), "the page of limits")
      write('tiers = "4=111/-/-"\nlog = "o')
      server.tell("SIGHUP")
      expect(await server.complained(/"the settings are faulty and stay as they were"/)).toContain(
        "unfinished string (line 2 of",
      )
      expect(await policyOf(url, key)).toContain("909")
      const { code, err } = await server.stop()
      expect([code, err.match(READ_AGAIN)?.length]).toEqual([0, 1])
    },
  )
})

describe("the first key", () => {
  test("can be set, and is not printed", async () => {
    const { run, directory } = place("")
    const key = (await run(["key", "generate"]).ended()).out.trim()
    writeFileSync(join(directory, "key"), `${key}\n`)
    const server = run(["serve"], { MAILKIND_FIRST_KEY_FILE: join(directory, "key") })
    const { url, out } = await started(server)
    expect(out).not.toContain("svc_live_")
    const { status } = await askLoopback(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })
    expect(status).toBe(200)
    await server.stop()
  })

  test("that is mistyped stops the start", async () => {
    const { run } = place("")
    const { code, err } = await run(["serve"], { MAILKIND_FIRST_KEY: `svc_live_${"a".repeat(38)}` }).ended()
    expect([code, err]).toEqual([2, expect.stringContaining("MAILKIND_FIRST_KEY is mistyped")])
    expect(err).not.toContain("aaa")
  })

  test("is told to be unused where there are accounts", async () => {
    const { run } = place("")
    const server = run(["serve"])
    await started(server)
    await server.stop()
    const late = run(["serve"], { MAILKIND_FIRST_KEY: (await run(["key", "generate"]).ended()).out.trim() })
    await late.printed(/listens on/)
    expect((await late.stop()).err).toContain('"the first key is not used, since there are accounts"')
  })
})

test("a start tells every fault of flags, environment and file, and ends with exit code 2", async () => {
  const { file, write, run } = place("")
  write('prot = 1\nsmtp_url = "smtp://user:hunter2@example.com"\n', 0o644)
  const { code, err } = await run(["serve", "--config", file, "--log", "loud"], { MAILKIND_HOSTS: "x" }).ended()
  expect(code).toBe(2)
  for (const fault of [
    "MAILKIND_HOSTS is not a setting (did you mean MAILKIND_HOST?)",
    "prot is not a setting (did you mean port?)",
    "Every user of this host can read",
    "MAILKIND_LOG must be one of",
    "(--log)",
  ])
    expect(err).toContain(fault)
  expect(err).not.toContain("hunter2")
})

test("flags win over the environment, and the environment over the file, also in the processes that a command starts", async () => {
  const { file, run } = place(
    'log = "warn"\nsmtp_url = "smtp://user:hunter2@example.com"\njob_keep_hours = 5\nhost = "::1"\n',
  )
  const words = ["config", "show", "--json", "--config", file, "--log", "error"]
  const { out } = await run(words, { MAILKIND_LOG: "debug", MAILKIND_JOB_KEEP_HOURS: "6" }).ended()
  const shown = new Map((JSON.parse(out) as { name: string }[]).map(({ name, ...rest }) => [name, rest])) // as documented
  expect(shown.get("MAILKIND_LOG")).toEqual({ value: "error", origin: "--log" })
  expect(shown.get("MAILKIND_JOB_KEEP_HOURS")).toEqual({ value: "6", origin: "the environment" })
  expect(shown.get("MAILKIND_HOST")).toEqual({ value: "::1", origin: `line 4 of ${file}` })
  expect(shown.get("MAILKIND_SMTP_URL")).toEqual({ value: "•••", origin: `line 2 of ${file}` })
  expect(shown.get("MAILKIND_TIERS")).toEqual({ value: "the built-in limits", origin: null })
  expect(out).not.toContain("hunter2")
})

test("`doctor --only settings` says in text and JSON whether the settings are valid", async () => {
  const { file, write, run } = place("port = 1")
  const words = ["doctor", "--only", "settings", "--config", file]
  expect(await run(words).ended()).toEqual({
    code: 0,
    out: "settings  ok  All settings are known and valid.\n",
    err: "",
  })
  write("job_keep_hours = 0\nbackup_keep = 5")
  const { code, out } = await run([...words, "--json"]).ended()
  const seen = `backup_keep is no setting any more. The backups of the last week are kept, and at least seven (line 2 of ${file}). MAILKIND_JOB_KEEP_HOURS must be a whole number from 1 to 8760 (line 1 of ${file}).`
  expect([code, JSON.parse(out).examinations]).toMatchObject([1, [{ name: "settings", verdict: "failed", seen }]])
})
