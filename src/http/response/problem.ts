import { DAY_MS, isoInstant, secondsUntil } from "../../base/time.ts"
import { POLICY_NAMES } from "../../contract/policies.ts"
import { PROBLEMS, type ProblemCode } from "../../contract/problems.ts"
import type { ProblemBody } from "../../contract/schemas.ts"
import type { MetLimit } from "./caller-headers.ts"

/** One fault of the input: where it is, and what is wrong. */
export type InputFault = NonNullable<ProblemBody["errors"]>[number]

/** How many faults one problem names at most. */
export const INPUT_FAULTS_MAX = 10

/** The fault of a body that is JSON, but no object. */
export const NOT_AN_OBJECT: InputFault = { pointer: "", detail: "The body must be a JSON object." }

/** The detail of an unknown `policy`. */
export const INVALID_POLICY = `\`policy\` must be one of ${POLICY_NAMES.join(", ")}.`

/** Extension members of a problem (RFC 9457 §3.2). */
type ProblemExtensions = Pick<ProblemBody, "errors" | "retry_after" | "limit" | "needed" | "remaining" | "resets_at">

/**
 * A refused request. Only `http/` throws it, and `problem-response.ts` turns it into a response. `detail` is a sentence for people
 * and holds nothing of the input.
 */
export class Problem extends Error {
  override readonly name = "Problem"
  readonly code: ProblemCode
  readonly detail: string
  readonly extensions: ProblemExtensions
  /** Headers besides those of every response. */
  readonly headers: Readonly<Record<string, string>>
  /** The limit that was met; null: none, or one that headers do not name. */
  readonly met: MetLimit | null

  constructor(
    code: ProblemCode,
    detail: string,
    extensions: ProblemExtensions = {},
    headers: Readonly<Record<string, string>> = {},
    met: MetLimit | null = null,
  ) {
    super(code)
    this.code = code
    this.detail = detail
    this.extensions = extensions
    this.headers = headers
    this.met = met
  }
}

/** The problem of an invalid input. The detail is that of the first fault. */
export function invalidInput(errors: readonly [InputFault, ...InputFault[]]): Problem {
  return new Problem("invalid_input", errors[0].detail, { errors: [...errors] })
}

/**
 * The problem 429 `rate_limited`. `waitS`: seconds until the next request is admitted. `limit`: how many are admitted. `policy`: the
 * limit in the headers; null: they do not name it.
 */
export const rateLimited = (
  detail: string,
  waitS: number,
  limit: number,
  policy: "second" | "client" | "concurrent" | null = null,
): Problem =>
  new Problem(
    "rate_limited",
    detail,
    { retry_after: waitS, limit },
    {},
    policy === null ? null : { policy, limit, windowS: policy === "concurrent" ? null : 1, left: 0, resetS: waitS },
  )

/** Whether a request was refused because there were too many, or too few units are left: the same one works later. */
export const isTooManyRequests = (error: unknown): error is Problem =>
  error instanceof Problem && PROBLEMS[error.code].status === TOO_MANY_REQUESTS

const TOO_MANY_REQUESTS = 429

/** How many units a request needs, how many are left, and of how many a day. */
type QuotaState = { readonly needed: number; readonly remaining: number; readonly limit: number }

/** The problem 429 `quota_exceeded`, until the quota is renewed. `detail` null: the sentence with the numbers. `policy` as in `rateLimited`. */
export const quotaExceeded = (
  { needed, remaining, limit }: QuotaState,
  resetsAtMs: number,
  nowMs: number,
  detail: string | null = null,
  policy: "day" | "reports" | null = "day",
): Problem => {
  const resetS = secondsUntil(resetsAtMs, nowMs)
  return new Problem(
    "quota_exceeded",
    detail ?? unitsMessage(needed, remaining, limit),
    { retry_after: resetS, limit, needed, remaining, resets_at: isoInstant(resetsAtMs) },
    {},
    policy === null ? null : { policy, limit, windowS: DAY_MS / 1000, left: remaining, resetS },
  )
}

const unitsMessage = (needed: number, remaining: number, limit: number): string =>
  `The request needs ${needed} ${needed === 1 ? "unit" : "units"}. Today ${remaining} of ${limit} ${remaining === 1 ? "is" : "are"} left.`

/** The detail of a request that needs more units than the key's own limit leaves. */
export const keyQuotaMessage = (needed: number, remaining: number, limit: number): string =>
  `This key has its own limit. The request needs ${needed} ${needed === 1 ? "unit" : "units"}. Today ${remaining} of the key's ${limit} ${remaining === 1 ? "is" : "are"} left.`

/** The body of a problem response (RFC 9457). */
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

/** The refusal of a form that was not sent from a page under the address of this server. */
export class ForeignForm extends Problem {
  /** Where the form was sent from; null: the request has no readable `Origin`. */
  readonly sentFrom: string | null

  constructor(sentFrom: string | null) {
    super(
      "forbidden_origin",
      "The form was not sent from a page of this server. If you opened it under another name than its own, its operator sets that name as `MAILKIND_BASE_URL`.",
    )
    this.sentFrom = sentFrom
  }
}
