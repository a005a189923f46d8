import { LIMITS } from "../../../contract/limits.ts"

/** Says that a packet does not hold together. It is caught where a reply is read and goes no further. */
export class MalformedPacket extends Error {
  override readonly name = "Garbled"
}

/** Where one resource record stands in a packet (RFC 1035 §4.1.3). */
export type RecordPosition = {
  readonly nameOffset: number
  readonly type: number
  readonly class: number
  /** The TTL field as it stands; in an OPT record it holds other things (RFC 6891 §6.1.3). */
  readonly ttl: number
  readonly contentOffset: number
  readonly contentEndOffset: number
}

/** The longest name as text; 255 octets as it stands in a packet (RFC 1035 §2.3.4). */
export const WIRE_NAME_CHARS_MAX = LIMITS.domainBytesMax

/**
 * How many octets of names are read out of one packet, pointers and what they point at counted each time: two names of
 * full length in each of a hundred records, and some to spare. More is a bomb: names that share long chains of pointers.
 */
const NAME_BYTES_MAX = 65_536

const POINTER = 0b1100_0000
const DOT = 0x2e

/**
 * Reads a packet piece by piece. Whatever the packet holds, reading past its end, an unknown kind of label, a pointer
 * that does not lead back, or too much work for names throws `Garbled`.
 */
export class PacketReader {
  readonly #bytes: Uint8Array
  #nameBytesLeft = NAME_BYTES_MAX
  /** Where a name is put together: five times as fast as adding up strings. */
  readonly #text = Buffer.allocUnsafe(WIRE_NAME_CHARS_MAX)

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The octet at `at`. */
  byte(at: number): number {
    const octet = this.#bytes[at]
    if (octet === undefined) throw new MalformedPacket("The packet ends early.")
    return octet
  }

  /** The 16-bit number at `at`. */
  uint16(at: number): number {
    return (this.byte(at) << 8) | this.byte(at + 1)
  }

  /** The unsigned 32-bit number at `at`. */
  uint32(at: number): number {
    return this.uint16(at) * 0x1_0000 + this.uint16(at + 2)
  }

  /** The octets from `at` up to `end`, which stand in the packet: a view, not a copy. */
  slice(at: number, end: number): Uint8Array {
    return this.#bytes.subarray(at, end)
  }

  /** Where the name at `at` ends; what a pointer leads to is not looked at. */
  nameEndOffset(at: number): number {
    for (let next = at; ; ) {
      const length = this.byte(next)
      if (length === 0) return next + 1
      if (length >= POINTER) return next + 2
      next = this.#labelEndOffset(next, length)
    }
  }

  /**
   * The name at `at` in lower case, without a trailing dot; the root is the empty name. Null when it is longer than a name
   * may be, or a label holds a dot, a space or anything but printable ASCII: text could not tell it from another name.
   */
  name(at: number): string | null {
    let textLength = 0
    let back = at
    for (let next = at; ; ) {
      const length = this.byte(next)
      if (length === 0) return this.#text.toString("latin1", 0, textLength)
      if (length >= POINTER) {
        this.#spendNameBytes(2)
        next = this.uint16(next) & 0x3fff
        // RFC 1035 §4.1.4: a pointer leads to a prior name. So every jump leads further back, and none can go round.
        if (next >= back) throw new MalformedPacket("A pointer does not lead back.")
        back = next
        continue
      }
      const end = this.#labelEndOffset(next, length)
      this.#spendNameBytes(end - next)
      if (textLength > 0) this.#text[textLength++] = DOT
      if (textLength + length > WIRE_NAME_CHARS_MAX || !this.#copyLabel(next + 1, end, textLength)) return null
      textLength += length
      next = end
    }
  }

  /** The places of `count` records from `at` on, and where they end. */
  records(at: number, count: number): { readonly places: readonly RecordPosition[]; readonly end: number } {
    const places: RecordPosition[] = []
    let end = at
    for (let index = 0; index < count; index++) {
      const place = this.#recordPosition(end)
      places.push(place)
      end = place.contentEndOffset
    }
    return { places, end }
  }

  #recordPosition(nameOffset: number): RecordPosition {
    const at = this.nameEndOffset(nameOffset)
    const contentOffset = at + 10
    const contentEndOffset = contentOffset + this.uint16(at + 8)
    if (contentEndOffset > this.#bytes.length) throw new MalformedPacket("A record is longer than the packet.")
    return {
      nameOffset,
      type: this.uint16(at),
      class: this.uint16(at + 2),
      ttl: this.uint32(at + 4),
      contentOffset,
      contentEndOffset,
    }
  }

  #labelEndOffset(at: number, length: number): number {
    if (length >= 64) throw new MalformedPacket("A label is of an unknown kind.")
    return at + 1 + length
  }

  /** Puts the label into the text, in lower case; false when text cannot hold it. */
  #copyLabel(at: number, end: number, textAt: number): boolean {
    for (let next = at; next < end; next++) {
      const octet = this.byte(next)
      if (octet <= 0x20 || octet >= 0x7f || octet === DOT) return false
      this.#text[textAt + next - at] = octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet
    }
    return true
  }

  #spendNameBytes(octets: number): void {
    this.#nameBytesLeft -= octets
    if (this.#nameBytesLeft < 0) throw new MalformedPacket("The names are too much work.")
  }
}
