import { constants } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import { isSystemError } from "../base/errors.ts"
import type { ByteSource, Streams, TextSink } from "../base/streams.ts"

/** How much of a file is read at once. Chunks of four times the size are read no faster and delay their lines. */
const CHUNK_BYTES = 65_536

/** The real files and pipes. */
export const systemStreams: Streams = {
  openSource: async (path, fromByte = 0) =>
    path === "-" ? { byteCount: null, chunks: Bun.stdin.stream() } : openFileSource(path, fromByte),
  stdout: { write: writeToStdout, close: async () => undefined },
  openSink: async (path, keptBytes) => {
    const handle = await openForWriting(path)
    // Devices and pipes cannot be truncated.
    const isFile = (await handle.stat()).isFile()
    if (isFile) await handle.truncate(keptBytes)
    return createFileSink(handle, isFile ? keptBytes : null)
  },
  size: async path => (await statOrNull(path))?.size ?? null,
  isSameFile: async (path, other) => {
    const [one, two] = await Promise.all([statOrNull(path), statOrNull(other)])
    return one !== null && two !== null && one.dev === two.dev && one.ino === two.ino
  },
}

async function openFileSource(path: string, fromByte: number): Promise<ByteSource> {
  const handle = await open(path, "r")
  const stats = await handle.stat()
  return { byteCount: stats.isFile() ? stats.size : null, chunks: readChunks(handle, stats.isFile() ? fromByte : null) }
}

/**
 * Opens or creates a file for writing. A symbolic link is only followed to what is no file, such as the terminal behind `/dev/stdout`:
 * in a directory that others share, anybody may have put it there. Rejects with `ELOOP` for any other.
 */
async function openForWriting(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW } = constants
  try {
    return await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW)
  } catch (error) {
    if (!isSystemError(error, "ELOOP") || (await statOrNull(path))?.isFile() !== false) throw error
    const handle = await open(path, O_WRONLY)
    if (!(await handle.stat()).isFile()) return handle
    await handle.close()
    throw error
  }
}

/** Reads into one buffer, which it reuses. `fromByte` is `null` if the file cannot seek. */
async function* readChunks(handle: FileHandle, fromByte: number | null): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES)
  let position = fromByte
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, position)
      if (bytesRead === 0) return
      if (position !== null) position += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

/** How many bytes of UTF-8 are written at once. */
const PIECE_BYTES = 524_288

/** `fromByte` is `null` if the file cannot seek. */
function createFileSink(handle: FileHandle, fromByte: number | null): TextSink {
  let position = fromByte
  let piece: Uint8Array | null = null
  const encoder = new TextEncoder()
  const writeBytes = async (bytes: Uint8Array): Promise<void> => {
    // A write may be partial, for example on a disk that is almost full.
    for (let rest = bytes; rest.length > 0; ) {
      const { bytesWritten } = await handle.write(rest, 0, rest.length, position)
      if (position !== null) position += bytesWritten
      rest = rest.subarray(bytesWritten)
    }
  }
  return {
    write: async text => {
      if (typeof text !== "string") return await writeBytes(text)
      piece ??= new Uint8Array(PIECE_BYTES)
      for (let at = 0; at < text.length; ) {
        const { read, written } = encoder.encodeInto(at === 0 ? text : text.slice(at), piece)
        at += read
        await writeBytes(piece.subarray(0, written))
      }
    },
    close: () => handle.close(),
  }
}

function writeToStdout(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, error => (error ? reject(error) : resolve()))
  })
}

/** `null` if there is no such file. */
async function statOrNull(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return null
    throw error
  }
}
