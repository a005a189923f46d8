import { type Finding, known, unknown } from "../base/finding.ts"
import type { Policy } from "../contract/policies.ts"
import { testAddress } from "../contract/test-addresses.ts"
import { type AddressHints, hintKindsOf } from "./address/address-hints.ts"
import type { Subject } from "./address/subject.ts"
import { matchInSet } from "./lists/list-match.ts"
import type { SetName } from "./lists/sets.ts"
import { type CheckOutcome, judgeDomain } from "./result/result.ts"
import type { DetectedSuites, DmarcPolicy, Evidence, MailEvidence, Tenant } from "./verdict/evidence.ts"

type TestAddressRow = NonNullable<ReturnType<typeof testAddress>>

/** The outcome for an address, domain or URL under the test domain. It is a row of a table and needs no network. */
export function judgeTestAddress(subject: Subject, includeTenant: boolean, policy: Policy): CheckOutcome {
  const row: TestAddressRow = testAddress(subject.localPart ?? "") ?? {
    description: "There is no evidence.",
    category: "unknown",
  }
  const hints = testHints(row)
  const judged = judgeDomain(subject, testAddressEvidence(row, hints, subject, includeTenant), policy)
  return { subject, hints, judged, tookMs: 0, wasFetched: false }
}

function testAddressEvidence(
  row: TestAddressRow,
  hints: AddressHints,
  subject: Subject,
  includeTenant: boolean,
): Evidence {
  return {
    subject,
    listMatch: matchInSet(SET_OF_CATEGORY[row.category] ?? null, row.weakListing ? "weak" : "strong"),
    hints: hintKindsOf(hints),
    suggestion: row.didYouMean ?? null,
    isHouseholdSlip: row.didYouMean !== undefined,
    lookalikeOf: row.lookalike ? "a known name" : null,
    namePattern: null,
    testCategory: row.category,
    correction: null,
    mail: dnsFinding(row, () => testMail(row, subject)),
    suites: dnsFinding(row, () => testSuites(row, subject)),
    tenant: includeTenant ? testTenant(row) : unknown("not_asked"),
    ageDays: row.ageDays === undefined ? unknown("not_asked") : known(row.ageDays),
    // An address with an age looks like a deep check that found a homepage.
    homepage: row.ageDays === undefined ? unknown("not_asked") : known("found"),
    blockedBy: row.blocked ? "account" : null,
    isAllowed: false,
    ruledAs: null,
    isCached: row.cached ?? false,
  }
}

/** The result of a DNS lookup. An unknown test address is like a name that was not looked up. */
function dnsFinding<T>(row: TestAddressRow, evidence: () => T): Finding<T> {
  if (row.degraded) return unknown("unavailable")
  return row.category === "unknown" ? unknown("not_asked") : known(evidence())
}

/** The set in which the domain must be, so that the flags of the result agree with its category. */
const SET_OF_CATEGORY: { readonly [C in TestAddressRow["category"]]?: SetName } = {
  personal: "personal",
  disposable: "disposable",
  relay: "relay",
  education: "education",
  government: "government",
}

const testHints = (row: TestAddressRow): AddressHints => ({
  isRole: row.role ?? false,
  sharedInbox: row.sharedInbox ?? null,
  group: row.group ?? null,
  groupService: row.groupService ?? null,
})

const OWN_MAIL = {
  exists: true,
  delivery: "mx",
  isUnreachable: false,
  hasAddress: true,
  provider: null,
  operatedBy: null,
  spf: known("v=spf1 mx -all"),
  dmarcPolicy: known<DmarcPolicy>("reject"),
} as const

const NO_MAIL: MailEvidence = {
  ...OWN_MAIL,
  delivery: "none",
  isUnreachable: false,
  hasAddress: false,
  mx: [],
  spf: known(null),
  dmarcPolicy: known(null),
}

function testMail(row: TestAddressRow, subject: Subject): MailEvidence {
  if (row.category === "invalid") return NO_MAIL
  const suite = row.mail === "suite_a" || row.mail === "suite_b" ? row.mail : null
  return {
    ...OWN_MAIL,
    mx: [{ priority: 10, host: testMailHost(row, subject), provider: suite }],
    provider: suite,
    operatedBy: suite,
  }
}

const testMailHost = (row: TestAddressRow, subject: Subject): string =>
  row.mail === undefined || row.mail === "tenant"
    ? `mx.${subject.domain}`
    : `mx.${row.mail.replace("_", "-")}.${subject.domain}`

function testSuites(row: TestAddressRow, subject: Subject): DetectedSuites {
  const evidence = [`mx:${testMailHost(row, subject)}`]
  return {
    suiteA: row.mail === "suite_a" ? evidence : [],
    suiteB: row.mail === "suite_b" ? evidence : [],
    otherSuite: null,
  }
}

const TEST_TENANT: Tenant = {
  id: "00000000-0000-4000-8000-000000000000",
  region: "EU",
  auth: "managed",
  identityProvider: null,
}

function testTenant(row: TestAddressRow): Finding<Tenant | null> {
  if (row.pending) return unknown("pending")
  return row.mail === "suite_b" || row.mail === "tenant" ? known(TEST_TENANT) : known(null)
}
