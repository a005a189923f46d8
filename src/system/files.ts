import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from "node:fs"
import { link, open, readdir, readFile, rename, rm, statfs } from "node:fs/promises"
import { dirname, join, relative, resolve } from "node:path"
import { type DiskSpace, toDiskSpace } from "../base/disk-space.ts"
import { isSystemError, withPath } from "../base/errors.ts"
import { makeFolder } from "../base/file-owner.ts"
import { GZIP_TYPE } from "../base/gzip.ts"
import { compareText, decodeUtf8 } from "../base/text.ts"
import type { ReadParts, ReadTexts, TextFile } from "../base/text-file.ts"
import type { Folder } from "../check/refresh/refresh-state.ts"

/** The checkout that this process runs from, read as text. Paths are relative to its root. Throws if a file is missing. */
export type CheckoutFiles = {
  readonly read: (path: string) => string
  /** The paths of all files below a folder, relative to it. */
  readonly list: (folder: string) => readonly string[]
  /** The names of the entries of a folder, not recursive. */
  readonly entryNames: (folder: string) => readonly string[]
  readonly write: (path: string, bytes: Uint8Array | string) => Promise<void>
  readonly exists: (path: string) => boolean
}

const SMALL_FILE_BYTES_MAX = 1_048_576

/** The file system. */
export type SystemFiles = {
  /**
   * A file that is embedded in the executable, or its counterpart in the checkout; `null` if it is missing. The type of a
   * compressed one is `GZIP_TYPE`.
   */
  readonly bundled: (name: BundledFileName) => Blob | null
  /** Whether this process runs the executable rather than a checkout. */
  readonly isCompiled: boolean
  /** The root directory of the checkout. */
  readonly root: string
  /** The text of a small file, such as one with settings, and whether all users can read it; or why it cannot be read. */
  readonly readSmall: (path: string) => TextFile
  /** The same for what was read before: a pipe has its text once, and would be waited for. */
  readonly readSmallAgain: (path: string) => TextFile
  /** The text of a file, or of all files of a directory one after the other, without hidden ones and folders. */
  readonly readTexts: ReadTexts
  /** The bytes of a file as a stream. */
  readonly readParts: ReadParts
  /** The bytes of a file; `null` if there is none. */
  readonly read: (path: string) => Promise<Uint8Array | null>
  /** The modification time in milliseconds since the Unix epoch; `null` if the file is missing or not accessible. */
  readonly modifiedAtMs: (path: string) => number | null
  /** The room on the disk that has a directory, or will have it; `null` if the system does not tell. */
  readonly diskSpace: (path: string) => Promise<Pick<DiskSpace, "freeBytes" | "sizeBytes"> | null>
  /** A folder, which is created when its first file is written. */
  readonly folder: (path: string) => Folder
  /** Replaces a file so that `path` is always either the old file or the new one. */
  readonly writeAtomic: (path: string, bytes: Uint8Array | string) => Promise<void>
}

/**
 * Files that are embedded in the executable, with their paths in the checkout. They end in `.asset` where the bundler would
 * otherwise compile them as a module.
 */
export const BUNDLED_FILES = {
  "lists.pack": "data/build/lists.pack",
  "sources.stock": "data/build/sources.stock",
  "mailkind-client.tgz.asset": "data/build/mailkind-client.tgz",
  "manifest.json.asset": "data/manifest.json",
  "inventory.json.asset": "data/build/inventory.json.asset",
  "sbom.json.asset": "data/build/sbom.json.asset",
  "reference.js.asset": "src/http/site/browser/reference.js",
  "overview.js.asset": "src/http/site/browser/overview.js",
  "live-requests.js.asset": "src/http/site/browser/live-requests.js",
  "list-form.js.asset": "src/http/site/browser/list-form.js",
  "list-progress.js.asset": "src/http/site/browser/list-progress.js",
  "altcha.js.asset": "node_modules/altcha/dist/external/altcha.min.js",
  "altcha.css.asset": "node_modules/altcha/dist/external/altcha.css",
  "altcha-worker.js.asset": "node_modules/altcha/dist/workers/pbkdf2.js",
  "pass.js.asset": "src/http/site/browser/pass.js",
  "grafana-dashboard.json.asset": "data/grafana/mailkind.json",
  "prometheus-alerts.yml.asset": "data/grafana/alerts.yml",
  "mailkind.service.asset": "data/deploy/mailkind@.service",
  "mailkind.env.asset": "data/deploy/mailkind.env",
  "Dockerfile.asset": "data/deploy/Dockerfile",
  "nginx.conf.asset": "data/deploy/nginx.conf",
  "Caddyfile.asset": "data/deploy/Caddyfile",
  "haproxy.cfg.asset": "data/deploy/haproxy.cfg",
  "pgbouncer.ini.asset": "data/deploy/pgbouncer.ini",
} as const satisfies Record<string, string>
export type BundledFileName = keyof typeof BUNDLED_FILES

