import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "../architecture/source-files.ts"
import { bounded } from "./bounded.ts"
import { freePort } from "./free-port.ts"
import { onTestEnd } from "./on-test-end.ts"
import { AS_POSTGRES } from "./postgres.ts"

/** Where Debian has PgBouncer; null: it is not installed. */
export const PGBOUNCER: string | null = existsSync("/usr/sbin/pgbouncer") ? "/usr/sbin/pgbouncer" : null

/** A PgBouncer that runs. */
export type Pooler = {
  readonly port: number
  readonly pid: number
  /** Kills it, which cuts every connection through it. */
  readonly kill: () => Promise<unknown>
}

/** Starts a PgBouncer by the file that the page shows, before a PostgreSQL server on loopback, which ends with the test, and gives its port. */
export const startPooler = async (behind: number, settings: Readonly<Record<string, string>> = {}): Promise<number> =>
  (await openPooler(behind, settings)).port

/** The same, which can be killed. `onEnd` has what ends it done; `samePort`: that of one that ended. */
export async function openPooler(
  behind: number,
  settings: Readonly<Record<string, string>> = {},
  onEnd: (end: () => unknown) => void = onTestEnd,
  samePort: number | null = null,
): Promise<Pooler> {
  if (PGBOUNCER === null) throw new Error("PgBouncer is not installed")
  const all = { listen_addr: "127.0.0.1", unix_socket_dir: "", auth_type: "any", ...settings }
  for (let attempt = 0; attempt < 3; attempt++) {
    const port = samePort ?? freePort()
    // Where its user may read, who may not go into the directory of the run.
    const file = join(AS_POSTGRES.length === 0 ? tmpdir() : "/tmp", `mailkind-tests-${process.pid}-pooler-${port}.ini`)
    writeFileSync(file, shownFile(behind, { ...all, listen_port: String(port) }))
    const pooler = Bun.spawn([...AS_POSTGRES, PGBOUNCER, file], { stdin: "ignore", stdout: "ignore", stderr: "pipe" })
    const kill = (): Promise<unknown> => {
      pooler.kill("SIGKILL")
      return pooler.exited
    }
    onEnd(kill)
    onEnd(() => rmSync(file, { force: true }))
    if (await bounded(isUp(pooler.stderr), () => "PgBouncer does not answer")) return { port, pid: pooler.pid, kill }
  }
  throw new Error("PgBouncer does not start")
}

/** The file that the page shows with other settings. Who need not log in has the user of the tests. */
function shownFile(behind: number, settings: Readonly<Record<string, string>>): string {
  const isOpen = settings["auth_type"] === "any"
  const shown = readFileSync(join(ROOT, "data/deploy/pgbouncer.ini"), "utf8")
    .replace(
      /^mailkind = .*$/m,
      `${isOpen ? "*" : "mailkind"} = host=127.0.0.1 port=${behind}${isOpen ? " user=mailkind" : ""}`,
    )
    .replace(isOpen ? /^auth_file = .*\n/m : "", "")
  return Object.entries(settings).reduce(
    (text, [name, value]) => `${text.replace(new RegExp(`^${name} = .*\n`, "m"), "")}${name} = ${value}\n`,
    shown,
  )
}

/** Whether what it says is that it listens; else it has ended. What it says later is read too, so that it never waits for a reader. */
async function isUp(reply: ReadableStream<Uint8Array>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const read = async (): Promise<void> => {
    let text = ""
    for await (const part of reply) {
      text = (text + new TextDecoder().decode(part)).slice(-1000)
      if (text.includes("process up")) resolve(true)
    }
    resolve(false)
  }
  void read()
  return await promise
}
