import type { Answer, Question } from "dns-packet"
import { nothing, plainName, type Told } from "./dns-zone.ts"

const SERVFAIL = 2
const REFUSED = 5
const TTL_TOP_BIT = 0x8000012c
const TXT_OCTETS = 60_000
const CHAIN_LENGTH = 20
const LONG_NAME_LABELS = 255
const ROOT_SOA = { soaTtlS: 300, soaMinimumS: 300 }

const refusal = (code: number): Told => ({ code, answers: [], authorities: [], additionals: [] })

const withTtl = (facts: Told, ttl: number): Told => ({
  ...facts,
  answers: facts.answers.map(one => ({ ...one, ttl })),
  authorities: facts.authorities.map(one => ({ ...one, ttl })),
})

/** The same records in the same order, their names and those of their owners in upper case. */
function shouted(facts: Told): Told {
  const shout = (one: Answer): Answer => {
    const name = one.name.toUpperCase()
    if (one.type === "CNAME" || one.type === "NS") return { ...one, name, data: one.data.toUpperCase() }
    if (one.type === "MX") return { ...one, name, data: { ...one.data, exchange: one.data.exchange.toUpperCase() } }
    if (one.type === "SRV") return { ...one, name, data: { ...one.data, target: one.data.target.toUpperCase() } }
    return { ...one, name }
  }
  return { ...facts, answers: facts.answers.map(shout), authorities: facts.authorities.map(shout) }
}

/** The records of the answer at the end of a chain of aliases. */
function chained(facts: Told, name: string): Told {
  const link = (at: number): string => (at === 0 ? name : `link${at}.${name}`)
  const aliases = Array.from(
    { length: CHAIN_LENGTH },
    (_, at): Answer => ({ type: "CNAME", name: link(at), ttl: 300, data: link(at + 1) }),
  )
  return { ...facts, answers: [...aliases, ...facts.answers.map(one => ({ ...one, name: link(CHAIN_LENGTH) }))] }
}

/** The answer among records that nobody asked for: of foreign names, of the same types. */
function poisoned(facts: Told): Told {
  const foreign = facts.answers.map(one => ({ ...one, name: "victim.example" }))
  const glue: Answer = { type: "A", name: "victim.example", ttl: 300, data: "192.0.2.66" }
  return { ...facts, answers: [...foreign, ...facts.answers], additionals: [glue, ...foreign] }
}

const looped = (name: string): Told => ({
  ...refusal(0),
  answers: [
    { type: "CNAME", name, ttl: 300, data: `loop.${name}` },
    { type: "CNAME", name: `loop.${name}`, ttl: 300, data: name },
  ],
})

/** Faults of what is said: another answer in place of the zone's. */
const TELLING_FAULTS = {
  servfail: () => refusal(SERVFAIL),
  refused: () => refusal(REFUSED),
  /** The name is denied, as a closed network denies all: with the root's SOA, or with none. */
  nxdomain: () => nothing("", ROOT_SOA),
  nxdomain_without_soa: () => refusal(nothing("", ROOT_SOA).code),
  no_data_without_soa: () => refusal(0),
  /** The first alias alone, what it leads to is left to the asker. */
  unfinished: facts => (facts.answers[0]?.type === "CNAME" ? { ...refusal(0), answers: [facts.answers[0]] } : facts),
  cname_loop: (_, { name }) => looped(name),
  /** Twenty aliases before the answer's records. */
  cname_chain: (facts, { name }) => chained(facts, name),
  /** Records against their order: what an alias leads to stands before it. */
  backwards: facts => ({ ...facts, answers: facts.answers.toReversed() }),
  huge_txt: (_, { name }) => ({
    ...refusal(0),
    answers: [{ type: "TXT", name, ttl: 300, data: Array<string>(TXT_OCTETS / 250).fill("x".repeat(250)) }],
  }),
  ttl_zero: facts => withTtl(facts, 0),
  ttl_tiny: facts => withTtl(facts, 1),
  /** The top bit is set: it counts as zero (RFC 2181 §8). */
  ttl_top_bit: facts => withTtl(facts, TTL_TOP_BIT),
  poison: facts => poisoned(facts),
  upper_case: facts => shouted(facts),
} as const satisfies TellingFaults
type TellingFaults = Readonly<Record<string, (facts: Told, question: Question) => Told>>

/** A written answer with something changed in its bytes. */
const edited = (message: Buffer, edit: (copy: Buffer) => unknown): Buffer => {
  const copy = Buffer.from(message)
  edit(copy)
  return copy
}

const noise = (id: number, count: number): Buffer =>
  Buffer.from(Array.from({ length: count }, (_, at) => (Math.imul(id + at * 40_503 + 1, 0x9e3779b1) >>> 13) & 0xff))

/** Where the first question ends, from the start of its message. */
export function questionEnd(message: Buffer): number {
  let at = 12
  while ((message[at] ?? 0) !== 0) at += 1 + (message[at] ?? 0)
  return at + 5
}

/** The question and its header, then one record in the bytes given. */
const withRecord = (message: Buffer, record: Buffer): Buffer =>
  Buffer.concat([withCounts(message, 1), message.subarray(12, questionEnd(message)), record])

const withCounts = (message: Buffer, answers: number): Buffer =>
  edited(message.subarray(0, 12), header => {
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers, 6)
    header.writeUInt32BE(0, 8)
  })

/** An answer that is cut to nothing and says so (TC). */
export const truncated = (message: Buffer): Buffer =>
  edited(Buffer.concat([withCounts(message, 0), message.subarray(12, questionEnd(message))]), copy =>
    copy.writeUInt8((copy[2] ?? 0) | 0x02, 2),
  )

