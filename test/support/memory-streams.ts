import type { Streams } from "../../src/base/streams.ts"

/** Files that are read in parts of so many bytes, and a disk that has room for so many. */
type Bounds = { readonly partBytes?: number; readonly roomBytes?: number }

/** Files in memory, what was answered on the standard output, and what is piped in as the file `-`. */
export function memoryStreams(
  files: Record<string, string | Uint8Array>,
  { partBytes = 65_536, roomBytes = Number.POSITIVE_INFINITY }: Bounds = {},
) {
  const held = new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]))
  const answered: string[] = []
  const write = (path: string, bytes: Buffer): void => {
    const room = bytes.subarray(0, roomBytes - (held.get(path)?.length ?? 0))
    held.set(path, Buffer.concat([held.get(path) ?? Buffer.alloc(0), room]))
    if (room.length < bytes.length) throw fault("ENOSPC")
  }
  const streams: Streams = {
    openSource: async (path, fromByte = 0) => {
      const bytes = held.get(path)
      if (bytes === undefined) throw fault("ENOENT")
      return { byteCount: path === "-" ? null : bytes.length, chunks: partsOf(bytes.subarray(fromByte), partBytes) }
    },
    stdout: {
      write: async text => void answered.push(String(typeof text === "string" ? text : Buffer.from(text))),
      close: async () => undefined,
    },
    openSink: async (path, keptBytes) => {
      held.set(path, Buffer.from(held.get(path)?.subarray(0, keptBytes) ?? []))
      return { write: async text => write(path, Buffer.from(text)), close: async () => undefined }
    },
    size: async path => held.get(path)?.length ?? null,
    isSameFile: async (path, other) => path === other,
  }
  return { streams, held, textOf: (path: string) => held.get(path)?.toString() ?? null, answered }
}

/** Every part is in the same memory, as a file's is: whoever keeps one finds another in it. */
async function* partsOf(bytes: Uint8Array, partBytes: number): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(partBytes)
  for (let at = 0; at < bytes.length; at += partBytes) {
    const part = bytes.subarray(at, at + partBytes)
    memory.fill(0)
    memory.set(part)
    yield memory.subarray(0, part.length)
  }
}

const fault = (code: string): Error => Object.assign(new Error(code), { code })
