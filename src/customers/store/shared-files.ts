import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { assert, StartupError } from "../../base/errors.ts"
import { sha256Hex } from "../../base/fingerprint.ts"
import type { Clock, Random } from "../../base/outside-world.ts"
import type { RunInterval } from "../../base/time.ts"
import { randomBase62 } from "./core/id.ts"
import type { OpenStore, Store } from "./core/store.ts"

/** How many characters of a file one row has: far less than a statement can carry in its time. */
const PART_LENGTH = 256 * 1024
/** The largest file, and the most parts of one. Lists have 5 MB, which are 12 parts. */
const SHARED_FILE_BYTES_MAX = 64 * 1_048_576
const PARTS_MAX = 256
/** A file that is replaced while it is read is read once more. */
const READS_MAX = 2

/**
 * How long a process that is silent holds the files, and how often it renews that. Building a pack keeps a process silent for some ten seconds
 * of processor time.
 */
export const LEASE_BOUNDS = { heldMs: 120_000, renewMs: 20_000 } as const

/** The column by which a poll learns that other lists are in force. */
export const LISTS_MARK_SQL = "(SELECT mark FROM lists_head WHERE singleton = 1)"

/** A file, or why there is none to use: it is not there, or not what was written. */
export type SharedFile =
  | { readonly kind: "read"; readonly bytes: Uint8Array<ArrayBuffer>; readonly sha256: string }
  | { readonly kind: "absent" }
  | { readonly kind: "damaged" }

/** What is stored of a file besides its bytes. */
export type SharedFileInfo = { readonly name: string; readonly sha256: string; readonly writtenAtMs: number }

type FileRow = SharedFileInfo & { readonly bytes: number; readonly parts: number }

const unzip = promisify(gunzip)
const zip = promisify(gzip)

/**
 * Reads a file, part by part, and compares it with its checksum. A part is not read beyond the length of one, and what is stored compressed is never
 * unpacked beyond its size.
 */
export async function readSharedFile(store: Store, name: string): Promise<SharedFile> {
  let isThere = false
  for (let read = 0; read < READS_MAX; read++) {
    const row = await store.one<FileRow>(
      `SELECT name, sha256, bytes, parts, written_at_ms AS "writtenAtMs" FROM lists_files WHERE name = $1`,
      [name],
    )
    isThere = row !== null
    const bytes = row === null || row.parts > PARTS_MAX ? null : await readParts(store, row)
    if (row !== null && bytes !== null) return { kind: "read", bytes, sha256: row.sha256 }
  }
  return { kind: isThere ? "damaged" : "absent" }
}

async function readParts(
  store: Store,
  { name, parts, bytes, sha256 }: FileRow,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const texts: string[] = []
  for (let part = 0; part < parts; part++) {
    const sql = `SELECT data FROM lists_file_parts WHERE name = $1 AND part = $2 AND length(data) <= ${PART_LENGTH}`
    texts.push((await store.one<{ readonly data: string }>(sql, [name, part]))?.data ?? "")
  }
  try {
    const maxOutputLength = Math.min(Math.max(bytes, 1), SHARED_FILE_BYTES_MAX)
    const unpacked = await unzip(Buffer.from(texts.join(""), "base64"), { maxOutputLength })
    return sha256Hex(unpacked) === sha256 ? new Uint8Array(unpacked) : null
  } catch {
    // It is not what was written.
    return null
  }
}

/** All files, by name. */
export const listSharedFiles = (store: Store): Promise<readonly SharedFileInfo[]> =>
  store.all<SharedFileInfo>(`SELECT name, sha256, written_at_ms AS "writtenAtMs" FROM lists_files ORDER BY name`)

/** Which lists are in force, as a mark that changes with them; null: nobody has shared any. */
export async function readListsMark(store: Store): Promise<string | null> {
  const row = await store.one<{ readonly mark: string | null }>(`SELECT ${LISTS_MARK_SQL} AS mark`)
  return row?.mark || null
}

/** Changes the files while this process holds them. Each change is a transaction, and fails with a `StartupError` once another process holds them. */
export type SharedFilesWriter = {
  /** `isAnnounced`: all nodes look what is in force once the file is written. */
  readonly write: (name: string, bytes: Uint8Array, isAnnounced: boolean) => Promise<void>
  readonly remove: (name: string) => Promise<void>
}

