import { LIMITS } from "../../contract/limits.ts"

/** Says that a packet does not hold together. It is caught where a reply is read and goes no further. */
export class Garbled extends Error {
  override readonly name = "Garbled"
}

/** Where one resource record stands in a packet (RFC 1035 §4.1.3). */
export type RecordPlace = {
  readonly nameAt: number
  readonly type: number
  readonly class: number
  /** The TTL field as it stands; in an OPT record it holds other things (RFC 6891 §6.1.3). */
  readonly ttl: number
  readonly contentAt: number
  readonly contentEnd: number
}

/** The longest name as text; 255 octets as it stands in a packet (RFC 1035 §2.3.4). */
export const NAME_LENGTH_MAX = LIMITS.domainOctetsMax

/**
 * How many octets of names are read out of one packet, pointers and what they point at counted each time: two names of
 * full length in each of a hundred records, and some to spare. More is a bomb: names that share long chains of pointers.
 */
const NAME_OCTETS_MAX = 65_536

const POINTER = 0b1100_0000
const DOT = 0x2e

/**
 * Reads a packet piece by piece. Whatever the packet holds, reading past its end, an unknown kind of label, a pointer
 * that does not lead back, or too much work for names throws `Garbled`.
 */
export class PacketReader {
  readonly #bytes: Uint8Array
  #nameOctetsLeft = NAME_OCTETS_MAX
  /** Where a name is put together: five times as fast as adding up strings. */
  readonly #text = Buffer.allocUnsafe(NAME_LENGTH_MAX)

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The octet at `at`. */
  octet(at: number): number {
    const octet = this.#bytes[at]
    if (octet === undefined) throw new Garbled("The packet ends early.")
    return octet
  }

  /** The 16-bit number at `at`. */
  short(at: number): number {
    return (this.octet(at) << 8) | this.octet(at + 1)
  }

  /** The unsigned 32-bit number at `at`. */
  long(at: number): number {
    return this.short(at) * 0x1_0000 + this.short(at + 2)
  }

  /** The octets from `at` up to `end`, which stand in the packet: a view, not a copy. */
  octets(at: number, end: number): Uint8Array {
    return this.#bytes.subarray(at, end)
  }

  /** Where the name at `at` ends; what a pointer leads to is not looked at. */
  nameEnd(at: number): number {
    for (let next = at; ; ) {
      const length = this.octet(next)
      if (length === 0) return next + 1
      if (length >= POINTER) return next + 2
      next = this.#labelEnd(next, length)
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
      const length = this.octet(next)
      if (length === 0) return this.#text.toString("latin1", 0, textLength)
      if (length >= POINTER) {
        this.#spend(2)
        next = this.short(next) & 0x3fff
        // RFC 1035 §4.1.4: a pointer leads to a prior name. So every jump leads further back, and none can go round.
        if (next >= back) throw new Garbled("A pointer does not lead back.")
        back = next
        continue
      }
      const end = this.#labelEnd(next, length)
      this.#spend(end - next)
      if (textLength > 0) this.#text[textLength++] = DOT
      if (textLength + length > NAME_LENGTH_MAX || !this.#copyLabel(next + 1, end, textLength)) return null
      textLength += length
      next = end
    }
  }

  /** The places of `count` records from `at` on, and where they end. */
  records(at: number, count: number): { readonly places: readonly RecordPlace[]; readonly end: number } {
    const places: RecordPlace[] = []
    let end = at
    for (let index = 0; index < count; index++) {
      const place = this.#record(end)
      places.push(place)
      end = place.contentEnd
    }
    return { places, end }
  }

  #record(nameAt: number): RecordPlace {
    const at = this.nameEnd(nameAt)
    const contentAt = at + 10
    const contentEnd = contentAt + this.short(at + 8)
    if (contentEnd > this.#bytes.length) throw new Garbled("A record is longer than the packet.")
    return { nameAt, type: this.short(at), class: this.short(at + 2), ttl: this.long(at + 4), contentAt, contentEnd }
  }

  #labelEnd(at: number, length: number): number {
    if (length >= 64) throw new Garbled("A label is of an unknown kind.")
    return at + 1 + length
  }

  /** Puts the label into the text, in lower case; false when text cannot hold it. */
  #copyLabel(at: number, end: number, textAt: number): boolean {
    for (let next = at; next < end; next++) {
      const octet = this.octet(next)
      if (octet <= 0x20 || octet >= 0x7f || octet === DOT) return false
      this.#text[textAt + next - at] = octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet
    }
    return true
  }

  #spend(octets: number): void {
    this.#nameOctetsLeft -= octets
    if (this.#nameOctetsLeft < 0) throw new Garbled("The names are too much work.")
  }
}
