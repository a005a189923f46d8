import { parseSubject } from "../check/address/parse.ts"
import { SETS } from "../check/lists/sets.ts"
import { fullResult } from "../check/present.ts"
import { testEvidence } from "../check/test-evidence.ts"
import { judge } from "../check/verdict/judge.ts"
import { LIMITS } from "../contract/limits.ts"
import { POLICY_DEFAULT, POLICY_NAMES, type Policy } from "../contract/policies.ts"
import { PROBLEMS, type ProblemCode } from "../contract/problems.ts"
import { API_VERSION, allowedMethods, ROUTES } from "../contract/routes.ts"
import type { CheckResult, Health, ProblemBody } from "../contract/schemas.ts"
import { unauthorized } from "./caller.ts"
import { invalidInput, Problem, problemBody } from "./problem.ts"

/** The request id of every example. */
const REQUEST_ID = "req_4fT0cQm7XbZ2hLw9RkVd"

/** What a test address is answered: the real verdict under `policy`, from the code that answers requests. */
export function exampleResult(localPart: string, testDomain: string, policy: Policy = POLICY_DEFAULT): CheckResult {
  const subject = parseSubject("email", `${localPart}@${testDomain}`, testDomain)
  const evidence = testEvidence(subject, true)
  return fullResult({ subject, settled: { policy, evidence, verdict: judge(evidence, policy) }, tookMs: 0 }, REQUEST_ID)
}

/** The body of a problem as a caller may see it, with the members that come with its code. */
export const exampleProblem = (code: ProblemCode, baseUrl: string): ProblemBody =>
  problemBody(EXAMPLES[code], baseUrl, REQUEST_ID)

/** The headers that come with a problem beside those of every answer. */
export function problemHeaders(code: ProblemCode): Readonly<Record<string, string>> {
  const { more, headers } = EXAMPLES[code]
  return { ...(more.retry_after === undefined ? {} : { "Retry-After": String(more.retry_after) }), ...headers }
}

/** The answer of a server that is well. */
export const exampleHealth = (): Health => ({
  status: "ok",
  version: API_VERSION,
  uptime_seconds: 86_400,
  lists: {
    version: "2026-11-20",
    built_at: "2026-11-20T06:00:00.000Z",
    entries: Object.fromEntries(Object.keys(SETS).map(set => [set, 1000])),
  },
  dns: { status: "ok" },
})

/** The challenge of a 401 (RFC 9110 §11.6.1), as every answer with that status has it. */
const CHALLENGE = unauthorized().headers

const ALLOW_HEALTH = allowedMethods(ROUTES.getHealth.path) ?? ""

/** One occurrence of each problem. A problem without a row does not compile. */
const EXAMPLES: { readonly [C in ProblemCode]: Problem } = {
  invalid_input: invalidInput([
    { pointer: "/policy", detail: `\`policy\` must be one of ${POLICY_NAMES.join(", ")}.` },
  ]),
  unauthorized: unauthorized(),
  invalid_key: new Problem("invalid_key", "The key's checksum is wrong: it was mistyped or cut.", {}, CHALLENGE),
  key_revoked: new Problem("key_revoked", "The key was revoked; use another one.", {}, CHALLENGE),
  forbidden_origin: new Problem("forbidden_origin", "The key does not allow this origin."),
  terms_not_accepted: new Problem("terms_not_accepted", PROBLEMS.terms_not_accepted.cause),
  rate_limited: new Problem(
    "rate_limited",
    `Without a key ${LIMITS.keylessPerSecond} requests a second are answered.`,
    { retry_after: 1, limit: LIMITS.keylessPerSecond },
  ),
  quota_exceeded: new Problem("quota_exceeded", "The units of the day are used up.", {
    retry_after: 21_600,
    limit: 1000,
    resets_at: "2026-11-21T00:00:00.000Z",
  }),
  batch_too_large: new Problem("batch_too_large", `A batch has at most ${LIMITS.batchItemsMax} items.`, {
    limit: LIMITS.batchItemsMax,
  }),
  payload_too_large: new Problem("payload_too_large", `The body is over ${LIMITS.bodyBytesMax} octets.`, {
    limit: LIMITS.bodyBytesMax,
  }),
  not_found: new Problem("not_found", "No such path; the API's paths begin with /v1."),
  method_not_allowed: new Problem(
    "method_not_allowed",
    `This path takes ${ALLOW_HEALTH}.`,
    {},
    { Allow: ALLOW_HEALTH },
  ),
  internal_error: new Problem("internal_error", "The server failed. The request id names this failure in its log."),
}