/** Files that the executable holds compressed, with gzip, which browsers can unpack themselves. All others are small, or compressed already. */
export const COMPRESSED_FILES: ReadonlySet<string> = new Set([
  "lists.pack",
  "inventory.json.asset",
  "sbom.json.asset",
] satisfies BundledFileName[])

/** The real file system. */
export function createFiles(): SystemFiles {
  const embedded = new Map(Bun.embeddedFiles.map(file => [embeddedName(file), file] as const))
  const root = join(import.meta.dir, "../..")
  return {
    isCompiled: embedded.size > 0,
    root,
    bundled: name => {
      // The executable must not fall back to files of the machine on which it was built.
      if (embedded.size > 0) return embeddedFile(embedded.get(name), name)
      const path = join(root, BUNDLED_FILES[name])
      return existsSync(path) ? Bun.file(path) : null
    },
    readSmall: path => readText(path, SMALL_FILE_BYTES_MAX),
    readSmallAgain: path =>
      isReadOnce(path)
        ? { kind: "unreadable", why: "it is a pipe, which can be read once" }
        : readText(path, SMALL_FILE_BYTES_MAX),
    readTexts,
    readParts,
    read: async path => ((await Bun.file(path).exists()) ? await Bun.file(path).bytes() : null),
    modifiedAtMs,
    diskSpace,
    folder: createFolder,
    writeAtomic: writeFileAtomic,
  }
}

function isReadOnce(path: string): boolean {
  try {
    return statSync(path).isFIFO()
  } catch (error) {
    // Reading it says what is wrong.
    if (isSystemError(error)) return false
    throw error
  }
}

/** A pipe could not be left once it is waited for, so it is no file here. */
async function* readParts(path: string): AsyncGenerator<Uint8Array> {
  if (!statSync(path).isFile()) throw new Error("it is no regular file")
  yield* Bun.file(path).stream()
}

/** The files of a directory in the order of their names. */
function readTexts(path: string, bytesMax: number): TextFile {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return readText(path, bytesMax)
    return readDirectory(path, bytesMax)
  } catch (error) {
    return unreadable(error)
  }
}

function readDirectory(path: string, bytesMax: number): TextFile {
  const texts: string[] = []
  let bytesLeft = bytesMax
  for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => compareText(a.name, b.name))) {
    if (entry.isDirectory() || entry.name.startsWith(".")) continue
    const file = readText(join(path, entry.name), bytesLeft)
    if (file.kind === "unreadable") return { kind: "unreadable", why: `${entry.name}: ${file.why}` }
    texts.push(file.text)
    bytesLeft -= Buffer.byteLength(file.text)
  }
  return { kind: "read", text: texts.join("\n"), isReadableByAll: false }
}

/** What an error of the system says of a file. Throws every other one. */
function unreadable(error: unknown): TextFile {
  if (isSystemError(error)) return { kind: "unreadable", why: READ_ERRORS[String(error.code)] ?? String(error.code) }
  throw error
}

function readText(path: string, bytesMax: number): TextFile {
  let descriptor: number | null = null
  try {
    descriptor = openSync(path, "r")
    const { mode } = fstatSync(descriptor)
    const bytes = readUpTo(descriptor, bytesMax)
    const text = bytes === null ? null : decodeUtf8(bytes)
    if (text !== null) return { kind: "read", text, isReadableByAll: (mode & OTHERS_READ) !== 0 }
    return { kind: "unreadable", why: bytes === null ? `it has more than ${bytesMax} bytes` : "it is not UTF-8" }
  } catch (error) {
    return unreadable(error)
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

/** The bytes of a file or pipe to its end; null: it has more. */
function readUpTo(descriptor: number, bytesMax: number): Uint8Array | null {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.alloc(READ_BYTES)
    const count = readSync(descriptor, chunk, 0, READ_BYTES, null)
    if (count === 0) return Buffer.concat(chunks)
    length += count
    if (length > bytesMax) return null
    chunks.push(chunk.subarray(0, count))
  }
}

const READ_BYTES = 65_536

/** The permission of a file that lets every user read it. */
const OTHERS_READ = 0o004

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user may not read it",
  EISDIR: "it is a directory",
}

