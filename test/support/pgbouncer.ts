import { existsSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bounded } from "./bounded.ts"
import { freePort } from "./free-port.ts"
import { onTestEnd } from "./on-test-end.ts"
import { AS_POSTGRES } from "./postgres.ts"

/** Where Debian has PgBouncer; null: it is not installed. */
export const PGBOUNCER: string | null = existsSync("/usr/sbin/pgbouncer") ? "/usr/sbin/pgbouncer" : null

/** Starts a PgBouncer before a PostgreSQL server on loopback, which ends with the test, and gives its port. */
export async function startPooler(behind: number, settings: Readonly<Record<string, string>> = {}): Promise<number> {
  if (PGBOUNCER === null) throw new Error("PgBouncer is not installed")
  const all = {
    listen_addr: "127.0.0.1",
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: "transaction",
    ...settings,
  }
  for (let attempt = 0; attempt < 3; attempt++) {
    const port = freePort()
    const lines = Object.entries({ ...all, listen_port: String(port) }).map(([name, value]) => `${name} = ${value}`)
    // Where its user may read, who may not go into the directory of the run.
    const file = join(AS_POSTGRES.length === 0 ? tmpdir() : "/tmp", `mailkind-tests-${process.pid}-pooler-${port}.ini`)
    const server = `* = host=127.0.0.1 port=${behind} user=mailkind`
    writeFileSync(file, `[databases]\n${server}\n[pgbouncer]\n${lines.join("\n")}\n`)
    const pooler = Bun.spawn([...AS_POSTGRES, PGBOUNCER, file], { stdin: "ignore", stdout: "ignore", stderr: "pipe" })
    onTestEnd(() => pooler.kill("SIGKILL"))
    onTestEnd(() => Bun.file(file).delete())
    if (await bounded(isUp(pooler.stderr), () => "PgBouncer does not answer")) return port
  }
  throw new Error("PgBouncer does not start")
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
