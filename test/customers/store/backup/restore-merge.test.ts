import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { backUpDatabase } from "../../../../src/customers/store/backup/backup.ts"
import { mergeFromPrevious } from "../../../../src/customers/store/backup/restore.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"
import { stoppedClock } from "../../../support/clock.ts"
import { tempPath } from "../../temp-store.ts"

/** A database and a copy of it. */
async function twins() {
  const [old, copy] = [tempPath(), tempPath()]
  await (await openSqlite(old, stoppedClock())).close()
  backUpDatabase(old, copy, { mustNotExist: true })
  return { old, copy }
}

test("a previous database that another program locks fails the restore, so that no revocation is lost", async () => {
  const { old, copy } = await twins()
  using other = new Database(old)
  other.run("PRAGMA journal_mode = DELETE")
  other.run("BEGIN EXCLUSIVE")
  expect(() => mergeFromPrevious(copy, old)).toThrow(expect.objectContaining({ code: "busy" }))
  other.run("ROLLBACK")
  expect(mergeFromPrevious(copy, old)).toMatchObject({ revokedCount: 0 })
})

test("nothing is merged from a previous database that cannot be read", async () => {
  const { old, copy } = await twins()
  writeFileSync(old, "no database at all, but long enough to be looked at as one".repeat(100))
  expect(mergeFromPrevious(copy, old)).toBeNull()
})

test.each([null, "backup"])(
  "the folder with the lists stays that of the server, whatever mark the backup has (%p)",
  async mark => {
    const { old, copy } = await twins()
    const markOf = (path: string) => new Database(path).query("SELECT mark FROM jobs_folder").values().flat()
    using previous = new Database(old)
    previous.run("INSERT INTO jobs_folder (singleton, mark) VALUES (1, 'server')")
    if (mark !== null) new Database(copy).run("INSERT INTO jobs_folder (singleton, mark) VALUES (1, ?)", [mark])
    mergeFromPrevious(copy, old)
    expect(markOf(copy)).toEqual(["server"])
    // A previous server without a folder takes that of the backup.
    previous.run("DELETE FROM jobs_folder")
    mergeFromPrevious(copy, old)
    expect(markOf(copy)).toEqual(["server"])
  },
)
