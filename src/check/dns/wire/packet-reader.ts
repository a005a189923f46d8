import { DOMAIN_NAME_CHARS_MAX } from "../domain-name.ts"

/** A packet breaks its format. `parseReply` catches it. */
export class MalformedPacket extends Error {
  override readonly name = "MalformedPacket"
}

/**
 * How many bytes of names are read from one packet. What a pointer points to counts each time. A packet without pointers has fewer,
 * and one with pointers has room for two names of full length in each of a hundred records.
 */
const NAME_BYTES_MAX = 65_536

/** Two names of full length, on the wire (RFC 1035 §2.3.4): what one more record may need. */
const TWO_NAMES_BYTES = 2 * 255

/** Holds the name that is being read: five times as fast as joining strings. */
const NAME_TEXT = Buffer.alloc(DOMAIN_NAME_CHARS_MAX)

/** The numbers of the record types that are queried or read (IANA, "Domain Name System (DNS) Parameters"). */
export const TYPE_NUMBERS = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, OPT: 41 } as const

/** The class of the Internet. */
export const CLASS_IN = 1

/** A TTL whose top bit is set counts as zero (RFC 2181 §8). */
export const normalizeTtl = (seconds: number): number => (seconds > 0x7fff_ffff ? 0 : seconds)

const POINTER = 0b1100_0000
const DOT = 0x2e

/**
 * Reads the fields of a packet (RFC 1035 §4.1). Throws `MalformedPacket` when a field lies beyond the end, a label is of an
 * unknown kind, a pointer does not point backwards, or the names of the packet take too much work.
 */
export class PacketReader {
  readonly #bytes: Uint8Array
  #nameBytesLeft = NAME_BYTES_MAX
  /** The resource record (RFC 1035 §4.1.3) to which `moveTo` went: where its name, its content and the next record begin. */
  nameOffset = 0
  contentOffset = 0
  endOffset = 0

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

  /** Goes to the record at the offset, whose fields stand in the ten bytes before its content. */
  moveTo(offset: number): void {
    this.nameOffset = offset
    this.contentOffset = this.nameEndOffset(offset) + 10
    this.endOffset = this.contentOffset + this.uint16(this.contentOffset - 2)
    if (this.endOffset > this.#bytes.length) throw new MalformedPacket("A record is longer than the packet.")
  }

  /** Whether the record has the type, and the class of the Internet. */
  isOfType(type: number): boolean {
    return this.uint16(this.contentOffset - 10) === type && this.uint16(this.contentOffset - 8) === CLASS_IN
  }

  /** The TTL of the record. */
  ttlS(): number {
    return normalizeTtl(this.uint32(this.contentOffset - 6))
  }

  /** Whether it is an OPT record with the upper bits of an error code, BADVERS for one (RFC 6891 §6.1.3). */
  hasExtendedRcode(): boolean {
    return this.uint16(this.contentOffset - 10) === TYPE_NUMBERS.OPT && this.byte(this.contentOffset - 6) > 0
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
