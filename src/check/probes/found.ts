import type { Finding } from "../../base/finding.ts"
import type { Mail, Suites, Tenant } from "../verdict/evidence.ts"

/** How long what was found holds, and where it came from. */
export type Fresh = {
  /** Every part was held already, fresh or stale; false where nothing was asked or any part failed. */
  readonly isCached: boolean
  /** Until when it need not be asked for again, in milliseconds since the Unix epoch. */
  readonly freshUntilMs: number
}

/** What DNS told of a domain's mail. */
export type MailFound = Fresh & { readonly mail: Finding<Mail>; readonly suites: Finding<Suites> }

/** What suite_b's identity endpoints told of a domain. */
export type TenantFound = Fresh & { readonly tenant: Finding<Tenant | null> }
