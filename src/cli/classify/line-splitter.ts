import type { Line } from "./row.ts"

/** How many bytes of a line are looked at; a longer line is `too_long`, and nothing of it is held but its beginning. */
export const LINE_BYTES_MAX = 65_536

/** How many bytes of a line that is too long are kept to be shown. */
const SHOWN_BYTES = 256

const LINE_FEED = 10
const BYTE_ORDER_MARK = "\ufeff"

/**
 * Cuts bytes into lines, wherever the parts in which they come are cut. A byte order mark before the first line is dropped.
 * Each line is copied out of its part, so that whoever keeps a name keeps no part.
 */
export class LineSplitter {
  /** The beginning of a line whose end did not come yet. */
  #held: Uint8Array[] = []
  #heldBytes = 0
  #isFirst = true

  /** Takes the next part and appends the lines that end in it. */
  take(part: Uint8Array, lines: Line[]): void {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength)
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      lines.push(this.#heldBytes === 0 ? this.#line(bytes, start, end) : this.#joined(bytes.subarray(start, end)))
      start = end + 1
    }
    this.#hold(bytes.subarray(start))
  }

  /** There are no more parts: appends the last line if it has no line feed. */
  end(lines: Line[]): void {
    if (this.#heldBytes > 0) lines.push(this.#joined(new Uint8Array()))
  }

  #hold(bytes: Uint8Array): void {
    // A byte more than the bound tells that the line is too long.
    const room = LINE_BYTES_MAX + 1 - this.#heldBytes
    if (bytes.length === 0 || room <= 0) return
    // A copy: the part's memory is read into again, and a Buffer's own `slice` shares it.
    this.#held.push(new Uint8Array(bytes.subarray(0, room)))
    this.#heldBytes += Math.min(bytes.length, room)
  }

  #joined(rest: Uint8Array): Line {
    this.#hold(rest)
    const whole = Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    return this.#line(whole, 0, whole.length)
  }

  #line(bytes: Buffer, start: number, end: number): Line {
    const isTooLong = end - start > LINE_BYTES_MAX
    const text = bytes.toString("utf8", start, isTooLong ? start + SHOWN_BYTES : end)
    if (!this.#isFirst) return { text, isTooLong }
    this.#isFirst = false
    return { text: text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text, isTooLong }
  }
}
