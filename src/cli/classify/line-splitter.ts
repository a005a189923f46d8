import type { InputLine } from "./input-rows.ts"

/** How many bytes of a line are looked at; a longer line is `too_long`, and nothing of it is held but its beginning. */
export const LINE_BYTES_MAX = 65_536

/** How many bytes of a line that is too long are kept to be shown. */
const DISPLAYED_BYTES_MAX = 256

const LINE_FEED = 10
const BYTE_ORDER_MARK = "\ufeff"

/**
 * Cuts bytes into lines, wherever the parts in which they come are cut. A byte order mark before the first line is dropped.
 * Each line is copied out of its part, so that whoever keeps a name keeps no part.
 */
export class LineSplitter {
  /** The beginning of a line whose end did not come yet. */
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #isFirst = true

  /** Takes the next part and appends the lines that end in it. */
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

  /** There are no more parts: appends the last line if it has no line feed. */
  end(lines: InputLine[]): void {
    if (this.#pendingBytes > 0) lines.push(this.#joinPending(new Uint8Array()))
  }

  #buffer(bytes: Uint8Array): void {
    // A byte more than the bound tells that the line is too long.
    const room = LINE_BYTES_MAX + 1 - this.#pendingBytes
    if (bytes.length === 0 || room <= 0) return
    // A copy: the part's memory is read into again, and a Buffer's own `slice` shares it.
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

const UTF_16 = "is UTF-16 and not UTF-8: convert it first, as with `iconv -f UTF-16 -t UTF-8`"

/** What a file is that begins so, and what makes text of it. */
const BINARY_FORMATS: readonly { readonly signature: readonly number[]; readonly message: string }[] = [
  {
    signature: [0x1f, 0x8b],
    message: "is compressed with gzip: unpack it first, as with `gunzip -c FILE | mailkind classify -`",
  },
  {
    signature: [0x28, 0xb5, 0x2f, 0xfd],
    message: "is compressed with zstd: unpack it first, as with `zstdcat FILE | mailkind classify -`",
  },
  {
    signature: [0xfd, 0x37, 0x7a, 0x58, 0x5a],
    message: "is compressed with xz: unpack it first, as with `xzcat FILE | mailkind classify -`",
  },
  {
    signature: [0x50, 0x4b, 0x03, 0x04],
    message: "is a zip archive or a spreadsheet: unpack it, or save the sheet as CSV",
  },
  { signature: [0xff, 0xfe], message: UTF_16 },
  { signature: [0xfe, 0xff], message: UTF_16 },
]

/** How many bytes tell at most. */
const SIGNATURE_BYTES_MAX = 5

/** Why bytes that begin so hold no lines of text, as the rest of a sentence about the file; null: they may. */
function detectBinaryFormat(beginning: Uint8Array): string | null {
  const [a, b, c, d] = beginning
  // Text of one byte a character has no NUL beside each of its first two; UTF-16 without its mark has.
  const isWide =
    beginning.length > 3 && ((a === 0 && c === 0 && b !== 0 && d !== 0) || (b === 0 && d === 0 && a !== 0 && c !== 0))
  if (isWide) return UTF_16
  return BINARY_FORMATS.find(({ signature }) => signature.every((byte, at) => beginning[at] === byte))?.message ?? null
}

/** The same parts, the first of them long enough to tell what they are; `foreign` is told why they hold no lines, and throws. */
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
