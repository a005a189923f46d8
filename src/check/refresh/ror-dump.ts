import type { Pause } from "../../base/concurrency.ts"
import { countGarbage } from "../../base/garbage.ts"
import { jsonArrayLines } from "../../base/json-array.ts"
import { parseJson } from "../../base/text.ts"
import { isJsonObject } from "../../base/untrusted-text.ts"
import { archiveBytes, openZip } from "../../base/zip-archive.ts"
import { dividedLines } from "./divided-lines.ts"
import { ENTRIES_MAX } from "./source-validation.ts"

/** The bytes of a large download. */
export const LARGE_BYTES_MAX = 96 * 1024 * 1024
/** What a dump may unpack to. It has 110 000 records of some three kilobytes. */
const UNPACKED_BYTES_MAX = 1024 * 1024 * 1024
const RECORDS_MAX = 500_000
/** Some records name hundreds of others. A longer one is left out. */
const RECORD_BYTES_MAX = 1024 * 1024
/** An organisation has a few domains. */
const RECORD_HOSTS_MAX = 100

/** The parts of the dump, and so the lists that are made of it. */
export const ROR_PARTS = ["education", "government", "known"] as const

type Refuse = (says: string) => never

/**
 * Reads a dump of the Research Organization Registry (schema 2): a zip archive with an array of records. The archive is held whole; what it
 * unpacks to is read piece by piece. `known` has the domain of every active organisation, `education` and `government` those whose type, and where
 * they have several whose name too, says what they are.
 */
export async function readRorDump(
  parts: AsyncIterable<Uint8Array>,
  refuse: Refuse,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map(ROR_PARTS.map(part => [part, new Set<string>()]))
  let [recordCount, unreadableCount] = [0, 0]
  const lines = jsonArrayLines(await recordBytes(parts, refuse), RECORD_BYTES_MAX, refuse)
  for await (const line of dividedLines(lines, 2 * RECORD_BYTES_MAX, refuse)) {
    countGarbage(line.length / GARBAGE_BYTES)
    if (++recordCount > RECORDS_MAX) refuse(`has more than ${RECORDS_MAX} records`)
    const organisation = line.length > RECORD_BYTES_MAX ? null : readOrganisation(parseJson(line))
    if (organisation === null) unreadableCount++
    else addHosts(names, organisation, refuse)
  }
  if (unreadableCount * 100 > recordCount)
    refuse(`has ${unreadableCount} records of ${recordCount} that cannot be read`)
  return new Map([...names].map(([part, hosts]) => [part, `${[...hosts].join("\n")}\n`]))
}

function addHosts(names: ReadonlyMap<string, Set<string>>, organisation: Organisation, refuse: Refuse): void {
  for (const part of partsOf(organisation)) {
    const all = names.get(part)
    for (const host of organisation.hosts) all?.add(host)
    if ((all?.size ?? 0) > ENTRIES_MAX) refuse(`has more than ${ENTRIES_MAX} names`)
  }
}

/** The bytes of the file with the records. */
async function recordBytes(parts: AsyncIterable<Uint8Array>, refuse: Refuse): Promise<AsyncIterable<Uint8Array>> {
  const tooLarge = (): never => refuse(`has more than ${LARGE_BYTES_MAX} bytes`)
  const collectGarbage = (part: Uint8Array): void => countGarbage(part.length / GARBAGE_BYTES)
  const archive = await openZip(await archiveBytes(parts, LARGE_BYTES_MAX, tooLarge, collectGarbage), refuse, NO_PAUSE)
  const json = archive.files.filter(({ name }) => name.endsWith(".json") && !name.startsWith("/"))
  const file = json.find(({ name }) => name.includes("schema_v2")) ?? json[0]
  if (file === undefined) return refuse("is an archive without a JSON file")
  const { uncompressedSize } = file.entry
  if (uncompressedSize > UNPACKED_BYTES_MAX)
    refuse(`unpacks to ${uncompressedSize} bytes, more than ${UNPACKED_BYTES_MAX}`)
  return bounded(archive.read(file), refuse)
}

/** So many bytes of parts count as a piece of garbage: it is collected once for each eight megabytes. */
const GARBAGE_BYTES = 140

/** Nobody waits for the process of a refresh. */
const NO_PAUSE: Pause = () => undefined

