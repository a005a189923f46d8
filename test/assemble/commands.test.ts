import { expect } from "bun:test"
import { dirname } from "node:path"
import { createCommandDeps } from "../../src/assemble/commands.ts"
import { createSystem } from "../../src/system/system.ts"
import { engineNow, test } from "../customers/engines.ts"
import { openAt, tempPath, tempPlace } from "../customers/temp-store.ts"

test("a command has the time of the database, whatever the clock of its host says; SQLite has none of its own", async () => {
  const isFile = engineNow() === "sqlite"
  const place = isFile ? tempPath() : tempPlace()
  if (!isFile) await (await openAt(place, Date.now)).close()
  const environment = {
    MAILKIND_DATA_DIR: dirname(tempPath()),
    ...(isFile ? {} : { MAILKIND_DATABASE_URL: place }),
  }
  const deps = createCommandDeps({ ...createSystem(), environment, clock: () => 1000 })
  let atMs = 0
  await deps.withCustomers(async ({ changes }) => {
    atMs = changes.clock()
  })
  expect(Math.abs(atMs - (isFile ? 1000 : Date.now()))).toBeLessThan(60_000)
})
