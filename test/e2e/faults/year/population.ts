import { Database } from "bun:sqlite"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { generateKey, hashKey } from "../../../../src/customers/keys/key-format.ts"
import { newId } from "../../../../src/customers/store/core/id.ts"
import type { TestServer } from "../../../support/test-server.ts"

/** As many rows as one import takes. */
const ROWS_AN_IMPORT = 2000
/** Each so many accounts one has a publishable key too. */
const PUBLISHABLE_EVERY = 10
export const ORIGIN = "https://shop.example"

/** The keys of all accounts. */
export type Population = { readonly secret: readonly string[]; readonly publishable: readonly string[] }

/** Creates accounts by the command that imports them, and a key of each. The server must not run: a command for each key would take an hour. */
export async function populate(server: TestServer, accounts: number, nowMs: number): Promise<Population> {
  const file = join(server.directory, "accounts.csv")
  for (let from = 0; from < accounts; from += ROWS_AN_IMPORT) {
    const count = Math.min(ROWS_AN_IMPORT, accounts - from)
    const emails = Array.from({ length: count }, (_, at) => `person${from + at}@firm${from + at}-year.com`)
    writeFileSync(file, `email\n${emails.join("\n")}\n`)
    await server.run("account", "import", file)
  }
  return insertKeys(server.database, nowMs)
}

function insertKeys(path: string, nowMs: number): Population {
  using database = new Database(path, { readwrite: true, create: false })
  const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
  const insert = database.prepare(
    `INSERT INTO keys (id, account_id, kind, hash, last4, name, origins, created_at_ms, public_text)
     VALUES (?, ?, ?, ?, ?, 'key', ?, ?, ?)`,
  )
  const insertOrigin = database.prepare("INSERT INTO key_origins (origin, key_id) VALUES (?, ?)")
  const create = (accountId: string, kind: "secret" | "publishable"): string => {
    const [id, text, isPublic] = [newId("key", random), generateKey(kind, random), kind === "publishable"]
    const origins = isPublic ? ORIGIN : ""
    insert.run(id, accountId, kind, hashKey(text), text.slice(-4), origins, nowMs, isPublic ? text : null)
    if (isPublic) insertOrigin.run(ORIGIN, id)
    return text
  }
  const ids = database.query<{ id: string }, []>("SELECT id FROM accounts WHERE email LIKE 'person%'").all()
  return database.transaction(() => ({
    secret: ids.map(({ id }) => create(id, "secret")),
    publishable: ids.filter((_, at) => at % PUBLISHABLE_EVERY === 0).map(({ id }) => create(id, "publishable")),
  }))()
}
