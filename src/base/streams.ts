/** Bytes from a file or a pipe, in chunks. */
export type ByteSource = {
  /** The total number of bytes; `null` if it is unknown. */
  readonly byteCount: number | null
  /** The chunks in order. A chunk is valid until the next one is requested. Rejects with the system's error. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** A destination for text that is written piece by piece. */
export type TextSink = {
  /** Resolves when the system has taken the text, so that a caller that waits holds one piece at most. Rejects with the system's error. */
  readonly write: (text: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** Files and pipes of any size, read and written piece by piece. All functions reject with the system's error. */
export type Streams = {
  /** Opens a file for reading, from the given byte on; `-` is the standard input. */
  readonly openSource: (path: string, fromByte?: number) => Promise<ByteSource>
  /** The standard output. */
  readonly stdout: TextSink
  /** Opens a file for writing after its first `keptBytes` bytes and truncates it there. Creates a missing file. */
  readonly openSink: (path: string, keptBytes: number) => Promise<TextSink>
  /** The size of a file in bytes; `null` if there is none. */
  readonly size: (path: string) => Promise<number | null>
  /** Whether two paths name the same file. */
  readonly isSameFile: (path: string, other: string) => Promise<boolean>
}
