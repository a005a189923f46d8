import { TypeCompiler } from "@sinclair/typebox/compiler"
import { lazy } from "../../base/lazy.ts"
import { hasAtMostCharacters } from "../../base/text.ts"
import { isJsonObject, ownMember } from "../../base/untrusted-text.ts"
import { inputRefusal, parseSubject } from "../../check/address/parse-subject.ts"
import { SUBJECT_KINDS, type SubjectKind } from "../../check/address/subject.ts"
import { type CheckRequest, NO_OWN_LIST_MATCH } from "../../check/check.ts"
import { verdictParts } from "../../check/verdict/evidence-need.ts"
import { LIMITS } from "../../contract/limits.ts"
import { POLICIES, POLICY_DEFAULT, type Policy } from "../../contract/policies.ts"
import { CheckBody } from "../../contract/schemas.ts"
import {
  INPUT_FAULTS_MAX,
  INVALID_POLICY,
  type InputFault,
  invalidInput,
  NOT_AN_OBJECT,
  Problem,
} from "../response/problem.ts"
import { parameterCountFault, type UriParameter, uriParameters } from "./request-url.ts"

/** The input of a check before validation. */
export type CheckInput = {
  readonly members: unknown
  /** Where the members come from: faults name a JSON pointer or a query parameter accordingly. */
  readonly location: "body" | "query"
  /** Faults that were found while reading. */
  readonly faults: readonly InputFault[]
}

const FLAGS = ["deep", "workspace", "mail"] as const
const QUERY_PARAMETERS = [...SUBJECT_KINDS, "policy", ...FLAGS] as const
const BOOLEAN_VALUES: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false }
const checkBodySchema = lazy(() => TypeCompiler.Compile(CheckBody))

const NO_FAULTS: readonly InputFault[] = []

const faultAt = (location: CheckInput["location"], name: string): Pick<InputFault, "pointer" | "parameter"> =>
  location === "body" ? { pointer: `/${name}` } : { parameter: name }

/** The input of a POST. */
export const inputFromBody = (members: unknown): CheckInput => ({ members, location: "body", faults: NO_FAULTS })

/**
 * The input of a GET, decoded by RFC 3986. A repeated parameter, an invalid boolean and escapes that are not UTF-8 are faults;
 * unknown parameters are ignored, but too many are a fault.
 */
export function inputFromQuery(url: string): CheckInput {
  const sent = uriParameters(url)
  const tooMany = parameterCountFault(sent)
  if (tooMany !== null) return { members: {}, location: "query", faults: [tooMany] }
  const members: Record<string, unknown> = {}
  const faults: InputFault[] = [...utf8Faults(sent)]
  for (const parameter of QUERY_PARAMETERS) {
    const [first, another] = sent.filter(({ name }) => name === parameter)
    const value = first?.value ?? null
    if (value === null) continue
    if (another !== undefined) faults.push({ parameter, detail: `\`${parameter}\` is given more than once.` })
    else if (!isFlag(parameter)) members[parameter] = value
    else if (Object.hasOwn(BOOLEAN_VALUES, value)) members[parameter] = BOOLEAN_VALUES[value]
    else faults.push({ parameter, detail: `\`${parameter}\` must be true, false, 1 or 0.` })
  }
  return { members, location: "query", faults }
}

const isFlag = (name: string): boolean => FLAGS.some(flag => flag === name)

/** A fault for each documented parameter, and one for all others together, whose escapes are not UTF-8. */
function utf8Faults(sent: readonly UriParameter[]): readonly InputFault[] {
  const malformed = sent.filter(({ name, value }) => name === null || value === null)
  if (malformed.length === 0) return NO_FAULTS
  const ours = QUERY_PARAMETERS.filter(parameter => malformed.some(({ name }) => name === parameter))
  const faults = ours.map(parameter => ({ parameter, detail: `\`${parameter}\` is not UTF-8.` }))
  return faults.length > 0 ? faults : [{ detail: "The query is not UTF-8." }]
}

/** Whether the input's `email` is a valid address under the test domain, even if other members are invalid. */
export function isTestInput(input: CheckInput, testDomain: string): boolean {
  const email = ownMember(input.members, "email")
  return typeof email === "string" && parseSubject("email", email, testDomain).isTest
}

/**
 * Validates an input of a caller, null without a key. Throws `invalid_input` with all faults and their places. Who gives every text
 * a verdict, as a batch does, passes a `refusalOf` that refuses none.
 */
export function parseCheckRequest(
  input: CheckInput,
  testDomain: string,
  callerId: string | null,
  refusalOf: typeof inputRefusal = inputRefusal,
): CheckRequest {
  const { members, location } = input
  if (input.faults.length > 0 || !checkBodySchema().Check(members)) throw inputProblem(input)
  const kind = sentKind(members, location)
  const subject = parseSubject(kind, members[kind] ?? "", testDomain)
  const refusal = refusalOf(subject)
  if (refusal !== null) throw invalidInput([{ ...faultAt(location, kind), detail: SUBJECT_REFUSALS[refusal](kind) }])
  const { policy = POLICY_DEFAULT, deep: isDeep = false, workspace: includeTenant = true, mail } = members
  const request = { subject, policy, isDeep, includeTenant, callerId, ownListMatch: NO_OWN_LIST_MATCH }
  return mail === false ? { ...request, parts: verdictParts(subject) } : request
}

