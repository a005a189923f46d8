import { assert } from "../../../../base/errors.ts"
import { ACCOUNT_RULE_NAMES, ACCOUNT_RULES, RECOMMENDATION_ORDER } from "../../../../contract/account-rules.ts"
import { CALLBACK_EVENT_NAMES, CALLBACK_EVENTS } from "../../../../contract/callbacks.ts"
import { CATEGORY_NAMES } from "../../../../contract/categories.ts"
import { JOB_REASON_NAMES, JOB_REASONS, JOB_STATES, LISTED_JOB_STATES } from "../../../../contract/jobs.ts"
import {
  POLICIES,
  POLICY_DEFAULT,
  POLICY_NAMES,
  RECOMMENDATION_FLOORS,
  type RecommendationFloor,
  WEAK_EVIDENCE,
} from "../../../../contract/policies.ts"
import { PROBLEM_CODES, PROBLEMS, type ProblemCode, REFUSAL_ORDER } from "../../../../contract/problems.ts"
import { REASON_NAMES, REASONS, type Reason } from "../../../../contract/reasons.ts"
import { RESULT_COLUMN_NAMES, RESULT_COLUMNS } from "../../../../contract/result-columns.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { TEST_ADDRESSES, TEST_PROBLEMS } from "../../../../contract/test-addresses.ts"
import { exampleProblem, exampleResult, problemHeaders } from "../../../response/example-responses.ts"
import { prettyJson } from "../../ui/layout.tsx"
import type { Insert } from "./insert.ts"
import { codeFence, codeSpan, linkTo, markdownTable, proseText, termList } from "./markdown-text.ts"

const policyColumns = POLICY_NAMES.map(head => ({ head, cells: "choice" }) as const)
const FLOOR_NAMES = Object.keys(RECOMMENDATION_FLOORS) as RecommendationFloor[] // the keys of a table are its type's