/** What an archive says of its sizes may be wrong. */
async function* bounded(parts: AsyncIterable<Uint8Array>, refuse: Refuse): AsyncGenerator<Uint8Array, undefined> {
  let count = 0
  for await (const part of parts) {
    count += part.length
    if (count > UNPACKED_BYTES_MAX) refuse(`unpacks to more than ${UNPACKED_BYTES_MAX} bytes`)
    yield part
  }
}

/** What is read of a record. */
export type Organisation = {
  readonly types: ReadonlySet<string>
  readonly names: readonly string[]
  /** The hosts that are its own. */
  readonly hosts: readonly string[]
}

/** Reads a record; null: it is none. One that is not active has no hosts, since its domain may be somebody else's now. */
export function readOrganisation(record: unknown): Organisation | null {
  if (!isJsonObject(record)) return null
  const { types, names, links, domains, status } = record
  if (!Array.isArray(types) || !Array.isArray(names)) return null
  const websites = arrayOf(links).flatMap(link =>
    isJsonObject(link) && link["type"] === "website" && typeof link["value"] === "string" ? [link["value"]] : [],
  )
  const own = arrayOf(domains).flatMap(domain => (typeof domain === "string" ? [domain] : []))
  const hosts = [...own, ...websites.flatMap(url => ownHost(url) ?? [])].map(host =>
    host.toLowerCase().replace(/^www\d?\./, ""),
  )
  return {
    types: new Set(types.filter(type => typeof type === "string")),
    names: names.flatMap(name => (isJsonObject(name) && typeof name["value"] === "string" ? [name["value"]] : [])),
    hosts: status === "active" ? hosts.slice(0, RECORD_HOSTS_MAX) : [],
  }
}

const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A path that a home page has: none, a language, or the name of an index. */
const HOME_PATH = /^\/(?:(?:[a-z]{2}(?:[-_][a-z]{2})?|home|web|site|portal|main|index|default)(?:\.[a-z]{2,5})?\/?)?$/i

/** The host of a website; null: it is a page on a host that may be somebody else's. */
function ownHost(url: string): string | null {
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.port !== "") return null
  return HOME_PATH.test(parsed.pathname) && parsed.search === "" ? parsed.hostname : null
}

/** What tells a school in a name: words of some twenty languages, folded. */
const EDUCATION_WORDS =
  /universi|univerz|uniwersytet|yliopisto|egyetem|ulikool|egiteto|college|colleg|kolleg|kolej|school|schule|schola|skola|skole|szkol|koulu|skoli|ecole|escola|escuela|scuola|scoala|institut|instytut|academ|akadem|hochschule|hogeschool|hogskol|hojskol|hoyskol|fakult|facult|facul|polyte|polite|politech|seminar|conserv|lyce|lice|gymnas|gimnaz|instituto tecno|madrasa|vidya|sekolah|tinggi|daigaku|大学|大學|学校|學校|学院|學院|대학|학교|مدرسة|جامعة|университет|институт|академия|школа|колледж/

/** What tells a body of a government in a name. */
const GOVERNMENT_WORDS =
  /minist|department|departament|government|gouvern|gobierno|governo|council|county|city of|town of|state of|republic|federal|agenc|authority|autorid|autorit|bureau|office|commission|comision|comissao|administration|administracion|secretar|direction|direccion|directorate|direktorat|prefect|municip|gemeente|kommun|region|provinc|parliament|parlament|senate|court|police|army|navy|air force|defen[cs]e|embass|consulate|national|nacional|nazionale|bundes|landes|rijks|statens|styrelse|verket|inspect|service|survey|board|министер|департамент|правительств|администрац|省|庁|府|政府/

/** Types that a body of another kind has beside these. */
const OTHER_TYPES: readonly string[] = ["company", "healthcare", "facility", "archive", "nonprofit", "other"]

/** The lists that an organisation belongs to. */
export function partsOf({ types, names }: Organisation): readonly (typeof ROR_PARTS)[number][] {
  const isMixed = OTHER_TYPES.some(type => types.has(type))
  const tells = (words: RegExp): boolean => names.some(name => words.test(folded(name)))
  if (types.has("education") && !types.has("company") && (!isMixed || tells(EDUCATION_WORDS)))
    return ["known", "education"]
  const isGovernment = types.has("government") && !types.has("education") && !types.has("company")
  return isGovernment && (!isMixed || tells(GOVERNMENT_WORDS)) ? ["known", "government"] : ["known"]
}

const folded = (name: string): string => name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()
