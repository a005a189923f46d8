import { type Finding, known, unknown } from "../../src/base/finding.ts"
import type {
  AskDns,
  CachingResolver,
  DnsAnswer,
  DnsQuestion,
  DnsRecord,
  DnsRecordType,
  Resolver,
} from "../../src/check/dns/dns-types.ts"

/** What is said without records: a denial, or why there is no answer. */
type Word = "no_name" | "no_data" | "timed_out" | "unavailable"

/**
 * Records by `TYPE name`, as a zone file writes them: `"MX example.com": ["10 mx.example.com"]`, `"A ."` for the root,
 * SRV as `priority weight port target`, TXT as its text without quotes. `* name` stands for each type without a row of
 * its own. The object is read at each question, so a test may change it on the way.
 */
export type ZoneRecords = Record<string, readonly string[] | Word>

/** A world of DNS that is made up, and what it was asked, as `TYPE name` in order. */
export type Zone = {
  readonly resolver: Resolver
  /** Its answers are new and hold for the TTL from now on. */
  readonly ask: CachingResolver
  /** Both of the above count here. */
  readonly requests: string[]
}

const CHAIN_MAX = 8
const START_MS = Date.UTC(2026, 0, 1)

/** The address of each mail host that has no row of its own. */
export const MAIL_HOST_ADDRESS = "198.51.99.25"

/**
 * Answers from the records: a name that has nothing, and nothing below it, is `no_name`; one without a record of the
 * type is `no_data`; a `CNAME` row makes other types follow. A name of an MX row without any row of its own is at
 * `MAIL_HOST_ADDRESS`.
 */
export function zone(records: ZoneRecords, ttlS = 300, clock: () => number = () => START_MS): Zone {
  const requests: string[] = []
  const resolver: Resolver = async question => {
    requests.push(written(question))
    return found(records, question, ttlS)
  }
  const ask: CachingResolver = async question => {
    const finding = await resolver(question)
    if (!finding.known) return finding
    return known({ ...finding.value, isCached: false, freshUntilMs: clock() + ttlS * 1000 })
  }
  return { resolver, ask, requests }
}

/** A resolver without its promise. A question whose promise rejects is not answered. */
export const asking =
  (resolver: CachingResolver): AskDns =>
  (question, onFinding) =>
    void resolver(question).then(onFinding, () => undefined)

/** A question as `TYPE name`; the root is `.`. */
export const written = ({ name, type }: DnsQuestion): string => `${type} ${name === "" ? "." : name}`

function found(records: ZoneRecords, question: DnsQuestion, ttlS: number, link = 0): Finding<DnsAnswer> {
  const { name, type } = question
  const row = records[written(question)] ?? records[`* ${name === "" ? "." : name}`]
  const alias = type === "CNAME" ? undefined : records[written({ name, type: "CNAME" })]
  if (row === undefined && Array.isArray(alias)) {
    return link < CHAIN_MAX ? found(records, { name: bare(alias[0]), type }, ttlS, link + 1) : unknown("unavailable")
  }
  const description = row ?? withoutRow(records, question)
  if (description === "timed_out" || description === "unavailable") return unknown(description)
  if (typeof description !== "string" && description.length > 0)
    return known({ outcome: "records", records: description.map(text => parsed(type, text)), ttlS })
  return known({ outcome: description === "no_name" && link === 0 ? "no_name" : "no_data", records: [], ttlS })
}

function withoutRow(records: ZoneRecords, { name, type }: DnsQuestion): ZoneRecords[string] {
  if (isBareMailHost(records, name)) return type === "A" ? [MAIL_HOST_ADDRESS] : "no_data"
  return exists(records, name) ? "no_data" : "no_name"
}

const isBareMailHost = (records: ZoneRecords, name: string): boolean =>
  Object.entries(records).some(
    ([key, row]) => key.startsWith("MX ") && Array.isArray(row) && row.some(text => bare(text.split(" ")[1]) === name),
  ) && !Object.keys(records).some(key => key.slice(key.indexOf(" ") + 1) === name)

const exists = (records: ZoneRecords, name: string): boolean =>
  name === "" ||
  Object.entries(records).some(([key, row]) => {
    const owner = key.slice(key.indexOf(" ") + 1)
    return row !== "no_name" && (owner === name || owner.endsWith(`.${name}`))
  })

function parsed(type: DnsRecordType, text: string): DnsRecord {
  const words = text.split(" ")
  switch (type) {
    case "A":
    case "AAAA":
      return { type, address: text }
    case "CNAME":
    case "NS":
      return { type, target: bare(text) }
    case "MX":
      return { type, preference: Number(words[0]), exchange: bare(words[1]) }
    case "SRV":
      return { type, priority: Number(words[0]), port: Number(words[2]), target: bare(words[3]) }
    case "TXT":
      return { type, text }
  }
}

function bare(name: string | undefined): string {
  if (name === undefined) throw new Error("a record of the zone lacks its name")
  return name.toLowerCase().replace(/\.$/, "")
}