/** The one subject that was sent. Throws `invalid_input` for none or several. */
function sentKind(members: CheckBody, location: CheckInput["location"]): SubjectKind {
  let sent: SubjectKind | null = null
  for (const kind of SUBJECT_KINDS) {
    if (members[kind] === undefined) continue
    if (sent !== null)
      throw invalidInput([{ ...faultAt(location, kind), detail: "Send only one of `email`, `domain` and `url`." }])
    sent = kind
  }
  if (sent === null)
    throw invalidInput([{ ...faultAt(location, "email"), detail: "Send one of `email`, `domain` and `url`." }])
  return sent
}

const SUBJECT_REFUSALS = {
  empty: (kind: string) => `\`${kind}\` is empty.`,
  control_character: (kind: string) => `\`${kind}\` has a control character.`,
  too_long: () =>
    `The input is too long. An address has at most ${LIMITS.addressBytesMax} bytes, its local part ${LIMITS.localPartBytesMax}, a domain ${LIMITS.domainBytesMax}, and a URL ${LIMITS.urlLengthMax} characters.`,
} as const

/** The problem of an invalid input, in sentences that repeat nothing of it. */
function inputProblem({ members, location, faults }: CheckInput): Error {
  const byMember = new Map<string, InputFault>()
  for (const { path } of checkBodySchema().Errors(members)) {
    if (byMember.size >= INPUT_FAULTS_MAX) break
    const name = path.slice(1)
    if (!byMember.has(name))
      byMember.set(name, name === "" ? NOT_AN_OBJECT : { ...faultAt(location, name), detail: memberRule(name) })
  }
  const [first, ...rest] = [...faults, ...byMember.values()]
  return invalidInput([first ?? { pointer: "", detail: "The input does not have the documented form." }, ...rest])
}

function memberRule(name: string): string {
  if (name === "policy") return INVALID_POLICY
  if (isFlag(name)) return `\`${name}\` must be true or false.`
  if (name === "url") return `\`url\` must be a string of at most ${LIMITS.urlLengthMax} characters.`
  return `\`${name}\` must be a string.`
}

/** A valid batch has 1 to `LIMITS.batchItemsMax` items. */
type BatchInput = { readonly items: readonly string[]; readonly policy: Policy; readonly showsMail: boolean }

/**
 * Validates the body of a batch. Throws `batch_too_large` for too many items, whatever else is wrong, else `invalid_input`
 * with all faults and their places. The text of an item is not validated here: an invalid one gets a verdict of its own.
 */
export function parseBatchRequest(body: unknown): BatchInput {
  if (!isJsonObject(body)) throw invalidInput([NOT_AN_OBJECT])
  const { items, policy = POLICY_DEFAULT, mail: showsMail = true } = body
  if (Array.isArray(items) && items.length > LIMITS.batchItemsMax) throw tooManyItems()
  if (areItems(items) && isPolicy(policy) && typeof showsMail === "boolean") return { items, policy, showsMail }
  const mailFaults = typeof showsMail === "boolean" ? [] : [{ pointer: "/mail", detail: memberRule("mail") }]
  const faults = [...(isPolicy(policy) ? [] : [POLICY_FAULT]), ...mailFaults, ...itemFaults(items)]
  throw invalidInput([faults[0] ?? POLICY_FAULT, ...faults.slice(1, INPUT_FAULTS_MAX)])
}

/** The problem 413 `batch_too_large`. */
export const tooManyItems = (): Problem =>
  new Problem("batch_too_large", `A batch has at most ${LIMITS.batchItemsMax} items.`, { limit: LIMITS.batchItemsMax })

const areItems = (items: unknown): items is readonly string[] =>
  Array.isArray(items) && items.length > 0 && items.every(isItem)

const isItem = (item: unknown): item is string =>
  typeof item === "string" && hasAtMostCharacters(item, LIMITS.batchItemLengthMax)

const isPolicy = (policy: unknown): policy is Policy => typeof policy === "string" && Object.hasOwn(POLICIES, policy)

const POLICY_FAULT: InputFault = { pointer: "/policy", detail: INVALID_POLICY }

function itemFaults(items: unknown): readonly InputFault[] {
  if (!Array.isArray(items) || items.length === 0) {
    return [{ pointer: "/items", detail: `\`items\` must be an array of 1 to ${LIMITS.batchItemsMax} strings.` }]
  }
  const detail = `An item must be a string of at most ${LIMITS.batchItemLengthMax} characters.`
  return items.flatMap((item, index) => (isItem(item) ? [] : [{ pointer: `/items/${index}`, detail }]))
}
