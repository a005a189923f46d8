import { expect, setDefaultTimeout, test } from "bun:test"
import { checkUnderKills } from "./killed-server.ts"

setDefaultTimeout(900_000)

/** Between two kills the list gets further than the process before had come, which is some 8,000 rows past what it had charged. */
const ROWS = 400_000

test("twelve kills of the server leave the results of a list as they are, and each row is charged once", async () => {
  const { killsCount, ...report } = await checkUnderKills(ROWS, 12)
  expect(killsCount).toBeGreaterThanOrEqual(10)
  expect(report).toMatchObject({
    state: "done",
    rows: { total: ROWS, done: ROWS },
    unitsUsed: ROWS,
    isSame: true,
    charged: { used: 2 * ROWS, leased: 2 * ROWS },
  })
})