/** The first record's RDLENGTH becomes another; a message without records stays as it is. */
const withLength = (message: Buffer, length: number): Buffer =>
  edited(message, copy => {
    if (copy.readUInt32BE(6) === 0) return
    let at = questionEnd(copy)
    while ((copy[at] ?? 0) !== 0) at += 1 + (copy[at] ?? 0)
    copy.writeUInt16BE(length, at + 9)
  })

const CNAME_HEAD = [0, 5, 0, 1, 0, 0, 1, 44]

/** Faults of the bytes: none or several messages in place of the one that was written. */
const WRITING_FAULTS = {
  silent: () => [],
  duplicate: message => [message, message],
  /** Octets without a meaning; then the same under the right header. */
  garbage: message => [noise(message.readUInt16BE(0), 64)],
  garbage_body: message => [Buffer.concat([message.subarray(0, 12), noise(message.readUInt16BE(0), 64)])],
  empty: () => [Buffer.alloc(0)],
  header_cut: message => [message.subarray(0, 7)],
  body_cut: message => [message.subarray(0, questionEnd(message) + 3)],
  wrong_id: message => [edited(message, copy => copy.writeUInt16BE(copy.readUInt16BE(0) ^ 0x5a5a, 0))],
  /** The answer's question is about another name, as long as the one that was asked for. */
  wrong_question: message => [edited(message, copy => copy.writeUInt8(copy[13] === 0x7a ? 0x79 : 0x7a, 13))],
  wrong_question_type: message => [edited(message, copy => copy.writeUInt16BE(12, questionEnd(copy) - 4))],
  no_question: message => [
    edited(Buffer.concat([message.subarray(0, 12), message.subarray(questionEnd(message))]), copy =>
      copy.writeUInt16BE(0, 4),
    ),
  ],
  /** REFUSED in a header without a question, as unbound says it to whom it does not serve. */
  refused_header: message => [
    edited(message.subarray(0, 12), header => {
      header.writeUInt8(0x80 | REFUSED, 3)
      header.fill(0, 4)
    }),
  ],
  /** The question's name comes back in the other case (a server that knows nothing of 0x20). */
  case_changed: message => [
    edited(message, copy => {
      for (let at = 12; at < questionEnd(copy) - 4; at++) {
        const octet = copy[at] ?? 0
        if (/[a-z]/i.test(String.fromCharCode(octet))) copy[at] = octet ^ 0x20
      }
    }),
  ],
  /** The question itself comes back: it says that it is no answer (QR). */
  echo: message => [edited(message, copy => copy.writeUInt8((copy[2] ?? 0) & 0x7f, 2))],
  truncated: message => [truncated(message)],
  /** A record whose owner is a label and then itself again. */
  compression_loop: message => {
    const start = 0xc000 | questionEnd(message)
    return [withRecord(message, Buffer.from([1, 0x61, start >> 8, start & 0xff, ...CNAME_HEAD, 0, 2, 0xc0, 12]))]
  },
  rdlength_long: message => [withLength(message, 0xffff)],
  rdlength_short: message => [withLength(message, 1)],
  counts_lie: message => [edited(message, copy => copy.writeUInt16BE(0xffff, 6))],
  /** An alias for a name of 255 labels, twice as long as names may be. */
  name_of_255_labels: message => {
    const name = Array<number[]>(LONG_NAME_LABELS).fill([1, 0x61]).flat()
    const length = name.length + 1
    return [withRecord(message, Buffer.from([0xc0, 12, ...CNAME_HEAD, length >> 8, length & 0xff, ...name, 0]))]
  },
} as const satisfies WritingFaults
type WritingFaults = Readonly<Record<string, (message: Buffer) => readonly Buffer[]>>

/**
 * Faults of the way back: over UDP, from another port; when the test lets go; over TCP, half a message and then the end of
 * the connection, or the end at once.
 */
type SendingFault = "other_port" | "held" | "cut" | "closed"

/** One thing that goes wrong. */
export type Fault = keyof typeof TELLING_FAULTS | keyof typeof WRITING_FAULTS | SendingFault

/** What goes wrong: over both, or each over its own way; a way that is not named is well. */
export type Faults = Fault | { readonly udp?: Fault; readonly tcp?: Fault }

/**
 * Where it goes wrong: `"MX x.com"` (a type of a name), `"x.com"` (the name), `"MX *"` (the type), `"*"` (everything). The
 * one that is named first here counts.
 */
export type Place = string

/** The fault of a question over one of the ways, if it has any. */
export function faultOf(
  faults: ReadonlyMap<Place, Faults>,
  question: Pick<Question, "type" | "name">,
  way: "udp" | "tcp",
): Fault | undefined {
  const name = plainName(question.name)
  const { type } = question
  const place = [`${type} ${name}`, name, `${type} *`, "*"].find(one => faults.has(one))
  const fault = place === undefined ? undefined : faults.get(place)
  return typeof fault === "object" ? fault[way] : fault
}

/** What is said under a fault. */
export function toldUnder(fault: Fault | undefined, facts: Told, question: Question): Told {
  const faults: TellingFaults = TELLING_FAULTS
  return fault === undefined ? facts : (faults[fault]?.(facts, question) ?? facts)
}

/** The messages that are sent under a fault in place of one. */
export function messagesUnder(fault: Fault | undefined, message: Buffer): readonly Buffer[] {
  const faults: WritingFaults = WRITING_FAULTS
  return fault === undefined ? [message] : (faults[fault]?.(message) ?? [message])
}
