/** Bytes that come in parts, from a file or a pipe. */
export type ByteSource = {
  /** How many bytes come in all; null: nobody knows. */
  readonly byteCount: number | null
  /** The parts, in their order. A part holds until the next one is asked for. Rejects with the system's error. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Where text is written to, one piece after the other. */
export type TextSink = {
  /** Resolves when the text is with the system, so that whoever waits never holds more than one piece. Rejects with the system's error. */
  readonly write: (text: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** Files and pipes that are read and written piece by piece, at any size. Each rejects with the system's error. */
export type Streams = {
  /** Opens a file from a byte of it on; `-` is what is piped in. */
  readonly openSource: (path: string, fromByte?: number) => Promise<ByteSource>
  /** What the command answers on. */
  readonly stdout: TextSink
  /** Opens a file to write on after its first `keptBytes`, and cuts off what it has beyond. It is created when it is not there. */
  readonly openSink: (path: string, keptBytes: number) => Promise<TextSink>
  /** How many bytes a file has; null: there is no such file. */
  readonly size: (path: string) => Promise<number | null>
  /** Whether two paths lead to one file. */
  readonly isSameFile: (path: string, other: string) => Promise<boolean>
}
