import { expect } from "bun:test"
import type { Store } from "../../../../src/customers/store/core/store.ts"
import { migrate } from "../../../../src/customers/store/migrations/migrate.ts"
import { MIGRATIONS } from "../../../../src/customers/store/migrations/migrations.ts"
import { outcomeOf } from "../../../support/outcome-of.ts"
import { test } from "../../engines.ts"
import { openAt, ownStore, tempPlace } from "../../temp-store.ts"

/** What each released migration was when it was released. To change one is to break databases that have run it. */
const RELEASED = [
  "ab3763d6aed900f2",
  "4c2a6def232cc456",
  "079e9bc60559987d",
  "3088553413f8bb6f",
  "22d7ff8c42c94d91",
  "a96d032ecd43b7c3",
  "b98a419531050c36",
  "3428e70630860e12",
  "a30e1c805c5f3aa0",
  "feeaad02cdbf01bb",
  "91c9cc62a16f77a0",
  "c5e445f1db615f9f",
  "4b6f54e8bdc882d6",
  "f00b0f3bac2dbec2",
  "9133af5ab142bfec",
  "8380e5cd8796d8c2",
  "ab6429c6d96cf94b",
  "4db6fbcc784824e4",
  "7773d3bf6f5d930f",
  "e650e669560d27ac",
  "e21cc53ea69e243f",
  "b4b2de9f006c34c5",
  "8c63527b5d60f203",
  "cf93cd5f9ec173e8",
  "75ccf66071ae6de6",
  "0838fa7c53896f21",
  "801397ebe3ccb15b",
  "2dfeeb890fee4301",
  "7fffe5145f9ab744",
  "23b708b13e6ab23e",
  "b13ce729a41fb8dc",
  "c81779e5d65c72fc",
  "3fcd9b7f2c77f930",
  "c41854655413785a",
  "22012112b61aba19",
  "23c6f428418c05bb",
  "3eaece414f1c670b",
  "f0a61039c63889e2",
  "a38c0a857e95364b",
  "7d823f356efec574",
  "34faa15bc1055c3e",
  "6ce2169cb6d1062e",
]

const LAST = MIGRATIONS.length

/** Takes away what the latest migration made. */
async function dropLast(store: Store): Promise<void> {
  await store.run("ALTER TABLE nodes DROP COLUMN settings")
}

test("migrations are numbered from one without gaps, and a released one never changes", () => {
  expect(MIGRATIONS.map(migration => migration.number)).toEqual(MIGRATIONS.map((_, index) => index + 1))
  // The digests are of rows as the table of migrations names their columns.
  const digests = MIGRATIONS.map(({ number, description: makes, statements }) =>
    Bun.SHA256.hash(JSON.stringify({ number, makes, statements }), "hex").slice(0, 16),
  )
  expect(digests).toEqual(RELEASED)
})

test("each migration is recorded once with its time, however often the store is opened", async () => {
  const path = tempPlace()
  const first = await openAt(path, () => 1_000)
  await first.close()
  const store = await openAt(path, () => 2_000)
  const rows = await store.all<unknown>("SELECT number, makes, ran_at_ms FROM migrations ORDER BY number")
  expect(rows).toEqual(MIGRATIONS.map(({ number, description }) => ({ number, makes: description, ran_at_ms: 1_000 })))
  await store.close()
})

test("an older store runs only the missing migrations and keeps its rows", async () => {
  const path = tempPlace()
  const store = await ownStore(path)
  await store.run("INSERT INTO accounts (id, email, tier, created_at_ms) VALUES ('acc_1', 'a@b.c', 0, 0)")
  await dropLast(store)
  await store.run("DELETE FROM migrations WHERE number = $1", [LAST])
  await migrate(store, () => 9_000, path)
  const ran = await store.one<unknown>("SELECT ran_at_ms FROM migrations WHERE number = $1", [LAST])
  expect(ran).toEqual({ ran_at_ms: 9_000 })
  expect(await store.all("SELECT id FROM accounts")).toHaveLength(1)
})

test("a migration that fails is rolled back, and runs again at the next start", async () => {
  const path = tempPlace()
  const store = await ownStore(path)
  await store.run("DELETE FROM migrations WHERE number = $1", [LAST])
  expect(await outcomeOf(migrate(store, () => 1, path))).toThrow(/already exists|duplicate column/)
  expect(await store.all("SELECT number FROM migrations WHERE number = $1", [LAST])).toEqual([])
  await dropLast(store)
  const again = await openAt(path, () => 1)
  await again.close()
})

test("a migration that another process applied meanwhile is not applied again", async () => {
  const path = tempPlace()
  const store = await ownStore(path)
  const late: Store = { ...store, one: async <Row>() => ({ head: 0 }) as Row }
  await migrate(late, () => 9_000, path)
  expect(await store.all("SELECT number FROM migrations WHERE ran_at_ms = 9000")).toEqual([])
})

test("a store of a newer version is refused with both numbers, and is not changed", async () => {
  const path = tempPlace()
  const store = await ownStore(path)
  await store.run("INSERT INTO migrations (number, makes, ran_at_ms) VALUES (999, 'the future', 1)")
  const opening = openAt(path, () => 1)
  expect(await opening.catch((error: unknown) => error)).toMatchObject({
    code: "newer",
    remedy: expect.stringContaining("later"),
  })
  expect(await outcomeOf(opening)).toThrow(`have version 999, and this program knows ${MIGRATIONS.length}`)
  expect(await store.all("SELECT number FROM migrations")).toHaveLength(MIGRATIONS.length + 1)
})
