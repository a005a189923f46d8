import { expect, setDefaultTimeout, test } from "bun:test"
import { rawClient } from "../../support/raw-client.ts"
import { checkUnderKills, killedServer, listOf } from "./killed-server.ts"

setDefaultTimeout(900_000)

/** Between two kills the list gets further than the process before had come, which is some 8,000 rows past what it had charged. */
const ROWS = 120_000

test("eight kills of the server leave the results of a list as they are, and each row is charged once", async () => {
  const { killsCount, ...report } = await checkUnderKills(ROWS, 8)
  expect(killsCount).toBeGreaterThanOrEqual(6)
  expect(report).toMatchObject({
    state: "done",
    rows: { total: ROWS, done: ROWS, unreadable: 0 },
    unitsUsed: ROWS,
    isSame: true,
    charged: { used: 2 * ROWS, leased: 2 * ROWS },
  })
})

test("of an upload, nothing is left after the server was killed, or the connection was cut, at any tenth of it", async () => {
  const server = await killedServer()
  let program = await server.start()
  const list = listOf(5000)
  for (const [tenth, how] of [1, 3, 5, 7, 9].flatMap(
    tenth =>
      [
        [tenth, "length"],
        [tenth, "chunked"],
      ] as const,
  )) {
    const client = await rawClient(Number(new URL(server.state.url).port))
    const part = list.slice(0, Math.floor((list.length * tenth) / 10))
    const head = `POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nAuthorization: Bearer ${server.state.key}\r\n`
    client.socket.write(
      how === "length"
        ? `${head}Content-Length: ${list.length}\r\n\r\n${part}`
        : `${head}Transfer-Encoding: chunked\r\n\r\n${part.length.toString(16)}\r\n${part}\r\n`,
    )
    while ((await server.jobs()).length === 0);
    if (tenth === 5) {
      await program.kill()
      program = await server.start()
    }
    client.close()
    while ((await server.jobs()).length > 0);
    while (server.files().length > 0) await server.jobs()
  }
  expect([await server.jobs(), server.files()]).toEqual([[], []])
  expect(await server.charged()).toEqual({ used: 0, leased: 0 })
  await program.stop()
})
