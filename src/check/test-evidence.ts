import { type Finding, known, unknown } from "../base/finding.ts"
import { testAddress } from "../contract/test-addresses.ts"
import type { AddressHints } from "./address/hints.ts"
import type { Subject } from "./address/subject.ts"
import { listedIn } from "./lists/listed.ts"
import type { SetName } from "./lists/sets.ts"
import type { DmarcPolicy, Evidence, Mail, Suites, Tenant } from "./verdict/evidence.ts"

type Row = NonNullable<ReturnType<typeof testAddress>>

/** The evidence of an address, domain or URL under the test domain: written down, always the same, from no network (decisions §6). */
export function testEvidence(subject: Subject, workspace: boolean): Evidence {
  const row: Row = testAddress(subject.localPart ?? "") ?? { says: "Nothing is known.", category: "unknown" }
  return {
    subject,
    listed: listedIn(LISTED_AS[row.category] ?? null),
    hints: hintsOf(row),
    suggestion: row.didYouMean ?? null,
    imitated: row.lookalike ? "a known name" : null,
    test: row.category,
    correction: null,
    mail: outside(row, () => mailOf(row, subject)),
    suites: outside(row, () => suitesOf(row, subject)),
    tenant: workspace ? tenantOf(row) : unknown("not_asked"),
    ageDays: row.ageDays === undefined ? unknown("not_asked") : known(row.ageDays),
    // An address that has an age answers like a deep check that found nothing else.
    homepage: row.ageDays === undefined ? unknown("not_asked") : known("found"),
    blockedBy: row.blocked ? "account" : null,
    isAllowed: false,
    isCached: row.cached ?? false,
  }
}

/** What DNS would have told; of an unknown name nobody asks. */
function outside<T>(row: Row, told: () => T): Finding<T> {
  if (row.degraded) return unknown("unavailable")
  return row.category === "unknown" ? unknown("not_asked") : known(told())
}

/** The set that makes the flags of a result agree with its category. */
const LISTED_AS: { readonly [C in Row["category"]]?: SetName } = {
  personal: "personal",
  disposable: "disposable",
  relay: "relay",
  education: "education",
  government: "government",
}

const hintsOf = (row: Row): AddressHints => ({
  isRole: row.role ?? false,
  sharedInbox: row.sharedInbox ?? null,
  group: row.group ?? null,
  groupService: row.groupService ?? null,
})

const OWN_MAIL = {
  exists: true,
  reach: "mx",
  hasAddress: true,
  provider: null,
  runBy: null,
  spf: known("v=spf1 mx -all"),
  dmarcPolicy: known<DmarcPolicy>("reject"),
} as const

const NO_MAIL: Mail = {
  ...OWN_MAIL,
  reach: "none",
  hasAddress: false,
  mx: [],
  spf: known(null),
  dmarcPolicy: known(null),
}

function mailOf(row: Row, subject: Subject): Mail {
  if (row.category === "invalid") return NO_MAIL
  const suite = row.mail === "suite_a" || row.mail === "suite_b" ? row.mail : null
  return {
    ...OWN_MAIL,
    mx: [{ priority: 10, host: hostOf(row, subject), provider: suite }],
    provider: suite,
    runBy: suite,
  }
}

const hostOf = (row: Row, subject: Subject): string =>
  row.mail === undefined || row.mail === "tenant"
    ? `mx.${subject.domain}`
    : `mx.${row.mail.replace("_", "-")}.${subject.domain}`

function suitesOf(row: Row, subject: Subject): Suites {
  const evidence = [`mx:${hostOf(row, subject)}`]
  return {
    a: row.mail === "suite_a" ? evidence : [],
    b: row.mail === "suite_b" ? evidence : [],
    other: null,
  }
}

const TENANT: Tenant = {
  id: "00000000-0000-4000-8000-000000000000",
  region: "EU",
  auth: "managed",
  identityProvider: null,
}

function tenantOf(row: Row): Finding<Tenant | null> {
  if (row.pending) return unknown("pending")
  return row.mail === "suite_b" || row.mail === "tenant" ? known(TENANT) : known(null)
}
