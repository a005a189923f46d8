import type { Category } from "../../contract/categories.ts"
import type { Subject } from "../address/subject.ts"
import type { ListMatch } from "../lists/list-match.ts"
import { SET_BITS } from "../lists/sets.ts"

const DELIVERY = 1
const PROOF = DELIVERY | 2
const SUITES = PROOF | 4
const RECORDS = SUITES | 8
const TENANT = 16

/** What can be asked about a domain, as bits. Each holds those that it cannot do without. */
export const QUESTIONS = {
  /** Who takes the mail: MX, then the addresses of hosts of no known provider, or those of a domain without a mail host. */
  delivery: DELIVERY,
  /** If a suite takes it: the SPF record and the keys that prove so. */
  proof: PROOF,
  /** The suites behind other hosts: the SPF record and those to which it leads, and names that suites have. */
  suites: SUITES,
  /** All that the result's `mail` shows: the domain's address and its DMARC policy too. */
  records: RECORDS,
  /** The tenant in suite_b, which is no question of DNS. */
  tenant: TENANT,
} as const

/** All that is asked for a whole answer. */
export const ALL_QUESTIONS = RECORDS | TENANT

/** Whether the questions are among those that were asked. */
export const areAsked = (asked: number, questions: number): boolean => (asked & questions) === questions

/** The parts of an answer that rest on the network and can be left out, as bits. Category, confidence, recommendation and decisive reasons are always there. */
export const ANSWER_PARTS = {
  /** The mailbox behind an address: who runs its mail. */
  mailbox: 1,
  /** The suites and the tenant. */
  workspace: 2,
  /** The `mail` block, and the reasons that only tell of it. */
  mail: 4,
  /** Whether the mail hosts of a domain of another category serve disposable domains. */
  disposableHosts: 8,
  /** Who takes the mail. */
  hosts: 16,
  /** The tenant without the suites. */
  tenant: 32,
} as const

export type AnswerPart = keyof typeof ANSWER_PARTS

/** A whole answer. */
export const ALL_PARTS = Object.values(ANSWER_PARTS).reduce((parts, part) => parts | part, 0)

/** The parts of an answer with all members but what `mail` and `workspace` hold. Only the mailbox of a tag depends on who runs the mail. */
export const verdictParts = ({ hasSubaddress }: Pick<Subject, "hasSubaddress">): number =>
  ANSWER_PARTS.disposableHosts | (hasSubaddress ? ANSWER_PARTS.mailbox : 0)

type ListVerdict = Readonly<Record<AnswerPart | "verdict", number>>

/** What the parts need of a domain whatever the lists say. */
const USUAL = {
  ...{ mailbox: DELIVERY, workspace: SUITES | TENANT, mail: ALL_QUESTIONS },
  ...{ disposableHosts: DELIVERY, hosts: DELIVERY, tenant: TENANT },
} as const

/** What the lists and accepted reports leave open about a domain. */
const LIST_VERDICTS = {
  /** Nothing: it is disposable. */
  disposable: { ...USUAL, verdict: 0, workspace: 0, tenant: 0, disposableHosts: 0 },
  /** Nothing: it is of a relay, or of a provider of mailboxes. */
  private: { ...USUAL, verdict: 0, workspace: 0, tenant: 0 },
  /** Nothing, since a report says what it is. It may have a workspace. */
  reported: { ...USUAL, verdict: 0 },
  /** Whether the school or government body exists. */
  body: { ...USUAL, verdict: DELIVERY },
  /** Whether the mail contradicts a weak listing. */
  doubted: { ...USUAL, verdict: PROOF | TENANT },
  /** All. */
  open: { ...USUAL, verdict: DELIVERY },
} as const satisfies Readonly<Record<string, ListVerdict>>

const PRIVATE_CATEGORIES: ReadonlySet<Category> = new Set(["personal", "relay", "disposable"])
const BODY_CATEGORIES: ReadonlySet<Category> = new Set(["education", "government"])
const BODY_MASK =
  SET_BITS.government |
  SET_BITS.government_suffix |
  SET_BITS.education |
  SET_BITS.education_suffix |
  SET_BITS.open_education_suffix

/** The sets are looked at in the order in which they decide (`contract/reasons.ts`). */
function listVerdict({ mask, strength }: ListMatch, correction: Category | null): keyof typeof LIST_VERDICTS {
  if (strength === "weak") return "doubted"
  if (correction !== null) {
    if (PRIVATE_CATEGORIES.has(correction)) return "private"
    return BODY_CATEGORIES.has(correction) ? "body" : "reported"
  }
  if ((mask & SET_BITS.disposable) !== 0) return "disposable"
  if ((mask & SET_BITS.relay) !== 0) return "private"
  if ((mask & BODY_MASK) !== 0) return "body"
  return (mask & (SET_BITS.personal | SET_BITS.agent_mailbox)) !== 0 ? "private" : "open"
}

/** What an answer needs of its domain. */
export type EvidenceNeed = {
  /** The questions that can still change it (DECISIONS 164). 0: the lists alone give it. */
  readonly asked: number
  /** Whether the verdict, or the `mail` that is shown, rests on an answer: only then is an answer without one degraded. */
  readonly isDecisive: boolean
}

/** What an answer with these parts needs. */
export function neededEvidence(listMatch: ListMatch, correction: Category | null, parts: number): EvidenceNeed {
  const needs = LIST_VERDICTS[listVerdict(listMatch, correction)]
  let asked: number = needs.verdict
  for (const part of PART_NAMES) if ((parts & ANSWER_PARTS[part]) !== 0) asked |= needs[part]
  return { asked, isDecisive: needs.verdict !== 0 || (parts & ANSWER_PARTS.mail) !== 0 }
}

const PART_NAMES = Object.keys(ANSWER_PARTS) as readonly AnswerPart[] // the keys of a table are its type's
