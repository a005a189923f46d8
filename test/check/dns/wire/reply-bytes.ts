import type { DnsRecordType } from "../../../../src/check/dns/dns-types.ts"

/** The parts of a reply. Records are bytes, so that they can be malformed. */
export type ReplyParts = {
  readonly id?: number
  /** The bytes 2 and 3 of the header. A plain reply has 0x8180. */
  readonly flags?: number
  readonly questionCount?: number
  readonly name?: string
  readonly type?: DnsRecordType
  readonly class?: number
  readonly answers?: readonly Uint8Array[]
  readonly authorities?: readonly Uint8Array[]
  readonly additionals?: readonly Uint8Array[]
  /** The answer count in the header, if it is wrong. */
  readonly answerCount?: number
}

export const TYPES = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, OPT: 41, RRSIG: 46 } as const

/** The offset of the name of the question, to which most names of a reply point. */
export const QUESTION_NAME_AT = 12

/** Builds a reply, by default to id 7, A example.com. */
export function replyBytes(parts: ReplyParts = {}): Uint8Array {
  const { id = 7, flags = 0x8180, questionCount = 1, name = "example.com", type = "A" } = parts
  const { answers = [], authorities = [], additionals = [], answerCount = answers.length } = parts
  const counts = [questionCount, answerCount, authorities.length, additionals.length].map(short)
  const question = [wireName(name), short(TYPES[type]), short(parts.class ?? 1)]
  return joined([short(id), short(flags), ...counts, ...question, ...answers, ...authorities, ...additionals])
}

/** Builds a record of class IN. Its owner is a name or raw bytes. */
export function record(
  owner: string | Uint8Array,
  type: number,
  content: Uint8Array,
  { ttlS = 300, class: recordClass = 1, length = content.length } = {},
): Uint8Array {
  const name = typeof owner === "string" ? wireName(owner) : owner
  return joined([name, short(type), short(recordClass), long(ttlS), short(length), content])
}

/** A name without pointers. Characters up to U+00FF stand for single bytes. */
export function wireName(name: string): Uint8Array {
  return wireLabels(name === "" ? [] : name.split("."))
}

/** A name of these labels, which may hold dots. */
export function wireLabels(labels: readonly string[]): Uint8Array {
  const parts = labels.map(label => [label.length, ...Array.from(label, letter => letter.charCodeAt(0))])
  return Uint8Array.from([...parts.flat(), 0])
}

/** A pointer to the byte `at`. */
export function pointer(at: number): Uint8Array {
  return short(0xc000 | at)
}

/** The content of a SOA record. */
export function soaContent(minimumS: number): Uint8Array {
  return joined([wireName("ns.example.com"), wireName("host.example.com"), ...[1, 2, 3, 4, minimumS].map(long)])
}

/** The content of a TXT record. */
export function txtContent(...texts: readonly Uint8Array[]): Uint8Array {
  return joined(texts.flatMap(text => [Uint8Array.of(text.length), text]))
}

/** The two bytes of a number. */
export function short(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value)
}

/** The four bytes of a number. */
export function long(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)
}

/** The parts joined. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces))
}
