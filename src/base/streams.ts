/** Bytes from a file or a pipe, in chunks. */
export type ByteSource = {
  /** The total number of bytes; `null` if it is unknown. */
  readonly byteCount: number | null
  /** The chunks in order. A chunk is valid until the next one is requested. Rejects with the system's error. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** A destination for text, or UTF-8 bytes, that is written piece by piece. */
export type TextSink = {
  /** Resolves when the system has taken the text, so that a caller that waits holds one piece at most. Rejects with the system's error. */
  readonly write: (text: string | Uint8Array) => Promise<void>
  readonly close: () => Promise<void>
}

/** A process whose standard input is written and whose standard output is read here. */
export type PipedProcess = {
  /** Resolves when the process has room for more. Rejects if it has ended. */
  readonly write: (bytes: Uint8Array) => Promise<void>
  readonly chunks: AsyncIterable<Uint8Array>
  /** Resolves at its end: the exit code, or the signal that killed it. */
  readonly exited: Promise<{ readonly exitCode: number | null; readonly killedBy: string | null }>
  readonly kill: () => void
}

/** Files and pipes of any size, read and written piece by piece. All functions reject with the system's error. */
export type Streams = {
  /** Opens a file for reading, from the given byte on; `-` is the standard input. */
  readonly openSource: (path: string, fromByte?: number) => Promise<ByteSource>
  /** The standard output. */
  readonly stdout: TextSink
  /**
   * Opens a file for writing after its first `keptBytes` bytes and truncates it there. Creates a missing file. Rejects with `ELOOP` for a
   * symbolic link to a file or to nothing.
   */
  readonly openSink: (path: string, keptBytes: number) => Promise<TextSink>
  /** The size of a file in bytes; `null` if there is none. */
  readonly size: (path: string) => Promise<number | null>
  /** Whether two paths name the same file. */
  readonly isSameFile: (path: string, other: string) => Promise<boolean>
}

/** The chunks as a stream. A chunk is asked for when its reader has taken the one before. */
export function streamOf(chunks: AsyncGenerator<Uint8Array, undefined>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async controller => {
      const next = await chunks.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
    cancel: async () => {
      await chunks.return(undefined)
    },
  })
}
