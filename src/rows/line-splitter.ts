import type { InputLine } from "./input-rows.ts"

/** The longest line in bytes. A longer one is `too_long`, and only its beginning is kept. */
export const LINE_BYTES_MAX = 65_536

/** How many bytes of a line that is too long are shown. */
const DISPLAYED_BYTES_MAX = 256

const LINE_FEED = 10
const BYTE_ORDER_MARK = "\ufeff"

/**
 * Splits bytes into lines, across the borders of chunks. Drops a byte order mark before the first line. Each line is copied
 * out of its chunk, so that a row does not keep a whole chunk in memory.
 */
export class LineSplitter {
  /** The beginning of an incomplete line. */
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #isFirst: boolean

  /** `isAtStart`: the bytes are those of a file from its beginning. */
  constructor(isAtStart = true) {
    this.#isFirst = isAtStart
  }

  /** Reads the next chunk and appends the lines that end in it. */
  push(part: Uint8Array, lines: InputLine[]): void {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength)
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      lines.push(
        this.#pendingBytes === 0 ? this.#decodeLine(bytes, start, end) : this.#joinPending(bytes.subarray(start, end)),
      )
      start = end + 1
    }
    this.#buffer(bytes.subarray(start))
  }

  /** The input has ended: appends the last line if it has no line feed. */
  end(lines: InputLine[]): void {
    if (this.#pendingBytes > 0) lines.push(this.#joinPending(new Uint8Array()))
  }

  #buffer(bytes: Uint8Array): void {
    // One byte more than the bound shows that the line is too long.
    const room = LINE_BYTES_MAX + 1 - this.#pendingBytes
    if (bytes.length === 0 || room <= 0) return
    // A copy, because the memory of the chunk is reused. `Buffer.slice` would share it.
    this.#pending.push(new Uint8Array(bytes.subarray(0, room)))
    this.#pendingBytes += Math.min(bytes.length, room)
  }

  #joinPending(rest: Uint8Array): InputLine {
    this.#buffer(rest)
    const whole = Buffer.concat(this.#pending)
    this.#pending = []
    this.#pendingBytes = 0
    return this.#decodeLine(whole, 0, whole.length)
  }

  #decodeLine(bytes: Buffer, start: number, end: number): InputLine {
    const line = decodeLine(bytes, start, end)
    if (!this.#isFirst) return line
    this.#isFirst = false
    return withoutByteOrderMark(line)
  }
}

/** The first line of a file. */
export const withoutByteOrderMark = ({ text, isTooLong }: InputLine): InputLine => ({
  text: text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text,
  isTooLong,
})

/** The line that these bytes are, without a line feed. */
export function decodeLine(bytes: Buffer, start: number, end: number): InputLine {
  const isTooLong = end - start > LINE_BYTES_MAX
  return { text: bytes.toString("utf8", start, isTooLong ? start + DISPLAYED_BYTES_MAX : end), isTooLong }
}