type LeaseDeps = { readonly clock: Clock; readonly random: Random; readonly runInterval: RunInterval }

/**
 * Runs `work` while no other process of any node changes the shared files; null: another one does. A process that dies holds them for
 * `LEASE_BOUNDS.heldMs` more, by the clock of the database, and no longer if that was ahead meanwhile and was set back.
 */
export async function withSharedFiles<T>(
  store: OpenStore,
  { clock, random, runInterval }: LeaseDeps,
  work: (writer: SharedFilesWriter) => Promise<T>,
): Promise<T | null> {
  const holder = randomBase62(random, 20)
  await store.run("INSERT INTO lists_head (singleton, mark, held_until_ms) VALUES (1, '', 0) ON CONFLICT DO NOTHING")
  const now = `COALESCE(${store.clockSql}, CAST($1 AS BIGINT))`
  const renew = (on: Store): Promise<number> =>
    on.run(
      `UPDATE lists_head SET held_until_ms = ${now} + ${LEASE_BOUNDS.heldMs} WHERE singleton = 1 AND holder = $2`,
      [clock(), holder],
    )
  // Twice, since another process may have begun a moment later, and taken them a moment earlier.
  const taken = await store.run(
    `UPDATE lists_head SET holder = $2, held_until_ms = ${now} + ${LEASE_BOUNDS.heldMs}
     WHERE singleton = 1 AND (holder IS NULL OR held_until_ms NOT BETWEEN ${now} AND ${now} + ${2 * LEASE_BOUNDS.heldMs})`,
    [clock(), holder],
  )
  if (taken === 0) return null
  const change = <R>(apply: (transaction: Store) => Promise<R>): Promise<R> =>
    store.transaction(async transaction => {
      if ((await renew(transaction)) === 0) throw new StartupError(LEASE_LOST)
      return await apply(transaction)
    })
  // A renewal that fails costs nothing: the next change renews too, or fails.
  const stopRenewing = runInterval(LEASE_BOUNDS.renewMs, () => void renew(store).catch(() => undefined))
  try {
    return await work({
      write: async (name, bytes, isAnnounced) => {
        const file = await storedForm(name, bytes, clock())
        await change(async on => {
          await insertFile(on, file)
          if (isAnnounced) await on.run("UPDATE lists_head SET mark = $1", [randomBase62(random, 20)])
        })
      },
      remove: name => change(async on => void (await on.run("DELETE FROM lists_files WHERE name = $1", [name]))),
    })
  } finally {
    stopRenewing()
    const end = "UPDATE lists_head SET holder = NULL WHERE singleton = 1 AND holder = $1"
    await store.run(end, [holder]).catch(() => undefined)
  }
}

const LEASE_LOST =
  "Another process has begun to change the lists of all nodes, because this one was silent for too long. It changed nothing that is in use."

type StoredForm = FileRow & { readonly data: string }

async function storedForm(name: string, bytes: Uint8Array, writtenAtMs: number): Promise<StoredForm> {
  assert(bytes.length <= SHARED_FILE_BYTES_MAX, "a shared file is not larger than any list")
  const data = (await zip(bytes)).toString("base64")
  const parts = Math.ceil(data.length / PART_LENGTH)
  assert(parts <= PARTS_MAX, "a shared file has few parts")
  return { name, sha256: sha256Hex(bytes), bytes: bytes.length, parts, writtenAtMs, data }
}

async function insertFile(on: Store, { name, sha256, bytes, parts, writtenAtMs, data }: StoredForm): Promise<void> {
  await on.run("DELETE FROM lists_files WHERE name = $1", [name])
  await on.run("INSERT INTO lists_files (name, sha256, bytes, parts, written_at_ms) VALUES ($1, $2, $3, $4, $5)", [
    ...[name, sha256, bytes, parts, writtenAtMs],
  ])
  for (let part = 0; part < parts; part++)
    await on.run("INSERT INTO lists_file_parts (name, part, data) VALUES ($1, $2, $3)", [
      ...[name, part, data.slice(part * PART_LENGTH, (part + 1) * PART_LENGTH)],
    ])
}
