import type { Answer, Question, StringAnswer } from "dns-packet"
import { MAIL_HOST_ADDRESS } from "./zone.ts"

/**
 * Records in words: type and name, then each record as in a zone file. `"MX x.com": ["10 mx.x.com"]`, `"SRV _a._tcp.x.com":
 * ["0 5 443 x.com"]` (priority, weight, port, target), `"A x.com 60": ["192.0.2.1"]` (a TTL of its own). Names have no
 * trailing dot; the root is `.`. A TXT record is one text, or its strings in double quotes; `\DDD` is an octet.
 */
export type ServedRecords = Readonly<Record<string, readonly string[]>>

/** How long answers hold, in seconds: records without a TTL of their own, and the SOA beside an answer without any. */
export type ZoneTimes = { readonly ttlS: number; readonly soaTtlS: number; readonly soaMinimumS: number }

/** What is said to a question: a code (RFC 1035 §4.1.1) and the records of each section. */
export type Told = {
  readonly code: number
  readonly answers: readonly Answer[]
  readonly authorities: readonly Answer[]
  readonly additionals: readonly Answer[]
}

/** Says what a zone has for a question. */
export type Telling = (question: Question) => Told

/** A name as it is compared: lower case, without a trailing dot. */
export const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, "")

const NXDOMAIN = 3
const STRING_OCTETS_MAX = 255

/**
 * Reads a zone. It throws where words do not read as a record. What it tells is a recursor's answer: CNAMEs are followed as
 * far as the zone knows them, a name that is not there is NXDOMAIN, and an answer without records has an SOA (RFC 2308). A
 * name of an MX record without a row of its own is at `MAIL_HOST_ADDRESS`.
 */
export function zoneOf(zone: ServedRecords, times: ZoneTimes): Telling {
  const written = Object.entries(zone).flatMap(([key, values]) => recordsOf(key, values, times.ttlS))
  const owners = new Set(Object.keys(zone).map(key => plainName(key.split(" ")[1] ?? "")))
  const hosts = new Set(written.flatMap(one => (one.type === "MX" ? plainName(one.data.exchange) : [])))
  const bareHosts = [...hosts].filter(name => name !== "" && !owners.has(name))
  const records = [...written, ...bareHosts.flatMap(name => recordsOf(`A ${name}`, [MAIL_HOST_ADDRESS], times.ttlS))]
  const byName = Map.groupBy(records, ({ name }) => plainName(name))
  const isThere = (name: string): boolean =>
    name === "" || byName.has(name) || byName.keys().some(held => held.endsWith(`.${name}`))
  return ({ name, type }) => {
    const { aliases, last } = followed(byName, name, type)
    const here = byName.get(plainName(last)) ?? []
    const wanted = here.filter(one => one.type === type).map(one => ({ ...one, name: last }))
    const answers = [...aliases, ...wanted]
    // Where aliases go round in a circle, there is nothing to say of the end.
    const isTold = wanted.length > 0 || here.some(isAlias)
    if (isTold) return { code: 0, answers, authorities: [], additionals: [] }
    return { ...nothing(plainName(last), times), code: isThere(plainName(last)) ? 0 : NXDOMAIN, answers }
  }
}

const isAlias = (one: Answer): one is StringAnswer => one.type === "CNAME"

/** The aliases from a name on, and the last name: it has none, or it has what is wanted, or it stood there already. */
function followed(byName: ReadonlyMap<string, readonly Answer[]>, name: string, type: string) {
  const aliases: Answer[] = []
  const seen = new Set<string>()
  // An owner is written as it was asked for, as servers do that compress.
  for (let last = name; ; ) {
    const here = byName.get(plainName(last)) ?? []
    const alias = here.find(isAlias)
    if (alias === undefined || seen.has(plainName(last)) || here.some(one => one.type === type))
      return { aliases, last }
    aliases.push({ ...alias, name: last })
    seen.add(plainName(last))
    last = alias.data
  }
}

/** An answer without records: its SOA stands in the last two labels of the name. */
export function nothing(name: string, times: Pick<ZoneTimes, "soaTtlS" | "soaMinimumS">): Told {
  const apex = name.split(".").slice(-2).join(".")
  const start = {
    mname: `ns.${apex}`,
    rname: `hostmaster.${apex}`,
    serial: 1,
    refresh: 3600,
    retry: 600,
    expire: 86_400,
  }
  const soa = { ...start, minimum: times.soaMinimumS }
  return {
    code: NXDOMAIN,
    answers: [],
    authorities: [{ type: "SOA", name: apex === "" ? "." : apex, ttl: times.soaTtlS, data: soa }],
    additionals: [],
  }
}

/** The strings of a text: those in double quotes, or the whole, cut where a string ends (RFC 1035 §3.3). */
export function stringsOf(text: string): Buffer[] {
  const quoted = /^"/.test(text) ? [...text.matchAll(/"([^"]*)"/g)].map(([, inner = ""]) => inner) : [text]
  return quoted.flatMap(piece => {
    const bytes = Buffer.concat(
      piece.split(/\\(\d{3})/).map((part, at) => (at % 2 === 1 ? Buffer.of(Number(part)) : Buffer.from(part))),
    )
    const count = Math.max(1, Math.ceil(bytes.length / STRING_OCTETS_MAX))
    return Array.from({ length: count }, (_, at) =>
      bytes.subarray(at * STRING_OCTETS_MAX, (at + 1) * STRING_OCTETS_MAX),
    )
  })
}

function recordsOf(key: string, values: readonly string[], ttlS: number): Answer[] {
  const [type = "", name = "", ownTtl] = key.split(" ")
  const shared = { name, ttl: ownTtl === undefined ? ttlS : Number(ownTtl) }
  return values.map(value => {
    const words = value.split(" ")
    const [first = "", second = "", third = "", fourth = ""] = words
    switch (type) {
      case "A":
      case "AAAA":
      case "CNAME":
      case "NS":
        return { ...shared, type, data: value }
      case "MX":
        return { ...shared, type, data: { preference: Number(first), exchange: second } }
      case "SRV":
        return {
          ...shared,
          type,
          data: { priority: Number(first), weight: Number(second), port: Number(third), target: fourth },
        }
      case "TXT":
        return { ...shared, type, data: stringsOf(value) }
      default:
        throw new Error(`the zone has a type that the server does not write: ${key}`)
    }
  })
}
