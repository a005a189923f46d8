import { Database } from "bun:sqlite"
import { sanitizeText } from "../../../base/untrusted-text.ts"
import { StoreError } from "../core/store-error.ts"
import { CREATE_MIGRATIONS_TABLE, MIGRATIONS, SCHEMA_VERSION } from "../migrations/migrations.ts"

/*
 * A database file can contain SQL that SQLite runs by itself: triggers, views, generated columns, indexes on expressions, checks. A file
 * that others wrote must not run any of it, so its schema is compared, object by object, with the one that our migrations make.
 */

/** A table, an index, a trigger or a view. `sql` is null for the index of a constraint. */
export type SchemaObject = {
  readonly type: string | null
  readonly name: string | null
  readonly table: string | null
  readonly sql: string | null
}

/** Tables that SQLite creates for ANALYZE, and those that Litestream creates to replicate the database (DECISIONS 176). */
const ADDED_TABLES: Readonly<Record<string, string>> = {
  sqlite_stat1: "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
  sqlite_stat4: "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
  _litestream_seq: "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
  _litestream_lock: "CREATE TABLE _litestream_lock (id INTEGER)",
}

/** Whether tools of SQLite create a table of this name beside ours. */
export const isAddedTable = (name: string): boolean => Object.hasOwn(ADDED_TABLES, name)

/** How much of a name or a value of the file a message repeats. */
const NAME_CHARACTERS_MAX = 60

/**
 * The number of the latest migration of the database; 0 for an empty one. Throws a `StoreError`: `foreign_database` when it has no table
 * of migrations, and `altered` when its schema is not exactly what our migrations up to this one make. The schema of a newer version
 * is not compared, since nobody here knows it. Runs nothing that the file contains.
 */
export function requireOwnSchema(database: Database, path: string): number {
  const { objects, schemaVersion } = readSchema(database, path)
  const difference = objects.length === 0 ? null : schemaDifference(objects, schemaVersion)
  if (difference !== null) throw new StoreError("altered", path, difference)
  return schemaVersion
}

function readSchema(database: Database, path: string) {
  restrictSchema(database)
  // One transaction, since another process may be migrating.
  database.run("BEGIN")
  try {
    const objects = readSchemaObjects(database)
    return { objects, schemaVersion: objects.length === 0 ? 0 : readOwnSchemaVersion(database, objects, path) }
  } finally {
    // After some errors SQLite rolls back by itself.
    if (database.inTransaction) database.run("ROLLBACK")
  }
}

/** Denies the schema of a file every function with side effects. SQLite trusts it otherwise (sqlite.org/security.html). */
export const restrictSchema = (database: Database): void => void database.run("PRAGMA trusted_schema = OFF")

/** Reads the schema as data, without tables that tools of SQLite have added: no statement of it runs. */
export function readSchemaObjects(database: Database): readonly SchemaObject[] {
  const statement = database.prepare<SchemaObject, []>(
    `SELECT CAST(type AS TEXT) AS type, CAST(name AS TEXT) AS name, CAST(tbl_name AS TEXT) AS "table",
       CAST(sql AS TEXT) AS sql FROM sqlite_master`,
  )
  try {
    return statement.all().filter(({ type, name, sql }) => type !== "table" || sql !== ADDED_TABLES[name ?? ""])
  } finally {
    statement.finalize()
  }
}

/** The number of the latest migration, read only when the table of migrations is ours. Throws a `StoreError` as `requireOwnSchema` does. */
export function readOwnSchemaVersion(database: Database, objects: readonly SchemaObject[], path: string): number {
  const isOfMigrations = ({ table }: SchemaObject): boolean => table?.toLowerCase() === "migrations"
  if (!objects.some(isOfMigrations)) {
    const tablesCount = objects.filter(({ type }) => type === "table").length
    throw new StoreError("foreign_database", path, `it has ${tablesCount} tables and no table of migrations`)
  }
  const difference = findDifference(objects.filter(isOfMigrations), expectedObjects(0))
  if (difference !== null) throw new StoreError("altered", path, difference)
  const statement = database.prepare<{ head: unknown }, []>("SELECT COALESCE(MAX(number), 0) AS head FROM migrations")
  try {
    const head = statement.get()?.head
    if (typeof head === "number" && Number.isSafeInteger(head) && head >= 0) return head
    throw new StoreError("altered", path, "its table of migrations names one that is no number")
  } finally {
    statement.finalize()
  }
}

/** What differs from the schema that our migrations up to `schemaVersion` make; null when nothing does. */
export const schemaDifference = (objects: readonly SchemaObject[], schemaVersion: number): string | null =>
  schemaVersion > SCHEMA_VERSION ? null : findDifference(objects, expectedObjects(schemaVersion))

function findDifference(objects: readonly SchemaObject[], expected: ReadonlyMap<string, string>): string | null {
  const found = new Set<string>()
  for (const object of objects) {
    const key = objectKey(object)
    if (!expected.has(key)) return `it has ${describeObject(object)}, which mailkind did not create`
    if (expected.get(key) !== normalizeSql(object.sql)) return `${describeObject(object)} has another definition`
    found.add(key)
  }
  const missing = [...expected.keys()].find(key => !found.has(key))
  return missing === undefined ? null : `it lacks the ${missing}`
}

const objectKey = ({ type, name, table }: SchemaObject): string => `${type} ${name} of ${table}`

function describeObject({ type, name, table }: SchemaObject): string {
  const [kind, own, of] = [type, name, table].map(text => sanitizeText(text, NAME_CHARACTERS_MAX) ?? "without a name")
  return own === of ? `the ${kind} ${own}` : `the ${kind} ${own} of ${of}`
}

/** Quoted texts, which stay as they are; white space with the punctuation beside it. */
const SQL_PARTS = /('(?:[^']|'')*'|"(?:[^"]|"")*")|\s*([(),=])\s*|\s+/g

/** The statement without differences in white space. */
const normalizeSql = (sql: string | null): string =>
  (sql ?? "").replace(SQL_PARTS, (_, quoted?: string, mark?: string) => quoted ?? mark ?? " ").trim()

const expectedByVersion = new Map<number, ReadonlyMap<string, string>>()

/** The normalized SQL of each object of a new database with the migrations up to `schemaVersion`. */
function expectedObjects(schemaVersion: number): ReadonlyMap<string, string> {
  const cached = expectedByVersion.get(schemaVersion)
  if (cached !== undefined) return cached
  const objects = withNewDatabase(schemaVersion, readSchemaObjects)
  const expected = new Map(objects.map(object => [objectKey(object), normalizeSql(object.sql)]))
  expectedByVersion.set(schemaVersion, expected)
  return expected
}

/** Calls `work` with a new database in memory that has the migrations up to `schemaVersion`. */
export function withNewDatabase<T>(schemaVersion: number, work: (database: Database) => T): T {
  const database = new Database(":memory:")
  try {
    database.run(CREATE_MIGRATIONS_TABLE)
    for (const { number, statements } of MIGRATIONS)
      if (number <= schemaVersion) for (const statement of statements) database.run(statement)
    return work(database)
  } finally {
    database.close()
  }
}
