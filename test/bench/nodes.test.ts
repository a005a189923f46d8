import { expect, test } from "bun:test"
import { SQL } from "bun"
import { nodesBench } from "../../bench/cases/nodes.ts"
import { COUNTING_SETTINGS, countStatements } from "../../bench/cases/nodes-servers.ts"
import { reportText } from "../../bench/report/report.ts"
import { POSTGRES_PROGRAMS, startPostgres } from "../support/postgres.ts"

const LIMIT_MS = 180_000
const SMALL = { accounts: 4, connectionsPerNode: 4, rounds: 2, roundS: 0.3, warmupS: 0.3, countedS: 1, rate: 200 }
const isThere = POSTGRES_PROGRAMS !== null
const facts = isThere ? "" : " [postgresql: not installed]"

test.skipIf(!isThere)(
  `statements are counted by what they are about, those of one database alone, and each once${facts}`,
  async () => {
    const cluster = await startPostgres(COUNTING_SETTINGS)
    try {
      const admin = new SQL(cluster.url("postgres"), { max: 1 })
      await admin.unsafe("CREATE DATABASE counted")
      await using statements = await countStatements(cluster.url("postgres"), "counted")
      const client = new SQL(cluster.url("counted"), { max: 1 })
      await client.unsafe("CREATE TABLE units (subject TEXT)")
      await statements.take()
      for (const subject of ["a", "b"]) await client.unsafe("INSERT INTO units (subject) VALUES ($1)", [subject])
      await client.begin(async inner => await inner.unsafe("SELECT COUNT(*) FROM units"))
      await client.unsafe("SELECT 1")
      await admin.unsafe("SELECT 2")
      expect(await statements.take()).toMatchObject({ units: 3, "begin and end": 2, other: 1, usage: 0 })
      expect(await statements.take()).toMatchObject({ units: 0, "begin and end": 0, other: 0 })
      await Promise.all([client.close(), admin.close()])
    } finally {
      await cluster.remove()
    }
  },
  LIMIT_MS,
)

test("where PostgreSQL is not installed the nodes bench says so, and tells no figure", async () => {
  const report = await nodesBench(SMALL, null)
  expect(report.figures).toEqual([])
  expect(reportText(report)).toContain("left out: PostgreSQL is not installed")
})
