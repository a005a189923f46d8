import { backUpDatabase } from "../../../../src/customers/store/backup/backup.ts"
import { restoreDatabase } from "../../../../src/customers/store/backup/restore.ts"
import { acquireSharedLock } from "../../../../src/customers/store/sqlite/database-lock.ts"
import { withSqliteReader } from "../../../../src/customers/store/sqlite/sqlite-reader.ts"
import { openSqlite } from "../../../../src/customers/store/sqlite-store.ts"

/*
 * A process that is killed at a step of a restore, that backs a database up, that writes until it is killed, or that holds a database until then. It
 * prints a line when it is at it.
 */
const [what = "", path = "", from = "", step = ""] = process.argv.slice(2)

if (what === "restore") {
  restoreDatabase(from, path, "then", {
    onStep: reached => {
      if (reached === step) process.kill(process.pid, "SIGKILL")
    },
  })
}
if (what === "backup") backUpDatabase(path, from, { mustNotExist: false })
if (what === "count") {
  const count = withSqliteReader(
    path,
    look => look.all<{ count: number }>("SELECT COUNT(*) AS count FROM accounts")[0]?.count,
  )
  process.stdout.write(`${count}\n`)
}
if (what === "open") await (await openSqlite(path, () => 1)).close()
if (what === "hold") {
  acquireSharedLock(path)
  process.stdout.write("holds\n")
  setInterval(() => undefined, 1000)
}
if (what === "write") {
  const store = await openSqlite(path, () => 1)
  await store.run("CREATE TABLE IF NOT EXISTS pairs (id BIGINT PRIMARY KEY, side TEXT)")
  for (let id = 0; ; id += 2) {
    await store.transaction(async inner => {
      await inner.run("INSERT INTO pairs VALUES ($1, 'left')", [id])
      await inner.run("INSERT INTO pairs VALUES ($1, 'right')", [id + 1])
    })
    if (id === 100) process.stdout.write("writes\n")
  }
}
