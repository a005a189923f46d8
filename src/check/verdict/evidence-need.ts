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
} as const

export type AnswerPart = keyof typeof ANSWER_PARTS

/** A whole answer. */
export const ALL_PARTS = ANSWER_PARTS.mailbox | ANSWER_PARTS.workspace | ANSWER_PARTS.mail

/** The parts of an answer that shows the verdict alone, with the mailbox of an address: only a tag depends on who runs the mail. */
export const verdictParts = ({ hasSubaddress }: Pick<Subject, "hasSubaddress">): number =>
  hasSubaddress ? ANSWER_PARTS.mailbox : 0

/** What the lists and accepted reports leave open about a domain. */
const LIST_VERDICTS = {
  /** Nothing: disposable, of a relay, or of a provider of mailboxes. */
  private: { verdict: 0, mailbox: DELIVERY, workspace: 0, mail: ALL_QUESTIONS },
  /** Nothing, since a report says what it is. It may have a workspace. */
  reported: { verdict: 0, mailbox: DELIVERY, workspace: SUITES | TENANT, mail: ALL_QUESTIONS },
  /** Whether the school or government body exists. */
  body: { verdict: DELIVERY, mailbox: DELIVERY, workspace: SUITES | TENANT, mail: ALL_QUESTIONS },
  /** Whether the mail contradicts a weak listing. */
  doubted: { verdict: PROOF | TENANT, mailbox: DELIVERY, workspace: SUITES | TENANT, mail: ALL_QUESTIONS },
  /** All. */
  open: { verdict: DELIVERY, mailbox: DELIVERY, workspace: SUITES | TENANT, mail: ALL_QUESTIONS },
} as const satisfies Readonly<Record<string, Readonly<Record<AnswerPart | "verdict", number>>>>

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
  if ((mask & (SET_BITS.disposable | SET_BITS.relay)) !== 0) return "private"
  if ((mask & BODY_MASK) !== 0) return "body"
  return (mask & (SET_BITS.personal | SET_BITS.agent_mailbox)) !== 0 ? "private" : "open"
}

/** The questions that can still change an answer with these parts (DECISIONS 164). 0: the lists alone give it. */
export function neededQuestions(listMatch: ListMatch, correction: Category | null, parts: number): number {
  const needs = LIST_VERDICTS[listVerdict(listMatch, correction)]
  let questions: number = needs.verdict
  for (const part of PART_NAMES) if ((parts & ANSWER_PARTS[part]) !== 0) questions |= needs[part]
  return questions
}

const PART_NAMES = Object.keys(ANSWER_PARTS) as readonly AnswerPart[] // the keys of a table are its type's
