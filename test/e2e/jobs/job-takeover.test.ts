import { expect, setDefaultTimeout } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { JobBody } from "../../../src/contract/jobs-schema.ts"
import { onPostgres } from "../../customers/engines.ts"
import { askLoopback } from "../../support/loopback.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { createCluster } from "../nodes/cluster.ts"
import { listOf } from "./killed-server.ts"

setDefaultTimeout(120_000)

const ROWS = 40_000

/** Nodes over one database and one folder, and what a caller asks of each. */
async function twoNodes() {
  const folder = mkdtempSync(join(tmpdir(), "mailkind-shared-"))
  onTestEnd(() => rmSync(folder, { recursive: true, force: true }))
  const cluster = await createCluster(2, { MAILKIND_JOBS_DIR: folder })
  const programs = await Promise.all(cluster.nodes.map(node => node.serve()))
  const key = await cluster.newKey()
  const ask = async (node: number, path: string, method = "GET", body?: string) =>
    await askLoopback(`http://127.0.0.1:${cluster.nodes[node]?.port}${path}`, {
      method,
      body,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "text/csv" },
    })
  return {
    cluster,
    folder,
    ask,
    programs,
    upload: async (node: number): Promise<string> =>
      JSON.parse((await ask(node, "/v1/jobs", "POST", listOf(ROWS))).body).id,
    until: async (node: number, id: string, isReached: (job: JobBody) => boolean): Promise<JobBody> => {
      for (;;) {
        const job: JobBody = JSON.parse((await ask(node, `/v1/jobs/${id}`)).body)
        if (isReached(job)) return job
      }
    },
  }
}

const isDone = ({ state }: JobBody): boolean => state === "done" || state === "failed"

onPostgres(
  "when the node that checks a list dies, another one continues it: the results are the same, and each row is charged once",
  async () => {
    const nodes = await twoNodes()
    const undisturbed = await nodes.upload(0)
    await nodes.until(1, undisturbed, isDone)
    const expected = (await nodes.ask(1, `/v1/jobs/${undisturbed}/results`)).body
    const id = await nodes.upload(0)
    await nodes.until(1, id, ({ rows }) => rows.done > 0)
    // A holder is named after its process. Either node may have begun the job.
    const pid = Number(nodes.cluster.psql(`SELECT holder FROM jobs WHERE id = '${id}'`).trim().split(".")[0])
    const dying = nodes.programs.findIndex(program => program.pid === pid)
    await nodes.programs[dying]?.kill()
    const survivor = 1 - dying
    const job = await nodes.until(survivor, id, isDone)
    expect([job.state, job.rows.done, job.units_used]).toEqual(["done", ROWS, ROWS])
    expect((await nodes.ask(survivor, `/v1/jobs/${id}/results`)).body === expected).toBe(true)
    expect(nodes.cluster.psql("SELECT SUM(count) FROM usage WHERE measure = 'used'").trim()).toBe(String(2 * ROWS))
    // Each of the two wrote into a file of its own.
    expect(readdirSync(nodes.folder).filter(name => name.startsWith(id)).length).toBe(3)
  },
)
