import { type Finding, known, unknown } from "../../src/base/finding.ts"
import { type AddressHints, hintKindsOf, NO_HINTS } from "../../src/check/address/address-hints.ts"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import { ListMatch, NO_LIST_MATCH } from "../../src/check/lists/list-match.ts"
import { type ListingStrength, SET_BITS, type SetName, STRENGTH_BITS } from "../../src/check/lists/sets.ts"
import type { DmarcPolicy, Evidence, MailEvidence } from "../../src/check/verdict/evidence.ts"

/** A mail host of the domain's own, and nothing else known. */
export const OWN_HOST: MailEvidence = {
  exists: true,
  delivery: "mx",
  isUnreachable: false,
  hasAddress: true,
  mx: [{ priority: 10, host: "mx.acme.com", provider: null }],
  provider: null,
  operatedBy: null,
  spf: known("v=spf1 mx -all"),
  dmarcPolicy: known("none"),
}

/** Mail as a case tells it: what it says of SPF and DMARC was looked up. */
type ToldMail = Partial<Omit<MailEvidence, "spf" | "dmarcPolicy">> & {
  readonly spf?: string | null | "unavailable"
  readonly dmarcPolicy?: DmarcPolicy | null | "unavailable"
}

/** What a golden case says of its evidence, in words that fit a line. Absent: not known, not asked, not there. */
export type Told = {
  readonly input: string
  readonly sets?: readonly SetName[]
  readonly namePattern?: "education" | "government"
  /** What lists the domain as disposable. */
  readonly strength?: ListingStrength
  readonly mail?: ToldMail | "unavailable"
  readonly suiteA?: string
  readonly suiteB?: string
  readonly tenant?: true
  readonly hints?: Partial<AddressHints>
  readonly suggestion?: string
  readonly isHouseholdSlip?: true
  readonly lookalikeOf?: string
  readonly correction?: Evidence["correction"]
  readonly ageDays?: number | "unavailable"
  readonly homepage?: "found" | "parked" | "none"
  readonly blockedBy?: "operator" | "account"
  readonly isAllowed?: true
  readonly ruledAs?: Evidence["ruledAs"]
}

const TENANT = {
  id: "00000000-0000-4000-8000-000000000000",
  region: "EU",
  auth: "managed",
  identityProvider: null,
} as const

/** Absent: not asked. The word: asked in vain. */
function facts<T>(value: T | "unavailable" | undefined): Finding<T> {
  if (value === undefined) return unknown("not_asked")
  return value === "unavailable" ? unknown("unavailable") : known(value)
}

function mailOf({ spf, dmarcPolicy, ...rest }: ToldMail): MailEvidence {
  return {
    ...OWN_HOST,
    ...rest,
    spf: spf === undefined ? OWN_HOST.spf : facts(spf),
    dmarcPolicy: dmarcPolicy === undefined ? OWN_HOST.dmarcPolicy : facts(dmarcPolicy),
  }
}

/** Every part of a case that may be absent, as it is then. */
const NOTHING = {
  suggestion: null,
  isHouseholdSlip: false,
  lookalikeOf: null,
  namePattern: null,
  correction: null,
  blockedBy: null,
  isAllowed: false,
  ruledAs: null,
}

/** The evidence that a golden case tells. */
export function evidenceOf({
  input,
  sets,
  strength = "strong",
  mail,
  suiteA,
  suiteB,
  tenant,
  hints,
  ageDays,
  homepage,
  ...rest
}: Told): Evidence {
  const subject = parseSubject(detectSubjectKind(input), input, "mailkind.test")
  const mask = (sets ?? []).reduce((bits, set) => bits | SET_BITS[set], STRENGTH_BITS[strength])
  const entries = (entry: string | undefined): readonly string[] => (entry === undefined ? [] : [entry])
  return {
    ...NOTHING,
    ...rest,
    subject,
    listMatch: mask === 0 ? NO_LIST_MATCH : new ListMatch(mask, subject.domain ?? "", 0),
    hints: hintKindsOf({ ...NO_HINTS, ...hints }),
    testCategory: null,
    mail: facts(typeof mail === "object" ? mailOf(mail) : mail),
    suites: known({ suiteA: entries(suiteA), suiteB: entries(suiteB), otherSuite: null }),
    tenant: tenant ? known(TENANT) : unknown("not_asked"),
    ageDays: facts(ageDays),
    homepage: facts(homepage),
    isCached: false,
  }
}
