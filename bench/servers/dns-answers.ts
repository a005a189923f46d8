/*
 * Answers of a zone that is made up:
 *
 *   any name             MX 10 mx.<name>, A, AAAA, TXT with SPF; no records of other types
 *   suite… a label       the same, but MX 1 aspmx.l.google.com
 *   _dmarc.<name>        TXT with DMARC; other names with an underscore do not exist
 *   nx<digit>… a label   the name does not exist, nor what stands below it
 */
import { type Answer, type DecodedPacket, decode, encode, type Question } from "dns-packet"

/** A query of one question. */
export type DnsQuery = {
  readonly packet: DecodedPacket
  readonly question: Question
  /** The labels of its name, lower case. */
  readonly labels: readonly string[]
}

const TTL_S = 300
const NXDOMAIN = 3
const RECURSION_DESIRED = 0x100
const RECURSION_AVAILABLE = 0x80

/** Reads a query; null for what is none, or asks more than one question. */
export function askedIn(bytes: Uint8Array): DnsQuery | null {
  try {
    const packet = decode(Buffer.from(bytes))
    const [question, ...others] = packet.questions ?? []
    if (packet.type !== "query" || question === undefined || others.length > 0) return null
    return { packet, question, labels: question.name.toLowerCase().split(".") }
  } catch (fault) {
    if (fault instanceof Error) return null
    throw fault
  }
}

/** The answer of the made-up zone. */
export function answerTo(query: DnsQuery): Uint8Array {
  const { labels, question } = query
  const [first = "", ...parents] = labels
  const isDmarc = first === "_dmarc"
  const isDenied = labels.some((label, at) => (label.startsWith("_") && !(isDmarc && at === 0)) || /^nx\d/.test(label))
  if (isDenied) return written(query, [], parents.join("."), NXDOMAIN)
  const text = (value: string): Answer => ({ type: "TXT", name: question.name, ttl: TTL_S, data: value })
  if (isDmarc) return written(query, question.type === "TXT" ? [text("v=DMARC1; p=reject")] : [], question.name)
  const { name, type } = question
  const found: Readonly<Partial<Record<string, Answer>>> = {
    A: { type: "A", name, ttl: TTL_S, data: "198.51.99.1" },
    AAAA: { type: "AAAA", name, ttl: TTL_S, data: "2a01:4f8::1" },
    MX: first.startsWith("suite")
      ? { type: "MX", name, ttl: TTL_S, data: { preference: 1, exchange: "aspmx.l.google.com" } }
      : { type: "MX", name, ttl: TTL_S, data: { preference: 10, exchange: `mx.${name}` } },
    TXT: text("v=spf1 mx -all"),
  }
  const answer = found[type]
  return written(query, answer === undefined ? [] : [answer], name)
}

/** An answer of one text that nobody may keep. */
export const textAnswer = (query: DnsQuery, reply: string): Uint8Array =>
  written(query, [{ type: "TXT", name: query.question.name, ttl: 0, data: reply }], "")

/** A response that offers recursion and says in return that EDNS is spoken; without answers it has the SOA of the zone. */
function written({ packet, question }: DnsQuery, answers: Answer[], zone: string, code = 0): Uint8Array {
  const times = { serial: 1, refresh: 3600, retry: 600, expire: 86_400, minimum: TTL_S }
  return encode({
    type: "response",
    id: packet.id ?? 0,
    flags: RECURSION_AVAILABLE | ((packet.flags ?? 0) & RECURSION_DESIRED) | code,
    questions: [question],
    answers,
    authorities:
      answers.length > 0 ? [] : [{ type: "SOA", name: zone, ttl: TTL_S, data: { mname: ".", rname: ".", ...times } }],
    additionals: (packet.additionals ?? []).some(({ type }) => type === "OPT")
      ? [
          {
            type: "OPT",
            name: ".",
            udpPayloadSize: 1232,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  })
}
