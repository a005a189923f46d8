import type { FetchErrorCause } from "../../../src/check/fetch/fetch-target.ts"
import type { Hosts } from "../../support/host-web.ts"
import type { ZoneRecords } from "../../support/zone.ts"

/** An address that is public, of the host that plays along or of the attacker's own. Nothing is ever sent there. */
export const OUTSIDE = "93.184.216.34"
export const OUTSIDE_V6 = "2606:2800:220:1::1946"

/** A URL that a hostile caller, resolver or server has us ask for. */
export type HostileCase = {
  readonly says: string
  readonly url: string
  /** What the resolver says; absent: every name has a public address. */
  readonly dns?: ZoneRecords
  /** What the web answers; nobody else listens. */
  readonly web?: Hosts
  /** Why there is no page; a number is the status of the page that there is. */
  readonly ends: FetchErrorCause | number
  /** How many connections are made; absent: none. */
  readonly connections?: number
}
