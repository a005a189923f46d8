import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseSettings, SETTINGS } from "../../../src/config/settings.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { freePort } from "../../support/free-port.ts"
import { askLoopback } from "../../support/loopback.ts"
import { startProgram } from "../../support/program.ts"
import { alone, build } from "./executable.ts"

setDefaultTimeout(180_000)

const read = (name: string): string => readFileSync(join(ROOT, "data/deploy", name), "utf8")
const UNIT = read("mailkind@.service")
const DOCKERFILE = read("Dockerfile")
/** Where both have the executable. */
const INSTALLED = "/usr/local/bin/mailkind"

let own: ReturnType<typeof alone>
beforeAll(async () => {
  await build()
  own = alone()
})
afterAll(() => own.remove())

/** The lines of the unit of one name. */
const set = (name: string): string[] =>
  [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value)
/** The lines of the Dockerfile that begin with the word, each whole. */
const reply = (word: string): string[] =>
  [...DOCKERFILE.replaceAll("\\\n", " ").matchAll(new RegExp(`^${word} +(.*)$`, "gm"))].map(([, rest = ""]) =>
    rest.trim(),
  )

const settingsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/\b(MAILKIND_[A-Z_]+)=(\S*)/g)].map(([, name = "", value = ""]) => [name, value]),
  )

describe("the unit of systemd", () => {
  test.skipIf(Bun.which("systemd-analyze") === null)("is one, and leaves little to attack", () => {
    const unit = join(own.directory, "mailkind@a.service")
    writeFileSync(unit, UNIT.replaceAll(INSTALLED, join(own.directory, "mailkind")))
    const verified = Bun.spawnSync(["systemd-analyze", "verify", unit])
    expect([verified.exitCode, verified.stderr.toString()]).toEqual([0, ""])
    // Of 100; a service that says nothing of itself has 96.
    const secured = Bun.spawnSync([
      "systemd-analyze",
      "security",
      "--offline=yes",
      "--threshold=20",
      "--no-pager",
      unit,
    ])
    expect(secured.exitCode).toBe(0)
  })

  test("runs a command that there is, with settings that there are, for long enough to stop in", async () => {
    const [command = ""] = set("ExecStart")
    const [program, name = "", ...options] = command.split(" ")
    const { out } = await own.run(["help", name])
    expect([program, options.every(option => out.includes(option))]).toEqual([INSTALLED, true])
    expect(parseSettings(settingsIn(set("Environment").join("\n"))).kind).toBe("read")
    expect(set("StateDirectory").map(directory => `/var/lib/${directory}`)).toEqual([
      settingsIn(set("Environment").join("\n"))["MAILKIND_DATA_DIR"] ?? "",
    ])
    // Ten seconds for what is in flight, five to write what is held.
    expect(Number(set("TimeoutStopSec")[0])).toBeGreaterThan(15)
    expect([set("Restart"), set("KillSignal"), set("NoNewPrivileges")]).toEqual([["on-failure"], ["SIGTERM"], ["yes"]])
  })

  test("has a file of settings that can be read when every line is taken", () => {
    const given = settingsIn(read("mailkind.env"))
    expect(Object.keys(given).filter(name => !(name in SETTINGS))).toEqual([])
    expect(parseSettings(given)).toMatchObject({ kind: "read" })
  })
})

describe("the Dockerfile", () => {
  test("copies what is there, and what the ignore file lets through", () => {
    const ignored = readFileSync(join(ROOT, ".dockerignore"), "utf8")
    const copied = reply("COPY").filter(line => !line.includes("--from="))
    const sources = copied.flatMap(line =>
      line
        .split(/ +/)
        .filter(word => !word.startsWith("--"))
        .slice(0, -1),
    )
    expect(sources).toEqual(["dist/mailkind", "LICENSE", "data/NOTICE.md"])
    for (const source of sources) {
      expect(existsSync(join(ROOT, source))).toBe(true)
      expect(ignored).toContain(`\n!${source}\n`)
    }
    expect(copied[0]).toEndWith(` dist/mailkind ${INSTALLED}`)
  })

  test("runs what it has copied, by a user who is not root, with settings that there are", () => {
    expect(reply("ENTRYPOINT")).toEqual([JSON.stringify([INSTALLED])])
    expect(reply("CMD")).toEqual(['["serve"]'])
    expect(reply("USER")).toEqual(["65532:65532"])
    expect(reply("STOPSIGNAL")).toEqual(["SIGTERM"])
    const settings = settingsIn(reply("ENV").join(" "))
    expect(parseSettings(settings)).toMatchObject({ kind: "read" })
    expect(reply("VOLUME")).toEqual([settings["MAILKIND_DATA_DIR"] ?? ""])
    expect(reply("LABEL").join(" ")).toMatch(/image\.revision="\$\{REVISION\}"/)
    expect(reply("EXPOSE")).toEqual([settings["MAILKIND_PORT"] ?? ""])
  })
})

