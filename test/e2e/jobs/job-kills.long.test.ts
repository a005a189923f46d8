import { expect, setDefaultTimeout, test } from "bun:test"
import { checkUnderKills } from "./killed-server.ts"

setDefaultTimeout(900_000)

const ROWS = 400_000

test("fifty kills of the server leave the results of a list as they are, and each row is charged once", async () => {
  const { killsCount, ...report } = await checkUnderKills(ROWS, 50)
  expect(killsCount).toBeGreaterThanOrEqual(45)
  expect(report).toMatchObject({
    state: "done",
    rows: { total: ROWS, done: ROWS },
    unitsUsed: ROWS,
    isSame: true,
    charged: { used: 2 * ROWS, leased: 2 * ROWS },
  })
})
