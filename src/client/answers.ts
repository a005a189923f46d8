import type { BatchResult, Problem } from "./api-types.ts"
import { CAUSES, type Cause } from "./outcome.ts"

/** Whether it is a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Whether it is a verdict: what every program reads is there. */
export function isVerdict(value: unknown): boolean {
  return (
    isRecord(value) &&
    ["category", "recommendation"].every(name => typeof value[name] === "string") &&
    typeof value["is_business"] === "boolean" &&
    typeof value["confidence"] === "number" &&
    Array.isArray(value["reasons"])
  )
}

/** Whether it has a verdict for each of so many items. */
export function isBatchOf(count: number): (value: unknown) => value is BatchResult {
  return (value): value is BatchResult =>
    isRecord(value) &&
    Array.isArray(value["results"]) &&
    value["results"].length === count &&
    value["results"].every(isVerdict)
}

/** The problem that a body is (RFC 9457); undefined: it is none. */
export function readProblem(value: unknown): Problem | undefined {
  return isRecord(value) && typeof value["code"] === "string" && typeof value["detail"] === "string"
    ? (value as Problem) // its other members are read by the names of the contract
    : undefined
}

/** What a status other than 200 and 202 means. */
export function causeOf(status: number, problem: Problem | undefined): Cause {
  if (problem?.code === "quota_exceeded") return "quota_exceeded"
  if (status === 429) return "rate_limited"
  if (status >= 500) return "server_error"
  // A redirection, or a refusal by something that is not the API.
  return problem === undefined && status !== 401 && status !== 403 && status !== TOO_LARGE ? "malformed" : "refused"
}

const TOO_LARGE = 413

/** What takes no larger bodies unless it is told to, by the `Server` header of its answers. */
const BODY_LIMITS: readonly (readonly [server: string, says: string])[] = [
  ["nginx", " nginx takes 1 MiB, unless its `client_max_body_size` says otherwise."],
  ["cloudflare", " Cloudflare takes 100 MB in most plans."],
]

/** What people read when a proxy in front of the API refused a body for its size: the API sends a problem. Null: none did. */
export function bodyLimitMessage(status: number, problem: Problem | undefined, server: string | null): string | null {
  if (status !== TOO_LARGE || problem !== undefined) return null
  const known = BODY_LIMITS.find(([name]) => server?.toLowerCase().startsWith(name) === true)
  return `A proxy in front of the server refused the body as too large (${status}).${known?.[1] ?? ""}`
}

/** What people read of a failure. */
export function failureMessage(because: Cause, problem: Problem | undefined, status: number | undefined): string {
  if (problem !== undefined) return `${problem.code}: ${problem.detail}`
  return status === undefined ? CAUSES[because] : `${CAUSES[because]} The status is ${status}.`
}
