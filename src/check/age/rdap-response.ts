import { domainToASCII } from "node:url"
import { DAY_MS } from "../../base/time.ts"
import { ownMember } from "../../base/untrusted-text.ts"

/** What an RDAP server's answer about a domain tells. */
export type ParsedRegistration =
  | { readonly kind: "registered"; readonly registeredAtMs: number }
  /** It does not say when the domain was registered, or does not know the domain. */
  | { readonly kind: "untold" }
  /** It is no answer about the domain. */
  | { readonly kind: "unreadable" }

const RDAP_NOT_FOUND = 404

/** The first domain of those that are still there was registered in 1985; an earlier date stands for none. */
const EARLIEST_MS = Date.UTC(1980, 0, 1)

/**
 * What the answer tells of the domain (RFC 9083 §5.3), which is A-labels, lower case. Of several registrations the first
 * counts; those in the future, but for clocks that differ by a day at most, and from before there were domains do not.
 */
export function parseRegistration(json: unknown, domain: string, nowMs: number): ParsedRegistration {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return { kind: "unreadable" }
  const errorCode = ownMember(json, "errorCode")
  // An error (RFC 9083 §6) that comes with the status of a success.
  if (errorCode !== undefined && errorCode !== null)
    return { kind: Number(errorCode) === RDAP_NOT_FOUND ? "untold" : "unreadable" }
  if (!describesDomain(json, domain)) return { kind: "unreadable" }
  const instants = ownEvents(json)
    .filter(event => isRegistration(ownMember(event, "eventAction")))
    .flatMap(event => parseInstant(ownMember(event, "eventDate")) ?? [])
    .filter(atMs => atMs >= EARLIEST_MS && atMs <= nowMs + DAY_MS)
  return instants.length === 0 ? { kind: "untold" } : { kind: "registered", registeredAtMs: Math.min(...instants) }
}

/** Whether it is an object of the domain: what it calls itself is, and it need not call itself anything. */
function describesDomain(json: object, domain: string): boolean {
  const kind = ownMember(json, "objectClassName")
  if (typeof kind === "string" && kind.toLowerCase() !== "domain") return false
  const names = [ownMember(json, "ldhName"), ownMember(json, "unicodeName")].filter(name => typeof name === "string")
  const [name] = names
  if (name === undefined) return true
  // Some write a U-label as `ldhName`, a capital, or the dot of the root.
  const bare = name.trim().replace(/\.$/, "").toLowerCase()
  return bare === domain || domainToASCII(bare) === domain
}

/** How many events are looked at. Real answers have fewer than ten. */
const EVENTS_MAX = 1000

/** The domain's own events (RFC 9083 §4.5): those of its entities and name servers are theirs. One may stand alone. */
function ownEvents(json: object): readonly unknown[] {
  const events = ownMember(json, "events")
  return Array.isArray(events) ? events.slice(0, EVENTS_MAX) : [events]
}

const isRegistration = (action: unknown): boolean =>
  typeof action === "string" && action.trim().toLowerCase() === "registration"

/** RFC 3339 §5.6, and what registries write instead: a space for the T, no seconds, no time, no offset, or the zone's name too. */
const DATE_PATTERN =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:[T ](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,]\d{1,12})?)? ?(?<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?(?:\[[\w/+-]{1,40}\])?)?$/i

/**
 * The instant of an event in milliseconds since the Unix epoch; null: it is no date of the calendar. Fractions of a second
 * are left out, and a time without an offset is taken as UTC, which no registry is further from than a day.
 */
export function parseInstant(written: unknown): number | null {
  const parts = typeof written === "string" ? DATE_PATTERN.exec(written.trim())?.groups : undefined
  if (parts === undefined) return null
  const { year, month, day, hour = "0", minute = "0", second = "0", zone = "Z" } = parts
  const midnightMs = Date.UTC(Number(year), Number(month) - 1, Number(day))
  // The calendar has the day when it comes out as it went in. `Date.UTC` takes the years up to 99 for those of 1900.
  if (!new Date(midnightMs).toISOString().startsWith(`${year}-${month}-${day}T`)) return null
  // The sixtieth second is a leap second.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null
  const offset = offsetMinutes(zone)
  if (offset === null) return null
  return midnightMs + ((Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second)) * 1000
}

/** How many minutes a zone is ahead of UTC; null: no zone is. */
function offsetMinutes(zone: string): number | null {
  const match = /^([+-])(\d\d):?(\d\d)?$/.exec(zone)
  if (match === null) return 0
  const [, sign, hours, minutes = "0"] = match
  if (Number(hours) > 23 || Number(minutes) > 59) return null
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
