import { TypeCompiler } from "@sinclair/typebox/compiler"
import { parseSubject, refusalOf } from "../check/address/parse.ts"
import { SUBJECT_KINDS, type SubjectKind } from "../check/address/subject.ts"
import { NO_STANDING, type Question } from "../check/check.ts"
import { LIMITS } from "../contract/limits.ts"
import { POLICY_DEFAULT } from "../contract/policies.ts"
import { CheckBody } from "../contract/schemas.ts"
import { FAULTS_MAX, type InputFault, invalidInput, NO_OBJECT, NO_POLICY } from "./problem.ts"
import { queryOf } from "./query.ts"

/** The members of a check's input, not yet looked at. */
export type Input = {
  readonly members: unknown
  /** Where they stand, which is how a fault names its place. */
  readonly place: "body" | "query"
  /** Faults that reading alone has found. */
  readonly faults: readonly InputFault[]
}

const PARAMETERS = [...SUBJECT_KINDS, "policy", "deep", "workspace"] as const
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, "1": true, false: false, "0": false }
const body = TypeCompiler.Compile(CheckBody)

const NO_FAULTS: readonly InputFault[] = []

const at = (place: Input["place"], name: string): Pick<InputFault, "pointer" | "parameter"> =>
  place === "body" ? { pointer: `/${name}` } : { parameter: name }

/** The input of a POST. */
export const bodyInput = (members: unknown): Input => ({ members, place: "body", faults: NO_FAULTS })

/** The input of a GET. A parameter that is given twice, and a boolean that is none, are faults; an unknown parameter is not. */
export function queryInput(url: string): Input {
  const query = queryOf(url)
  const members: Record<string, unknown> = {}
  const faults: InputFault[] = []
  for (const parameter of PARAMETERS) {
    const [value, another] = query.getAll(parameter)
    if (value === undefined) continue
    const wantsBoolean = parameter === "deep" || parameter === "workspace"
    if (another !== undefined) faults.push({ parameter, detail: `\`${parameter}\` is given more than once.` })
    else if (!wantsBoolean) members[parameter] = value
    else if (Object.hasOwn(BOOLEANS, value)) members[parameter] = BOOLEANS[value]
    else faults.push({ parameter, detail: `\`${parameter}\` must be true, false, 1 or 0.` })
  }
  return { members, place: "query", faults }
}

/** Whether the input's `email` reads as an address under the test domain, whatever else is wrong with it. */
export function isTestInput(input: Input, testDomain: string): boolean {
  const { members } = input
  if (typeof members !== "object" || members === null || !Object.hasOwn(members, "email")) return false
  const email: unknown = Reflect.get(members, "email")
  return typeof email === "string" && parseSubject("email", email, testDomain).isTest
}

/** The question that an input asks. Throws `invalid_input` with every fault and its place. */
export function questionOf(input: Input, testDomain: string): Question {
  const { members, place } = input
  if (input.faults.length > 0 || !body.Check(members)) throw refused(input)
  const kind = kindSent(members, place)
  const subject = parseSubject(kind, members[kind] ?? "", testDomain)
  const refusal = refusalOf(subject)
  if (refusal !== null) throw invalidInput([{ ...at(place, kind), detail: REFUSED[refusal](kind) }])
  const { policy = POLICY_DEFAULT, deep = false, workspace = true } = members
  return { subject, policy, deep, workspace, standing: NO_STANDING }
}

/** Which of the inputs is sent; exactly one must be. */
function kindSent(members: CheckBody, place: Input["place"]): SubjectKind {
  let sent: SubjectKind | null = null
  for (const kind of SUBJECT_KINDS) {
    if (members[kind] === undefined) continue
    if (sent !== null)
      throw invalidInput([{ ...at(place, kind), detail: "Send only one of `email`, `domain` and `url`." }])
    sent = kind
  }
  if (sent === null) throw invalidInput([{ ...at(place, "email"), detail: "Send one of `email`, `domain` and `url`." }])
  return sent
}

const REFUSED = {
  empty: (kind: string) => `\`${kind}\` is empty.`,
  control_character: (kind: string) => `\`${kind}\` holds a control character.`,
  too_long: () =>
    `The input is too long: an address has at most ${LIMITS.addressOctetsMax} octets, its local part ${LIMITS.localPartOctetsMax}, a domain ${LIMITS.domainOctetsMax}, a URL ${LIMITS.urlLengthMax} characters.`,
} as const

/** Says what is wrong in our own words: nothing of the input is repeated. */
function refused({ members, place, faults }: Input): Error {
  const found = new Map<string, InputFault>()
  for (const { path } of body.Errors(members)) {
    if (found.size >= FAULTS_MAX) break
    const name = path.slice(1)
    if (!found.has(name)) found.set(name, name === "" ? NO_OBJECT : { ...at(place, name), detail: wants(name) })
  }
  const [first, ...rest] = [...faults, ...found.values()]
  return invalidInput([first ?? { pointer: "", detail: "The input is not of the documented form." }, ...rest])
}

function wants(name: string): string {
  if (name === "policy") return NO_POLICY
  if (name === "deep" || name === "workspace") return `\`${name}\` must be true or false.`
  if (name === "url") return `\`url\` must be a string of at most ${LIMITS.urlLengthMax} characters.`
  return `\`${name}\` must be a string.`
}