/** Tables of policies, problems, reasons and test addresses, read from the contract. */
export const CONTRACT_INSERTS = {
  policies: () =>
    termList(
      POLICY_NAMES.map(policy => [
        codeSpan(policy),
        `${POLICIES[policy].description}${policy === POLICY_DEFAULT ? " The default." : ""}`,
      ]),
    ),
  "job-states": () =>
    termList(LISTED_JOB_STATES.map(state => [codeSpan(state), proseText(JOB_STATES[state].description)])),
  "callback-events": () =>
    termList(CALLBACK_EVENT_NAMES.map(event => [codeSpan(event), proseText(CALLBACK_EVENTS[event].description)])),
  "job-reasons": () =>
    markdownTable(
      ["Reason", "State", "Meaning"],
      JOB_REASON_NAMES.map(reason => [
        codeSpan(reason),
        codeSpan(JOB_REASONS[reason].state),
        proseText(JOB_REASONS[reason].description),
      ]),
    ),
  /** `{{result-columns usual}}` or `{{result-columns named}}`: the columns of CSV results. */
  "result-columns": (_, which) =>
    markdownTable(
      ["Column", "Holds"],
      RESULT_COLUMN_NAMES.filter(name => RESULT_COLUMNS[name].isUsual === (which === "usual")).map(name => [
        codeSpan(name),
        RESULT_COLUMNS[name].holds,
      ]),
    ),
  "policy-table": () =>
    markdownTable(
      ["Category", ...policyColumns],
      CATEGORY_NAMES.map(category => [codeSpan(category), ...POLICY_NAMES.map(policy => POLICIES[policy][category])]),
    ),
  raises: () =>
    markdownTable(
      ["Circumstance", ...policyColumns],
      FLOOR_NAMES.map(raise => [
        `${proseText(RECOMMENDATION_FLOORS[raise].description)} {#raise-${raise}}`,
        ...POLICY_NAMES.map(policy =>
          RECOMMENDATION_FLOORS[raise][policy] === "allow" ? "–" : RECOMMENDATION_FLOORS[raise][policy],
        ),
      ]),
    ),
  "weak-evidence": () =>
    markdownTable(
      ["The verdict comes from", ...policyColumns],
      Object.values(WEAK_EVIDENCE).map(row => [proseText(row.description), ...POLICY_NAMES.map(policy => row[policy])]),
    ),
  "recommendation-order": () =>
    Object.values(RECOMMENDATION_ORDER)
      .map((step, at) => `${at + 1}. ${proseText(step)}`)
      .join("\n"),
  "account-rules": () =>
    markdownTable(
      ["Rule", "Is about"],
      ACCOUNT_RULE_NAMES.map(rule => [codeSpan(rule), ACCOUNT_RULES[rule].about]),
    ),
  "degraded-recommendations": ({ testDomain }) =>
    markdownTable(
      ["Policy", "Recommendation"],
      POLICY_NAMES.map(policy => [codeSpan(policy), exampleResult("degraded", testDomain, policy).recommendation]),
    ),
  /** `{{problem-example quota_exceeded}}`: the whole answer. */
  "problem-example": ({ baseUrl }, name) => {
    const code = PROBLEM_CODES.find(own => own === name)
    assert(code !== undefined, `there is no problem ${name}`)
    const headers = Object.entries(problemHeaders(code)).map(([header, value]) => `${header}: ${value}\n`)
    const body = prettyJson(exampleProblem(code, baseUrl))
    return codeFence("http", "Example", `HTTP/1.1 ${statusOf(code)}\n${headers.join("")}\n${body}`)
  },
  "refusal-order": () => REFUSAL_ORDER.map(({ step }, at) => `${at + 1}. ${step}`).join("\n"),
  /** `{{reasons mail}}`: those of a group that can decide a category, by their rank, and then those that cannot. */
  reasons: (_, group) => {
    const reasons = REASON_NAMES.filter(reason => REASONS[reason].group === group)
    const tables = [true, false].map(decides => reasons.filter(reason => isDecisive(reason) === decides))
    return tables
      .filter(rows => rows.length > 0)
      .map(rows =>
        markdownTable(["Code", "Meaning", ...(rows.some(isDecisive) ? DECISION_COLUMNS : [])], rows.map(reasonRow)),
      )
      .join("\n\nThese add evidence and never decide:\n\n")
  },
  "test-addresses": ({ testDomain }) =>
    markdownTable(
      ["Address", "Meaning", "Category", ...policyColumns],
      Object.entries(TEST_ADDRESSES).map(([localPart, { description, category }]) => [
        testAddress(localPart, testDomain),
        proseText(description),
        category,
        ...POLICY_NAMES.map(policy => exampleResult(localPart, testDomain, policy).recommendation),
      ]),
    ),
  "test-problems": ({ testDomain }) =>
    markdownTable(
      ["Address", "Meaning", "Status", "Code"],
      Object.entries(TEST_PROBLEMS).map(([localPart, { description, code }]) => [
        testAddress(localPart, testDomain),
        proseText(description),
        statusOf(code),
        problemLink(code),
      ]),
    ),
} as const satisfies Readonly<Record<string, Insert>>

/** A link to the section of a problem's code. */
export const problemLink = (code: ProblemCode): string => linkTo(codeSpan(code), `${ROUTES.docsErrors.path}#${code}`)

const statusOf = (code: ProblemCode): string => `${PROBLEMS[code].status} ${PROBLEMS[code].title}`

const DECISION_COLUMNS = [
  "Decides",
  { head: "Confidence", cells: "number" },
  { head: "Rank", cells: "number" },
] as const

const isDecisive = (reason: Reason): boolean => decidedCategory(reason) !== null

/** The reasons that can decide a category, first to last. */
const DECISIVE = REASON_NAMES.filter(isDecisive)

/** What a reason decides; null: nothing. Some decide the category that is recorded for what was asked about, or that its words say. */
function decidedCategory(reason: Reason): string | null {
  if (reason === "test_address") return "that of the test address"
  if (reason === "corrected") return "the corrected one"
  if (reason === "name_pattern") return "education or government"
  return REASONS[reason].decides
}

function reasonRow(reason: Reason): readonly string[] {
  const { description, example, confidence } = REASONS[reason]
  const decided = decidedCategory(reason)
  // A test address is as sure as its category usually is, so it has no confidence of its own.
  const sureness = reason === "test_address" ? "its category's" : confidence.toFixed(2)
  return [
    `${codeSpan(reason)} {#${reason}}`,
    `${proseText(description)} *Example: ${proseText(example)}*`,
    ...(decided === null ? [] : [decided, sureness, String(DECISIVE.indexOf(reason) + 1)]),
  ]
}

const testAddress = (localPart: string, testDomain: string): string => {
  const address = `${localPart}@${testDomain}`
  return `${linkTo(codeSpan(address), `${ROUTES.getCheck.path}?${new URLSearchParams({ email: address })}`)} {#${localPart}}`
}
