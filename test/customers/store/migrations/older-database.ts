import { Database } from "bun:sqlite"
import { MIGRATIONS } from "../../../../src/customers/store/migrations/migrations.ts"
import { tempPath } from "../../temp-store.ts"

/** A database as the version left it that knew `head` migrations, with so many accounts. */
export function createOlderDatabase(head: number, accountsCount = 1): string {
  const path = tempPath("mailkind.sqlite")
  const database = new Database(path)
  database.run("PRAGMA synchronous = OFF")
  database.run("CREATE TABLE migrations (number BIGINT PRIMARY KEY, makes TEXT NOT NULL, ran_at_ms BIGINT NOT NULL)")
  for (const { number, description, statements } of MIGRATIONS.slice(0, head)) {
    for (const statement of statements) database.run(statement)
    database.query("INSERT INTO migrations VALUES (?, ?, 5)").run(number, description)
  }
  database.transaction(() => {
    for (let at = 0; at < accountsCount; at++)
      database.run(`INSERT INTO accounts (id, email, tier, created_at_ms) VALUES ('acc_${at}', 'a${at}@b.c', 0, 0)`)
  })()
  database.close()
  return path
}
