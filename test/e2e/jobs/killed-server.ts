import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import type { JobBody } from "../../../src/contract/jobs-schema.ts"
import { type Answered, askLoopback, type Sent } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

/** Units of the day of every account, so that what was charged can be read. */
const UNITS = 5_000_000

const DOMAINS = ["gmail.com", "mailinator.com", "mit.edu", "stripe.com", "nothing"]

/** A list of so many rows. */
export const listOf = (rows: number): string =>
  `id,email\n${Array.from({ length: rows }, (_, at) => `${at},jane${at}@${DOMAINS[at % DOMAINS.length]}\n`).join("")}`

/** A server over a data directory of its own that is killed and started again. */
export async function killedServer() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-killed-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const state = { url: "", key: "" }
  const start = async () => {
    const program = startProgram([...PROGRAM, "serve"], directory, {
      HOME: directory,
      PATH: process.env["PATH"] ?? "",
      MAILKIND_DATA_DIR: join(directory, "data"),
      MAILKIND_PORT: "0",
      MAILKIND_DNS_SERVERS: "off",
      MAILKIND_IDENTITY_URL: "off",
      MAILKIND_LISTS_REFRESH_HOURS: "off",
      MAILKIND_TIERS: `4=-/-/${UNITS}`,
    })
    onTestEnd(program.kill)
    const printed = await program.printed(/listens on \S+[\s\S]*?\n/)
    state.url = /listens on (\S+)/.exec(printed)?.[1] ?? ""
    if (state.key === "")
      state.key = /svc_live_[0-9A-Za-z]{38}/.exec(await program.printed(/svc_live_\S{38}/))?.[0] ?? ""
    return program
  }
  const ask = (path: string, sent: Sent = {}): Promise<Answered> =>
    askLoopback(`${state.url}${path}`, {
      ...sent,
      headers: { Authorization: `Bearer ${state.key}`, "Content-Type": "text/csv", ...sent.headers },
    })
  const jobOf = async (id: string): Promise<JobBody> => JSON.parse((await ask(`/v1/jobs/${id}`)).body)
  return {
    start,
    state,
    upload: async (list: string): Promise<string> =>
      JSON.parse((await ask("/v1/jobs", { method: "POST", body: list })).body).id,
    /** The job as soon as so many rows are done, or all. */
    rowsDone: async (id: string, rows: number): Promise<JobBody> => {
      for (;;) {
        const job = await jobOf(id)
        if (job.state === "done" || job.state === "failed" || (job.state === "running" && job.rows.done >= rows))
          return job
      }
    },
    results: async (id: string): Promise<string> => (await ask(`/v1/jobs/${id}/results`)).body,
    /** The units that are gone of the day, and those of the usage. */
    charged: async () => {
      const { today } = JSON.parse((await ask("/v1/usage")).body)
      return { used: today.used, leased: UNITS - today.remaining }
    },
    jobs: async (): Promise<readonly JobBody[]> => JSON.parse((await ask("/v1/jobs")).body).jobs,
    files: () => readdirSync(join(directory, "data/jobs")).filter(name => !name.startsWith("installation.")),
  }
}

/** Checks a list undisturbed, and again while its server is killed so often, evenly over its rows. */
export async function checkUnderKills(rows: number, kills: number) {
  const server = await killedServer()
  let program = await server.start()
  const list = listOf(rows)
  const undisturbed = await server.upload(list)
  await server.rowsDone(undisturbed, rows)
  const id = await server.upload(list)
  let killsCount = 0
  for (let kill = 1; kill <= kills; kill++) {
    const { state } = await server.rowsDone(id, Math.floor((rows * kill) / (kills + 1)))
    if (state !== "running") break
    await program.kill()
    killsCount++
    program = await server.start()
  }
  const job = await server.rowsDone(id, rows + 1)
  const report = {
    killsCount,
    state: job.state,
    rows: job.rows,
    unitsUsed: job.units_used,
    isSame: (await server.results(id)) === (await server.results(undisturbed)),
    charged: await server.charged(),
  }
  await program.stop()
  return report
}
