import { domainToALabels } from "../../base/idna.ts"
import { DAY_MS } from "../../base/time.ts"
import { isJsonObject, ownMember } from "../../base/untrusted-text.ts"

/** What an RDAP response tells about the registration of a domain. */
export type ParsedRegistration =
  | { readonly kind: "registered"; readonly registeredAtMs: number }
  /** It does not say when the domain was registered, or does not know the domain. */
  | { readonly kind: "no_date" }
  /** It is no response about the domain. */
  | { readonly kind: "unreadable" }

const RDAP_NOT_FOUND = 404

/** An earlier date is a placeholder: the oldest registered domain is from 1985. */
const EARLIEST_MS = Date.UTC(1980, 0, 1)

/**
 * Reads the response about a domain (RFC 9083 §5.3), which is A-labels, lower case. Of several registration events the earliest
 * counts. Events more than a day in the future, for clocks may differ, and before there were domains are ignored.
 */
export function parseRegistration(json: unknown, domain: string, nowMs: number): ParsedRegistration {
  if (!isJsonObject(json)) return { kind: "unreadable" }
  const errorCode = ownMember(json, "errorCode")
  // Some servers send an error (RFC 9083 §6) with status 200.
  if (errorCode !== undefined && errorCode !== null)
    return { kind: Number(errorCode) === RDAP_NOT_FOUND ? "no_date" : "unreadable" }
  if (!describesDomain(json, domain)) return { kind: "unreadable" }
  const instants = ownEvents(json)
    .filter(event => isRegistration(ownMember(event, "eventAction")))
    .flatMap(event => parseInstant(ownMember(event, "eventDate")) ?? [])
    .filter(atMs => atMs >= EARLIEST_MS && atMs <= nowMs + DAY_MS)
  return instants.length === 0 ? { kind: "no_date" } : { kind: "registered", registeredAtMs: Math.min(...instants) }
}

/** Whether it is an object about the domain. Its class and its names are checked if it has them. */
function describesDomain(json: object, domain: string): boolean {
  const kind = ownMember(json, "objectClassName")
  if (typeof kind === "string" && kind.toLowerCase() !== "domain") return false
  const names = [ownMember(json, "ldhName"), ownMember(json, "unicodeName")].filter(name => typeof name === "string")
  const [name] = names
  if (name === undefined) return true
  // Some servers write U-labels or capitals in `ldhName`, or a trailing dot.
  const bare = name.trim().replace(/\.$/, "").toLowerCase()
  return bare === domain || domainToALabels(bare) === domain
}

/** How many events are read. Real responses have fewer than ten. */
const EVENTS_MAX = 1000

/** The domain's own events (RFC 9083 §4.5), without those of its entities and name servers. Some servers send one event without a list. */
function ownEvents(json: object): readonly unknown[] {
  const events = ownMember(json, "events")
  return Array.isArray(events) ? events.slice(0, EVENTS_MAX) : [events]
}

const isRegistration = (action: unknown): boolean =>
  typeof action === "string" && action.trim().toLowerCase() === "registration"

/** RFC 3339 §5.6, and the deviations of registries: a space for the T, no seconds, no time, no offset, or the name of the zone. */
const DATE_PATTERN =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[T ](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,]\d{1,12})?)? ?(?<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?(?:\[[\w/+-]{1,40}\])?)?$/i

/**
 * The instant of an event in milliseconds since the Unix epoch; null: it is no date of the calendar. Fractions of a second are
 * dropped. A time without an offset is read as UTC, which is wrong by less than a day.
 */
export function parseInstant(text: unknown): number | null {
  const parts = typeof text === "string" ? DATE_PATTERN.exec(text.trim())?.groups : undefined
  if (parts === undefined) return null
  const { year, month, day, hour = "0", minute = "0", second = "0", zone = "Z" } = parts
  const midnightMs = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // A day that does not exist comes out as another day, and a year below 100 as one of the 20th century.
  if (!new Date(midnightMs).toISOString().startsWith(`${year}-${month}-${day}T`)) return null
  // Second 60 is a leap second.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null
  const offset = offsetMinutes(zone)
  if (offset === null) return null
  return midnightMs + ((Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second)) * 1000
}

/** How many minutes a zone is ahead of UTC; null: it is no valid offset. */
function offsetMinutes(zone: string): number | null {
  const match = /^([+-])(\d\d):?(\d\d)?$/.exec(zone)
  if (match === null) return 0
  const [, sign, hours, minutes = "0"] = match
  if (Number(hours) > 23 || Number(minutes) > 59) return null
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
