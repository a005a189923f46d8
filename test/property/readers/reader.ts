import { createTimedPause } from "../../../src/base/concurrency.ts"

/** A reader of bytes that come from outside, called as the product calls it. */
export type Reader = {
  readonly name: string
  /** The files under `src` that read the bytes. */
  readonly files: readonly string[]
  /** The characters and words of its grammar: what it looks for in the bytes. */
  readonly tokens: readonly string[]
  /** Texts that were expensive once, again and again. They are always among the cases. */
  readonly once?: readonly string[]
  /** A record as people send it. A text of many of them is what others are compared with. */
  readonly plain: string
  /** What stands around the text: a header, a frame. Absent: nothing. */
  readonly frame?: (text: string) => string | Uint8Array<ArrayBuffer>
  /** Bytes beyond so many never reach it. */
  readonly bytesMax: number
  /** What it may hold beside the bytes, while it reads and afterwards. */
  readonly memoryBytesMax: number
  /** It takes gzip too. */
  readonly isUnpacking?: true
  /** It runs in a process of its own, or before a server listens: nobody waits for its thread. */
  readonly isApart?: true
  /** Rejects, or throws, for bytes that it refuses. */
  readonly read: (bytes: Uint8Array<ArrayBuffer>) => unknown
}

/** The bytes of a text as the reader gets them. */
export function framed({ frame }: Pick<Reader, "frame">, text: string): Uint8Array<ArrayBuffer> {
  const whole = frame === undefined ? text : frame(text)
  return typeof whole === "string" ? new Uint8Array(Buffer.from(whole)) : whole
}

/** The text again and again, up to so many characters. */
export const repeated = (text: string, length: number): string =>
  text === "" ? "" : text.repeat(Math.max(1, Math.floor(length / text.length)))

/** Gives the thread back, as a server does that receives bytes. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** The pause of long work as a server makes it. */
export const pauseOfServer = () => createTimedPause(work => void setImmediate(work), performance.now.bind(performance))

/** The text of bytes, for readers that get text. */
export const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
