import { constants } from "node:fs"
import { type FileHandle, open, stat } from "node:fs/promises"
import type { ByteSource, Streams, TextSink } from "../base/streams.ts"

/** How much of a file is read at once: parts four times as large are read no faster, and hold their lines longer. */
const CHUNK_BYTES = 65_536

/** The files and pipes of this process. */
export const systemStreams: Streams = {
  openSource: async (path, fromByte = 0) =>
    path === "-" ? { byteCount: null, chunks: Bun.stdin.stream() } : openFileSource(path, fromByte),
  stdout: { write: writeToStdout, close: async () => undefined },
  openSink: async (path, keptBytes) => {
    const handle = await open(path, constants.O_WRONLY | constants.O_CREAT)
    // A device or a pipe has nothing to cut.
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

/** Reads into the same memory again and again. `fromByte` is null where there are no places to read from. */
async function* readChunks(handle: FileHandle, fromByte: number | null): AsyncGenerator<Uint8Array> {
  const part = new Uint8Array(CHUNK_BYTES)
  let at = fromByte
  try {
    for (;;) {
      const { bytesRead } = await handle.read(part, 0, CHUNK_BYTES, at)
      if (bytesRead === 0) return
      if (at !== null) at += bytesRead
      yield part.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

/** `fromByte` is null where there are no places to write to. */
function createFileSink(handle: FileHandle, fromByte: number | null): TextSink {
  let at = fromByte
  return {
    write: async text => {
      // A write may take a part of the bytes only, as on a disk that is almost full.
      for (let left = Buffer.from(text); left.length > 0; ) {
        const { bytesWritten } = await handle.write(left, 0, left.length, at)
        if (at !== null) at += bytesWritten
        left = left.subarray(bytesWritten)
      }
    },
    close: () => handle.close(),
  }
}

function writeToStdout(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, error => (error ? reject(error) : resolve()))
  })
}

/** Null: there is no such file. */
async function statOrNull(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
    throw error
  }
}
