const [QUOTE, BACKSLASH, COMMA, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = Buffer.from('"\\,{}[]')
const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [9, 10, 13, 32]

/** Whether a byte is white space of JSON. */
export const isJsonSpace = (byte: number | undefined): boolean =>
  byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB

/**
 * The elements of a JSON array, which the text begins with, as lines of NDJSON: each has the text of its element, without line ends. Of an
 * element that is longer than `lineBytesMax`, so much is given that the line is too long. Calls `refuse`, which throws, for an array that is cut
 * off, has an empty element or is followed by something, and when its first element is too long: it is no list then.
 */
export async function* jsonArrayLines(
  parts: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
  refuse: (says: string) => never,
): AsyncGenerator<Uint8Array, undefined> {
  const scanner = new ArrayScanner(lineBytesMax, refuse)
  for await (const part of parts) {
    const lines = scanner.scan(part)
    if (lines.length > 0) yield lines
  }
  scanner.end()
}

class ArrayScanner {
  readonly #lineBytesMax: number
  readonly #refuse: (says: string) => never
  /** Brackets that are open: the array is one. */
  #depth = 0
  #isEnded = false
  #inString = false
  #isEscaped = false
  /** Elements that have ended, and the bytes of this one. */
  #count = 0
  #elementBytes = 0

  constructor(lineBytesMax: number, refuse: (says: string) => never) {
    this.#lineBytesMax = lineBytesMax
    this.#refuse = refuse
  }

  /** The lines, or parts of them, that these bytes give. */
  scan(part: Uint8Array): Uint8Array {
    // A byte gives at most itself: the line end of an element stands in the place of its comma or bracket.
    const lines = Buffer.allocUnsafe(part.length)
    let length = 0
    for (const byte of part) {
      const given = this.#inString ? this.#inText(byte) : this.#outside(byte)
      if (given === null) continue
      if (given !== LINE_FEED && ++this.#elementBytes > this.#lineBytesMax + 1) {
        if (this.#count === 0)
          this.#refuse(
            `has a first element of more than ${this.#lineBytesMax} bytes in its JSON array: it is no list of rows`,
          )
        continue
      }
      lines[length++] = given
    }
    return lines.subarray(0, length)
  }

  end(): void {
    if (!this.#isEnded)
      this.#refuse(`ends in the middle of its JSON array, after ${this.#count} elements. Copy the file again`)
  }

  /** A line end inside a string is no JSON. As a tab it is none either, and stays in its line. */
  #inText(byte: number): number {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#inString = false
    return byte === LINE_FEED || byte === CARRIAGE_RETURN ? TAB : byte
  }

  #outside(byte: number): number | null {
    if (isJsonSpace(byte)) return this.#elementBytes === 0 ? null : SPACE
    if (this.#isEnded) return this.#refuse("continues after its JSON array. Send one array")
    if (this.#depth === 0) {
      // The bracket of the array itself.
      this.#depth = 1
      return null
    }
    if (this.#depth === 1 && byte === COMMA) return this.#endElement()
    if (this.#depth === 1 && byte === CLOSE_BRACKET) return this.#endArray()
    if (byte === QUOTE) this.#inString = true
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth = Math.max(1, this.#depth - 1)
    return byte
  }

  #endArray(): number | null {
    this.#isEnded = true
    return this.#elementBytes === 0 && this.#count === 0 ? null : this.#endElement()
  }

  #endElement(): number {
    this.#count++
    if (this.#elementBytes === 0) this.#refuse(`has nothing in the place of element ${this.#count} of its JSON array`)
    this.#elementBytes = 0
    return LINE_FEED
  }
}
