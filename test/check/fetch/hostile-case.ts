import type { FetchErrorCause } from "../../../src/check/fetch/fetch-target.ts"
import type { Hosts } from "../../support/host-web.ts"
import type { ZoneRecords } from "../../support/zone.ts"

/** A public address, of a harmless host or of the attacker. Nothing is ever sent there. */
export const OUTSIDE = "93.184.216.34"
export const OUTSIDE_V6 = "2606:2800:220:1::1946"

/** A URL by which a hostile caller, resolver or server attacks us. */
export type HostileCase = {
  readonly description: string
  readonly url: string
  /** The answers of the resolver; absent: every name has a public address. */
  readonly dns?: ZoneRecords
  /** The responses by address; no other address listens. */
  readonly web?: Hosts
  /** The cause of the failure, or the status of the page. */
  readonly ends: FetchErrorCause | number
  /** How many connections are opened; absent: none. */
  readonly connections?: number
}
