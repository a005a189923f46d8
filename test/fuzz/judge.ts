import { FormatRegistry, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from "../../src/contract/problems.ts"
import { ROUTES, type RouteId } from "../../src/contract/routes.ts"
import { ProblemBody } from "../../src/contract/schemas.ts"
import type { Answer } from "./answers.ts"
import type { Outcome } from "./exchange.ts"
import type { FuzzRequest } from "./requests.ts"

/** What the server itself refuses before anybody of ours hears of it: octets that are no HTTP/1.1, or too many in a head. */
const SERVERS_OWN: readonly number[] = [400, 413, 431, 505]
/** What the endpoint of agents refuses in their protocol: a body that is no message of it, and a body or an answer that is not JSON. */
const AGENTS_OWN: readonly number[] = [400, 406, 415]
/** What is refused by intent while all is well: everything else from 500 on is a fault. */
const WANTED_503: readonly ProblemCode[] = ["busy", "overloaded"]
/** Any path refuses these. */
const ANYWHERE: readonly ProblemCode[] = ["not_found", "method_not_allowed"]

/** A problem as it is documented; what the free checker alone refuses with is no code of the API. */
const ANY_PROBLEM = t.Object({ ...ProblemBody.properties, code: t.String() }, { additionalProperties: false })
FormatRegistry.Set("uri", text => URL.canParse(text))
FormatRegistry.Set("date-time", text => !Number.isNaN(Date.parse(text)))

/** What is wrong with what came of a request, in a sentence; null: nothing. */
export function wrongWith(request: FuzzRequest, outcome: Outcome): string | null {
  // Half a request has no answer, and octets that are several have several.
  if (outcome === "closed") return request.isRaw ? null : "the connection was closed without an answer"
  if (outcome === "late" || outcome === "unreadable")
    return outcome === "unreadable" && request.isRaw ? null : `the answer was ${outcome}`
  if (outcome.status < 400) return null
  if (isServersOwn(request, outcome) || isAgentsOwn(request, outcome)) return null
  return wrongRefusal(request, outcome)
}

const isServersOwn = ({ isRaw }: FuzzRequest, { status, body, closes }: Answer): boolean =>
  body === "" && SERVERS_OWN.includes(status) && (isRaw || (status === 431 && closes))

const isAgentsOwn = ({ route, isRaw }: FuzzRequest, { status, body }: Answer): boolean =>
  (isRaw || ROUTES[route].path === ROUTES.mcp.path) && AGENTS_OWN.includes(status) && body.includes('"jsonrpc":"2.0"')

function wrongRefusal(request: FuzzRequest, answer: Answer): string | null {
  const { status, headers } = answer
  const type = headers.get("content-type") ?? ""
  if (request.method === "HEAD") return status < 500 ? null : `HEAD was answered ${status}`
  if (type.startsWith("text/html")) {
    if (status >= 500 && status !== 503) return `a page was answered ${status}`
    return answer.body.startsWith("<!doctype html>") ? null : "the refusal is no page"
  }
  if (!type.startsWith("application/problem+json")) return `${status} came as ${type || "nothing"}`
  return wrongProblem(request, answer)
}

function wrongProblem(request: FuzzRequest, { status, body }: Answer): string | null {
  const problem: unknown = JSON.parse(body)
  if (!Value.Check(ANY_PROBLEM, problem)) return `${status} has a body that is no problem: ${body.slice(0, 200)}`
  const code = PROBLEM_CODES.find(known => known === problem.code)
  if (code === undefined || PROBLEMS[code].status !== status) return `${status} is told as ${problem.code}`
  if (code === "internal_error" && !request.asksForFailure) return "the server failed"
  if (status === 503 && !WANTED_503.includes(code)) return `503 is told as ${code}`
  // What has other octets may be a request of another route.
  if (request.isRaw || mayRefuse(request.route, code)) return null
  return `${code} is not among what ${request.route} refuses with`
}

/** Whether the documentation of the path has the problem: its methods are told apart by the request's line alone. */
function mayRefuse(route: RouteId, code: ProblemCode): boolean {
  const { path } = ROUTES[route]
  const own: readonly ProblemCode[] = Object.values(ROUTES)
    .filter(other => other.path === path)
    .flatMap(({ problems }) => [...problems])
  return own.includes(code) || ANYWHERE.includes(code)
}

/** What must not stand in a log, in sentences. */
export function wrongInLog(log: string): readonly string[] {
  const lines = log.split("\n").filter(line => line !== "")
  return lines.flatMap(line => {
    if (/svc_(?:live|pub)_/.test(line)) return ["a key is in the log"]
    if (/@(?!elysiajs|sinclair)/.test(line)) return [`an address is in the log: ${line.slice(0, 300)}`]
    return /"level":"(?:error|fatal)"/.test(line) ? [`the log tells of a failure: ${line.slice(0, 800)}`] : []
  })
}
