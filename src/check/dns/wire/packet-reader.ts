import { DOMAIN_NAME_CHARS_MAX } from "../domain-name.ts"

/** A packet breaks its format. `parseReply` catches it. */
export class MalformedPacket extends Error {
  override readonly name = "MalformedPacket"
}

/** The position of one resource record in a packet (RFC 1035 §4.1.3). */
export type RecordPosition = {
  readonly nameOffset: number
  readonly type: number
  readonly class: number
  /** The raw TTL field. In an OPT record it holds flags instead (RFC 6891 §6.1.3). */
  readonly ttl: number
  readonly contentOffset: number
  readonly contentEndOffset: number
}

type RecordPositions = { readonly positions: readonly RecordPosition[]; readonly endOffset: number }

const NO_POSITIONS: readonly RecordPosition[] = []

/**
 * How many bytes of names are read from one packet. What a pointer points to counts each time. A packet without pointers has fewer,
 * and one with pointers has room for two names of full length in each of a hundred records.
 */
const NAME_BYTES_MAX = 65_536

/** Two names of full length, on the wire (RFC 1035 §2.3.4): what one more record may need. */
const TWO_NAMES_BYTES = 2 * 255

/** Holds the name that is being read: five times as fast as joining strings. */
const NAME_TEXT = Buffer.alloc(DOMAIN_NAME_CHARS_MAX)

const POINTER = 0b1100_0000
const DOT = 0x2e

/**
 * Reads the fields of a packet (RFC 1035 §4.1). Throws `MalformedPacket` when a field lies beyond the end, a label is of an
 * unknown kind, a pointer does not point backwards, or the names of the packet take too much work.
 */
export class PacketReader {
  readonly #bytes: Uint8Array
  #nameBytesLeft = NAME_BYTES_MAX

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Whether two more names of full length can be read. */
  get hasRoomForNames(): boolean {
    return this.#nameBytesLeft >= TWO_NAMES_BYTES
  }

  /** The byte at the offset. */
  byte(offset: number): number {
    const byte = this.#bytes[offset]
    if (byte === undefined) throw new MalformedPacket("The packet ends early.")
    return byte
  }

  /** The unsigned 16-bit number at the offset. */
  uint16(offset: number): number {
    return (this.byte(offset) << 8) | this.byte(offset + 1)
  }

  /** The unsigned 32-bit number at the offset. */
  uint32(offset: number): number {
    return this.uint16(offset) * 0x1_0000 + this.uint16(offset + 2)
  }

  /** A view of the bytes from the offset up to `end`, which must not lie beyond the end of the packet. */
  slice(offset: number, end: number): Uint8Array {
    return this.#bytes.subarray(offset, end)
  }

  /** The offset after the name. A pointer in the name is not followed. */
  nameEndOffset(offset: number): number {
    for (let next = offset; ; ) {
      const length = this.byte(next)
      if (length === 0) return next + 1
      if (length >= POINTER) return next + 2
      next = this.#labelEndOffset(next, length)
    }
  }

  /**
   * The name at the offset in lower case, without a trailing dot; the root is the empty name. Null: the name is too long, or a
   * label holds a dot, a space or a byte that is not printable ASCII, so that its text would be ambiguous.
   */
  name(offset: number): string | null {
    let textLength = 0
    let pointerLimit = offset
    for (let next = offset; ; ) {
      const length = this.byte(next)
      if (length === 0) return NAME_TEXT.toString("latin1", 0, textLength)
      if (length >= POINTER) {
        this.#spendNameBytes(2)
        next = this.uint16(next) & 0x3fff
        // RFC 1035 §4.1.4: a pointer points to a prior name. So each pointer points further back, and there is no cycle.
        if (next >= pointerLimit) throw new MalformedPacket("A pointer does not point backwards.")
        pointerLimit = next
        continue
      }
      const end = this.#labelEndOffset(next, length)
      this.#spendNameBytes(end - next)
      if (textLength > 0) NAME_TEXT[textLength++] = DOT
      if (textLength + length > DOMAIN_NAME_CHARS_MAX || !this.#copyLabel(next + 1, end, textLength)) return null
      textLength += length
      next = end
    }
  }

  /** The positions of `count` records from the offset on, and the offset after them. */
  records(offset: number, count: number): RecordPositions {
    if (count === 0) return { positions: NO_POSITIONS, endOffset: offset }
    const positions: RecordPosition[] = []
    let endOffset = offset
    for (let index = 0; index < count; index++) {
      const position = this.#recordPosition(endOffset)
      positions.push(position)
      endOffset = position.contentEndOffset
    }
    return { positions, endOffset }
  }

  #recordPosition(nameOffset: number): RecordPosition {
    const offset = this.nameEndOffset(nameOffset)
    const contentOffset = offset + 10
    const contentEndOffset = contentOffset + this.uint16(offset + 8)
    if (contentEndOffset > this.#bytes.length) throw new MalformedPacket("A record is longer than the packet.")
    return {
      nameOffset,
      type: this.uint16(offset),
      class: this.uint16(offset + 2),
      ttl: this.uint32(offset + 4),
      contentOffset,
      contentEndOffset,
    }
  }

  #labelEndOffset(offset: number, length: number): number {
    if (length >= 64) throw new MalformedPacket("A label is of an unknown kind.")
    return offset + 1 + length
  }

  /** Copies the label into the text, in lower case. False: its text would be ambiguous. */
  #copyLabel(offset: number, end: number, textOffset: number): boolean {
    for (let next = offset; next < end; next++) {
      const byte = this.byte(next)
      if (byte <= 0x20 || byte >= 0x7f || byte === DOT) return false
      NAME_TEXT[textOffset + next - offset] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
    }
    return true
  }

  #spendNameBytes(count: number): void {
    this.#nameBytesLeft -= count
    if (this.#nameBytesLeft < 0) throw new MalformedPacket("The names take too much work.")
  }
}
