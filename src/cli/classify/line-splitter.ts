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
  #isFirst = true

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
    const isTooLong = end - start > LINE_BYTES_MAX
    const text = bytes.toString("utf8", start, isTooLong ? start + DISPLAYED_BYTES_MAX : end)
    if (!this.#isFirst) return { text, isTooLong }
    this.#isFirst = false
    return { text: text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text, isTooLong }
  }
}

const UTF_16 = "is UTF-16, not UTF-8. Convert it first, for example with `iconv -f UTF-16 -t UTF-8`"

/** Files that are not UTF-8 text, by their first bytes, and how to convert them. */
const BINARY_FORMATS: readonly { readonly signature: readonly number[]; readonly message: string }[] = [
  {
    signature: [0x1f, 0x8b],
    message: "is compressed with gzip. Unpack it first, for example with `gunzip -c FILE | mailkind classify -`",
  },
  {
    signature: [0x28, 0xb5, 0x2f, 0xfd],
    message: "is compressed with zstd. Unpack it first, for example with `zstdcat FILE | mailkind classify -`",
  },
  {
    signature: [0xfd, 0x37, 0x7a, 0x58, 0x5a],
    message: "is compressed with xz. Unpack it first, for example with `xzcat FILE | mailkind classify -`",
  },
  {
    signature: [0x50, 0x4b, 0x03, 0x04],
    message: "is a zip archive or a spreadsheet. Unpack it, or save the sheet as CSV",
  },
  { signature: [0xff, 0xfe], message: UTF_16 },
  { signature: [0xfe, 0xff], message: UTF_16 },
]

/** The length of the longest signature. */
const SIGNATURE_BYTES_MAX = 5

/** Why a file with these first bytes is not UTF-8 text, as the rest of a sentence about it; null: it may be. */
function detectBinaryFormat(beginning: Uint8Array): string | null {
  const [a, b, c, d] = beginning
  // ASCII text in UTF-16 without a byte order mark has a NUL as every second byte.
  const isWide =
    beginning.length > 3 && ((a === 0 && c === 0 && b !== 0 && d !== 0) || (b === 0 && d === 0 && a !== 0 && c !== 0))
  if (isWide) return UTF_16
  return BINARY_FORMATS.find(({ signature }) => signature.every((byte, at) => beginning[at] === byte))?.message ?? null
}

/** Passes chunks on, the first one with at least the bytes of a signature. Calls `reject`, which throws, when the file is not UTF-8 text. */
export async function* rejectBinary(
  parts: AsyncIterable<Uint8Array>,
  foreign: (says: string) => never,
): AsyncGenerator<Uint8Array, undefined> {
  let beginning: Uint8Array | null = new Uint8Array()
  const told = (bytes: Uint8Array): Uint8Array => {
    const says = detectBinaryFormat(bytes)
    return says === null ? bytes : foreign(says)
  }
  for await (const part of parts) {
    if (beginning === null) {
      yield part
      continue
    }
    beginning = Buffer.concat([beginning, part])
    if (beginning.length < SIGNATURE_BYTES_MAX) continue
    yield told(beginning)
    beginning = null
  }
  if (beginning !== null) yield told(beginning)
}
