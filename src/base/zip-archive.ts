import type { Readable } from "node:stream"
import { crc32 } from "node:zlib"
import type { Entry, ZipFile } from "yauzl"
import type { Pause } from "./concurrency.ts"

/** A file in an archive. */
export type ArchivedFile = { readonly name: string; readonly entry: Entry }

/** An archive whose files can be read. */
export type ZipArchive = {
  readonly files: readonly ArchivedFile[]
  /** The content of a file, unpacked as it is read. */
  readonly read: (file: ArchivedFile) => AsyncGenerator<Uint8Array, undefined>
}

/** An archive has at most so many entries. */
const ENTRIES_MAX = 10_000

/** What macOS adds beside each file. */
const ADDED_BY_SYSTEM = /^__MACOSX\/|(?:^|\/)\.DS_Store$/

/**
 * Opens a zip archive. Calls `refuse`, which throws, for one that is damaged or has too many entries. Its folders are left out. `pause` is called
 * between pieces of a content.
 */
export async function openZip(bytes: Buffer, refuse: (says: string) => never, pause: Pause): Promise<ZipArchive> {
  const damaged = (): never => refuse("is a damaged zip archive. Copy the file again")
  const { fromBuffer } = await import("yauzl")
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(bytes, { lazyEntries: true }, (error, opened) => (error === null ? resolve(opened) : reject(error))),
  ).catch(damaged)
  if (zip.entryCount > ENTRIES_MAX)
    refuse(`is a zip archive of ${zip.entryCount} files. An archive has at most ${ENTRIES_MAX}`)
  const files: ArchivedFile[] = []
  await new Promise<void>((resolve, reject) => {
    zip.on("entry", (entry: Entry) => {
      const { fileName } = entry
      if (!fileName.endsWith("/") && !ADDED_BY_SYSTEM.test(fileName)) files.push({ name: fileName, entry })
      zip.readEntry()
    })
    zip.once("end", resolve)
    zip.once("error", reject)
    zip.readEntry()
  }).catch(damaged)
  return { files, read: ({ entry }) => readEntry(zip, entry, refuse, pause) }
}

/**
 * All bytes of an archive, since its table of contents is at its end. A buffer of `bytesMax` is filled in place: unwritten pages take no
 * memory, and nothing is copied twice. Calls `tooLarge`, which throws, for more than `bytesMax`, and `onPart` after each part.
 */
export async function archiveBytes(
  parts: AsyncIterable<Uint8Array>,
  bytesMax: number,
  tooLarge: () => never,
  onPart: (part: Uint8Array) => void | Promise<void>,
): Promise<Buffer> {
  const archive = Buffer.allocUnsafeSlow(bytesMax)
  let length = 0
  for await (const part of parts) {
    if (length + part.length > bytesMax) tooLarge()
    archive.set(part, length)
    length += part.length
    await onPart(part)
  }
  return archive.subarray(0, length)
}

async function* readEntry(
  zip: ZipFile,
  entry: Entry,
  refuse: (says: string) => never,
  pause: Pause,
): AsyncGenerator<Uint8Array, undefined> {
  if (entry.isEncrypted()) refuse("is a zip archive with a password. Unpack it first")
  const unreadable = (): never => refuse("has damaged data in its zip archive. Copy the file again")
  const content = await new Promise<Readable>((resolve, reject) =>
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error))),
  ).catch(unreadable)
  const chunks = content[Symbol.asyncIterator]()
  let checksum = 0
  try {
    for (;;) {
      // Errors of the consumer are not those of the archive.
      const next = await chunks.next().catch(unreadable)
      if (next.done === true) return checksum === entry.crc32 ? undefined : unreadable()
      checksum = crc32(next.value, checksum)
      yield next.value
      await pause()
    }
  } finally {
    content.destroy()
  }
}
