import { expect, test } from "bun:test"
import { createDatabasePoll, createStorePart, openStore } from "../../src/assemble/customers/store.ts"
import { createNodeService } from "../../src/customers/node-service.ts"
import { NODE_BOUNDS, writeHeartbeat } from "../../src/customers/nodes/live-nodes.ts"
import { StoreError } from "../../src/customers/store/core/store-error.ts"
import { openPostgres } from "../../src/customers/store/postgres-store.ts"
import { tempPath } from "../customers/temp-store.ts"
import { trustedTime } from "../support/clock.ts"
import { later } from "../support/later.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { POSTGRES_PROGRAMS, startPostgres } from "../support/postgres.ts"
import { until } from "../support/until.ts"
import { loggedContext } from "./logged-context.ts"

/** A node over a database of its own, which can be made read-only, and another node that has written a heartbeat. */
async function twoNodes() {
  const cluster = await startPostgres()
  onTestEnd(cluster.remove)
  const url = cluster.url("postgres")
  const time = { nowMs: 0 }
  const environment = { MAILKIND_DATABASE_URL: url, MAILKIND_DATA_DIR: tempPath("data") }
  const { context, lines } = loggedContext(environment, () => time.nowMs)
  const opened = await openStore(context)
  onTestEnd(opened.close)
  await writeHeartbeat(opened, { id: "node_other", startId: "node_other" })
  const { poll, claims, store } = createDatabasePoll(context, opened, "alone")
  const shared = { ...context, store, poll, claims, userAgent: "test", trustedTime: trustedTime(Date.now) }
  const nodes = await createNodeService(shared, null, () => undefined)
  nodes.start()
  onTestEnd(nodes.stop)
  onTestEnd(() => poll.stop())
  const psql = (...statements: readonly string[]): string =>
    cluster.program("psql", "-qAt", "--dbname", url, ...statements.flatMap(sql => ["--command", sql]))
  const setReadOnly = async (isOn: boolean): Promise<void> => {
    const words = [
      "SET default_transaction_read_only = off",
      `ALTER SYSTEM SET default_transaction_read_only = ${isOn}`,
    ]
    psql(...words, "SELECT pg_reload_conf()")
    // A connection that begins after the server has read its settings proves that it has signalled all others to do so.
    const isRead = () => psql("SHOW default_transaction_read_only").trim() === (isOn ? "on" : "off")
    await until(isRead, () => "PostgreSQL does not read its settings")
  }
  /** Until the polls tell whether it accepts writes. */
  const noticed = async (isReadOnly: boolean): Promise<void> => {
    for (const end = Date.now() + 30_000; store.isUnavailable() !== isReadOnly; await poll.poll())
      if (Date.now() > end) throw new Error("it is not noticed")
  }
  /** Polls for longer than a node without a heartbeat counts. */
  const outlast = async (): Promise<void> => {
    for (const endMs = time.nowMs + 2 * NODE_BOUNDS.deadAfterMs; time.nowMs < endMs; time.nowMs += 1000)
      await poll.poll()
  }
  return { context, url, lines, store, nodes, setReadOnly, noticed, outlast }
}

/** The code of the error of the database; "none": there is none. */
const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    error => (error instanceof StoreError ? error.code : "another"),
  )

test.skipIf(POSTGRES_PROGRAMS === null)(
  "a database that accepts no writes is one outage, in which no node is given up and commands that only read work",
  async () => {
    const { context, url, lines, store, nodes, setReadOnly, noticed, outlast } = await twoNodes()
    const up = () => createStorePart(store).samples?.()[0]
    await noticed(false)
    expect(up()).toEqual(["mailkind_database_up", 1])
    await setReadOnly(true)
    await noticed(true)
    await outlast()
    expect([up(), nodes.nodesCount()]).toEqual([["mailkind_database_up", 0], 2])
    const command = await openStore(context, "command")
    expect(await command.all("SELECT id FROM accounts")).toEqual([])
    expect(await failureOf(command.run("DELETE FROM accounts"))).toBe("standby")
    await command.close()
    expect(await failureOf(openStore(context))).toBe("standby")
    await setReadOnly(false)
    await noticed(false)
    expect(up()).toEqual(["mailkind_database_up", 1])
    const told = lines.filter(({ fault }) => fault === "standby")
    expect(told).toMatchObject([
      { msg: "the database accepts no writes", why: "default_transaction_read_only is on", remedy: expect.any(String) },
      { msg: "the database accepts writes again", where: expect.stringContaining("127.0.0.1") },
    ])
    // Who does not come back is given up now.
    await outlast()
    expect(nodes.nodesCount()).toBe(1)
    const older = await openPostgres(url, { clock: Date.now, setTimer: later })
    await older.run("DELETE FROM migrations WHERE number > 9")
    await older.close()
    await setReadOnly(true)
    expect(await failureOf(openStore(context, "command"))).toBe("standby")
  },
)
