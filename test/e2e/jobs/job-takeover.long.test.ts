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
    results: async (node: number, id: string): Promise<string> => {
      const answer = await ask(node, `/v1/jobs/${id}/results`)
      expect([answer.status, answer.status === 200 ? "" : answer.body]).toEqual([200, ""])
      return answer.body
    },
    until: async (node: number, id: string, isReached: (job: JobBody) => boolean): Promise<JobBody> => {
      for (;;) {
        const job: JobBody = JSON.parse((await ask(node, `/v1/jobs/${id}`)).body)
        if (isReached(job)) return job
      }
    },
  }
}

/** The first rows that differ, with their numbers. */
function differences(one: string, other: string): readonly string[] {
  const [rows, others] = [one.split("\n"), other.split("\n")]
  const count = Math.max(rows.length, others.length)
  const numbers = Array.from({ length: count }, (_, at) => at).filter(at => rows[at] !== others[at])
  return numbers.slice(0, 3).map(at => `${at}: ${rows[at]} | ${others[at]}`)
}

const isDone = ({ state }: JobBody): boolean => state === "done" || state === "failed"

onPostgres(
  "when the node that checks a list dies, another one continues it: the results are the same, and each row is charged once",
  async () => {
    const nodes = await twoNodes()
    const undisturbed = await nodes.upload(0)
    await nodes.until(1, undisturbed, isDone)
    const expected = await nodes.results(1, undisturbed)
    const id = await nodes.upload(0)
    await nodes.until(1, id, ({ rows }) => rows.done > 0)
    // A holder is named after its process. Either node may have begun the job.
    const pid = Number(nodes.cluster.psql(`SELECT holder FROM jobs WHERE id = '${id}'`).trim().split(".")[0])
    const dying = nodes.programs.findIndex(program => program.pid === pid)
    await nodes.programs[dying]?.kill()
    const survivor = 1 - dying
    const job = await nodes.until(survivor, id, isDone)
    expect([job.state, job.rows.done, job.units_used]).toEqual(["done", ROWS, ROWS])
    expect(differences(expected, await nodes.results(survivor, id))).toEqual([])
    expect(nodes.cluster.psql("SELECT SUM(count) FROM usage WHERE measure = 'used'").trim()).toBe(String(2 * ROWS))
    // Each of the two wrote into a file of its own.
    expect(readdirSync(nodes.folder).filter(name => name.startsWith(id)).length).toBe(3)
  },
)
