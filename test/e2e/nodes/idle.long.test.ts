import { expect, setDefaultTimeout, test } from "bun:test"
import { SQL } from "bun"
import { onTestEnd } from "../../support/on-test-end.ts"
import { POSTGRES_PROGRAMS, startPostgres } from "../../support/postgres.ts"
import { TestServer } from "../../support/test-server.ts"

setDefaultTimeout(180_000)

/** Nothing is asked of the node for so long after its start, and then for as long as statements are counted. */
const SETTLE_S = 5
const COUNTED_S = 40
const STATEMENTS_PER_SECOND_MAX = 2

test.skipIf(POSTGRES_PROGRAMS === null)(
  "a node of which nothing is asked sends two statements a second at most, all of its workers together",
  async () => {
    const cluster = await startPostgres(["shared_preload_libraries=pg_stat_statements"])
    onTestEnd(cluster.remove)
    await using client = new SQL(cluster.url("postgres"), { max: 1 })
    // Elsewhere than the tables of the node, which refuses a schema with functions of others.
    await client.unsafe("CREATE SCHEMA counting")
    await client.unsafe("CREATE EXTENSION pg_stat_statements SCHEMA counting")
    const settings = {
      MAILKIND_DATABASE_URL: cluster.url("postgres"),
      MAILKIND_WORKERS: "3",
      MAILKIND_SMTP_URL: "smtp://127.0.0.1:1",
    }
    await using node = new TestServer({ settings })
    await node.start()
    await Bun.sleep(SETTLE_S * 1000)
    await client.unsafe("SELECT counting.pg_stat_statements_reset()")
    await Bun.sleep(COUNTED_S * 1000)
    const rows = await client.unsafe<{ calls: string; query: string }[]>(
      "SELECT calls, query FROM counting.pg_stat_statements WHERE query NOT LIKE '%counting.%' ORDER BY calls DESC",
    )
    const count = rows.reduce((sum, { calls }) => sum + Number(calls), 0)
    console.log(`an idle node of three workers sent ${count} statements in ${COUNTED_S} s`)
    // It polls, and tells that it lives.
    expect(count).toBeGreaterThan(0)
    expect(count <= STATEMENTS_PER_SECOND_MAX * COUNTED_S ? [] : rows.slice(0, 9)).toEqual([])
  },
)