/** Lets other users as far as the executable. */
const letIn = (): void => {
  for (const path of [dirname(own.directory), own.directory]) chmodSync(path, 0o755)
}

// A mount namespace and another user are root's to make.
const isAble = process.getuid?.() === 0 && Bun.which("unshare") !== null && Bun.which("setpriv") !== null

describe.skipIf(!isAble)("as another user, with all but its data directory read-only and no rights at all,", () => {
  test("the executable serves, is healthy by the image's own check, backs up and restores, and writes nowhere else", async () => {
    const data = join(own.directory, "room")
    mkdirSync(data, { mode: 0o700 })
    chownSync(data, 65532, 65532)
    letIn()
    const inside = `mount --bind ${data} ${data} && mount -o remount,ro,bind / && cd ${data} && exec setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --bounding-set=-all "$@"`
    const shut = [
      "unshare",
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-c",
      inside,
      "sh",
      join(own.directory, "mailkind"),
    ]
    const port = String(freePort())
    const settings = {
      PATH: process.env["PATH"],
      MAILKIND_DATA_DIR: data,
      MAILKIND_PORT: port,
      MAILKIND_DNS_SERVERS: "off",
      MAILKIND_LISTS_REFRESH_HOURS: "off",
    }
    const run = (...words: string[]) => startProgram([...shut, ...words], data, settings).ended()
    const healthcheck: string[] = JSON.parse(reply("HEALTHCHECK")[0]?.replace(/^.*CMD /, "") ?? "[]")
    expect(await run(...healthcheck.slice(1))).toMatchObject({ code: 1 })
    const server = startProgram([...shut, "serve"], data, settings)
    const key = /svc_live_[0-9A-Za-z]{38}/.exec(await server.printed(/curl [^\n]*\n/))?.[0] ?? ""
    const checked = await askLoopback(`http://127.0.0.1:${port}/v1/check?domain=stripe.com`, {
      headers: { "X-API-Key": key },
    })
    expect(checked.status).toBe(200)
    expect(await run(...healthcheck.slice(1))).toMatchObject({ code: 0, out: expect.stringContaining("answers on") })
    expect(await run("doctor", "--only", "directory", "database", "lists")).toMatchObject({ code: 0 })
    expect(await run("backup", join(data, "backup"))).toMatchObject({ code: 0 })
    expect(await run("backup", join(own.directory, "backup"))).toMatchObject({ code: 1 })
    expect(await server.stop()).toMatchObject({ code: 0 })
    expect(await run("restore", join(data, "backup"))).toMatchObject({ code: 0 })
  })

  test("a data directory, a database and lists that it may not read are told by doctor with a remedy", async () => {
    const data = join(own.directory, "closed")
    mkdirSync(data, { mode: 0o700 })
    const as = ["setpriv", "--reuid", "65532", "--regid", "65532", "--clear-groups", join(own.directory, "mailkind")]
    letIn()
    const doctor = async () => {
      const settings = {
        PATH: process.env["PATH"],
        MAILKIND_DATA_DIR: data,
        MAILKIND_DNS_SERVERS: "off",
        MAILKIND_PORT: "0",
      }
      const names = ["directory", "disk", "database", "clock", "lists", "outbox"]
      const { out } = await startProgram(
        [...as, "doctor", "--json", "--only", ...names],
        own.directory,
        settings,
      ).ended()
      const rows: { name: string; verdict: string; remedy: string | null }[] = JSON.parse(out).examinations
      expect(rows.filter(({ verdict, remedy }) => verdict === "failed" && remedy === null)).toEqual([])
      return Object.fromEntries(rows.map(({ name, verdict }) => [name, verdict]))
    }
    expect(await doctor()).toMatchObject({
      directory: "failed",
      database: "failed",
      lists: "failed",
      outbox: "failed",
      clock: "skipped",
    })
    chmodSync(data, 0o755)
    writeFileSync(join(data, "mailkind.sqlite"), "", { mode: 0o600 })
    expect(await doctor()).toMatchObject({ directory: "failed", database: "failed" })
  })
})
