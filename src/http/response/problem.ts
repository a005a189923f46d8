import { POLICY_NAMES } from "../../contract/policies.ts"
import { PROBLEMS, type ProblemCode } from "../../contract/problems.ts"
import type { ProblemBody } from "../../contract/schemas.ts"

/** One thing that is wrong with the input: where, and what. */
export type InputFault = NonNullable<ProblemBody["errors"]>[number]

/** How many faults of an input a refusal names at most. */
export const INPUT_FAULTS_MAX = 10

/** The fault of a body that is no JSON object. */
export const NOT_AN_OBJECT: InputFault = { pointer: "", detail: "The body must be a JSON object." }

/** What is wrong with a policy that is none. */
export const INVALID_POLICY = `\`policy\` must be one of ${POLICY_NAMES.join(", ")}.`

type ProblemExtensions = Pick<ProblemBody, "errors" | "retry_after" | "limit" | "resets_at">

/** A refusal. It is thrown in `http/` only and caught in `errors.ts` only. `detail` is for people and holds nothing of the input. */
export class Problem extends Error {
  override readonly name = "Problem"
  readonly code: ProblemCode
  readonly detail: string
  readonly extensions: ProblemExtensions
  /** Headers beside those that every answer has. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ProblemCode,
    detail: string,
    more: ProblemExtensions = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(code)
    this.code = code
    this.detail = detail
    this.extensions = more
    this.headers = headers
  }
}

/** The refusal of an input with faults; the first fault's sentence is the detail. */
export function invalidInput(errors: readonly [InputFault, ...InputFault[]]): Problem {
  return new Problem("invalid_input", errors[0].detail, { errors: [...errors] })
}

/** The body of a problem (RFC 9457). */
export function problemBody({ code, detail, extensions }: Problem, baseUrl: string, requestId: string): ProblemBody {
  const docsUrl = `${baseUrl}/docs/errors#${code}`
  const { status, title } = PROBLEMS[code]
  return {
    type: docsUrl,
    title,
    status,
    code,
    detail,
    docs_url: docsUrl,
    instance: `urn:mailkind:request:${requestId}`,
    request_id: requestId,
    ...extensions,
  }
}