function embeddedFile(file: Blob | undefined, name: BundledFileName): Blob | null {
  if (file === undefined) return null
  return COMPRESSED_FILES.has(name) ? file.slice(0, file.size, GZIP_TYPE) : file
}

/** The bytes of a file; null: it is missing, empty or no file. */
export function readNow(path: string | URL): Uint8Array | null {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null
  const bytes = readFileSync(path)
  return bytes.length === 0 ? null : bytes
}

/** An unreadable directory must not crash a server that polls it. */
function modifiedAtMs(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

/** Does not block the thread: a disk of the network may not answer. */
async function diskSpace(path: string): Promise<DiskSpace | null> {
  try {
    return toDiskSpace(await statfs(path))
  } catch (error) {
    if (!isSystemError(error)) throw error
    const parent = dirname(resolve(path))
    return isSystemError(error, "ENOENT") && parent !== path ? await diskSpace(parent) : null
  }
}

/** The files of the checkout. */
export function createCheckoutFiles({ root, writeAtomic }: SystemFiles): CheckoutFiles {
  return {
    read: path => readFileSync(join(root, path), "utf8"),
    list: folder =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .map(entry => relative(join(root, folder), join(entry.parentPath, entry.name)).replaceAll("\\", "/")),
    entryNames: folder => readdirSync(join(root, folder)),
    write: (path, bytes) => writeAtomic(join(root, path), bytes),
    exists: path => existsSync(join(root, path)),
  }
}

/** The name of an embedded file, which its type `Blob` lacks. */
const embeddedName = (file: Blob): string => ("name" in file && typeof file.name === "string" ? file.name : "")

/**
 * Writes and syncs a new file and renames it to `path`, so that `path` is always either the old file or the new one, even after
 * a power failure. Creates the folder if necessary. A failed write leaves no file behind, because it would fill a full disk
 * further.
 */
export async function writeFileAtomic(path: string, bytes: Uint8Array | string): Promise<void> {
  const temporary = `${path}.${process.pid}.new`
  await makeFolder(dirname(path))
  try {
    await writeDurably(temporary, bytes)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Writes to a file that it creates, and to nothing that has the name: the folder may be another user's, who could put a link there. */
async function writeDurably(path: string, bytes: Uint8Array | string): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  await rm(path, { force: true })
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } catch (error) {
    throw withPath(error, path)
  } finally {
    await file.close()
  }
}

/** A folder of the file system. */
export const createFolder = (folder: string): Folder => ({
  read: name => nullOnCode(readFile(join(folder, name)), "ENOENT"),
  isSame: async (name, bytes) => (await nullOnCode(hasBytes(join(folder, name), bytes), "ENOENT")) ?? false,
  writeAtomic: (name, bytes) => writeFileAtomic(join(folder, name), bytes),
  createExclusive: async (name, text) => {
    await makeFolder(folder)
    const path = join(folder, name)
    const temporary = `${path}.${Bun.randomUUIDv7()}.claim`
    try {
      // Linked after it has its text: the file is never visible without its owner.
      await writeDurably(temporary, text)
      return (
        (await nullOnCode(
          link(temporary, path).then(() => true),
          "EEXIST",
        )) ?? false
      )
    } finally {
      await rm(temporary, { force: true })
    }
  },
  remove: name => rm(join(folder, name), { force: true }),
  list: async () => (await nullOnCode(readdir(folder), "ENOENT")) ?? [],
})

/** How much of a file is compared at once, in a fraction of a millisecond. */
const COMPARED_BYTES = 262_144

async function hasBytes(path: string, bytes: Uint8Array): Promise<boolean> {
  const file = await open(path, "r")
  try {
    const piece = Buffer.alloc(COMPARED_BYTES)
    for (let offset = 0; ; ) {
      const { bytesRead } = await file.read(piece, 0, COMPARED_BYTES, offset)
      if (bytesRead === 0) return offset === bytes.length
      if (!piece.subarray(0, bytesRead).equals(bytes.subarray(offset, offset + bytesRead))) return false
      offset += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Resolves with `null` if the work fails with this error code. */
async function nullOnCode<T>(work: Promise<T>, code: string): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isSystemError(error, code)) return null
    throw error
  }
}
