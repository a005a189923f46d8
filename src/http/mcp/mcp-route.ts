import { defectFields, type Log } from "../../base/log.ts"
import type { Clock } from "../../base/outside-world.ts"
import { lazyPromise } from "../../base/single-flight.ts"
import { ownMember } from "../../base/untrusted-text.ts"
import type { ExplainDomainResult } from "../../check/explain-domain.ts"
import { batchResult, fullResult } from "../../check/result/result.ts"
import { LIMITS } from "../../contract/limits.ts"
import { PROBLEMS } from "../../contract/problems.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { Usage } from "../../contract/usage-schema.ts"
import { parseRules } from "../../customers/accounts/account-rules.ts"
import type { CallerAccount } from "../../customers/keys/key-cache.ts"
import type { OwnList } from "../../customers/own-lists/own-lists.ts"
import { listingResult } from "../../mcp/explain-listing.ts"
import type { McpBackend, ToolResult } from "../../mcp/tools.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import { callerOf, type Exchange, logOf } from "../exchange.ts"
import { assertBoundedJson, readBytes } from "../request/body.ts"
import { inputFromBody, parseCheckRequest } from "../request/check-input.ts"
import { ownListInput, parseSentEntries } from "../request/own-list-input.ts"
import { Problem } from "../response/problem.ts"
import { problemOf } from "../response/problem-response.ts"
import { handlers } from "../router.ts"
import { type BatchDeps, runBatch } from "../v1/batch.ts"
import { runCheck } from "../v1/check.ts"
import { addToOwnList, admitLongRequest, type OwnListDeps, readOwnList, removeFromOwnList } from "../v1/own-lists.ts"
import { readRules, replaceRules, validRules } from "../v1/rules.ts"

type McpRouteDeps = BatchDeps &
  OwnListDeps & {
    readonly loadShedder: LoadShedder
    readonly clock: Clock
    readonly usageOf: (account: CallerAccount, day: number | null) => Promise<Usage>
    readonly lists: () => { readonly lookUpDomain: (text: string) => ExplainDomainResult }
    readonly baseUrl: () => string
  }

/**
 * POST /mcp: the tools of the Model Context Protocol. A request is admitted once, as a batch is, and its tool charges what the
 * same request of the API costs. A problem of the tool is a failed tool call; a problem of the key is one of HTTP.
 */
export function mcpRoute(deps: McpRouteDeps) {
  // The package of the protocol is loaded by the first agent, so that no other server pays for it.
  const load = lazyPromise(() => import("../../mcp/mcp-server.ts"))
  return handlers({
    mcp: async exchange => {
      const { request, lease, id } = exchange
      assertOwnOrigin(request, deps.baseUrl())
      const body = await readBytes(request, LIMITS.batchBodyBytesMax, deps.loadShedder)
      assertOneMessage(body)
      assertBoundedJson(body)
      const { handleMcpRequest } = await load()
      // The URL of the request has its `Host`, which may be anything.
      const url = new URL(ROUTES.mcp.path, deps.baseUrl())
      const sent = new Request(url, { method: "POST", headers: request.headers, body: Uint8Array.from(body) })
      const response = await handleMcpRequest(backendOf(deps, exchange), sent)
      const { headers } = deps.responses.serialized("", id, response.status, lease?.headers())
      for (const [name, value] of response.headers) headers.set(name, value)
      if (response.body === null) headers.delete("Content-Type")
      return new Response(response.body, { status: response.status, headers })
    },
  })
}

/** A page of another site, which a name that changes its address may bring here, is refused (DNS rebinding). */
function assertOwnOrigin(request: Request, baseUrl: string): void {
  const origin = request.headers.get("origin")
  if (origin === null || origin === new URL(baseUrl).origin) return
  throw new Problem("forbidden_origin", "Agents send no `Origin`. Pages of other sites cannot use this endpoint.")
}

/** The white space of JSON, and a byte order mark. */
const SKIPPED_BYTES = [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]
const OPENING_BRACKET = 0x5b

/** An array of messages, which newer revisions of the protocol do not have, would pass the rate limit as one request. */
function assertOneMessage(body: Uint8Array): void {
  if (body.find(byte => !SKIPPED_BYTES.includes(byte)) === OPENING_BRACKET)
    throw new Problem("invalid_input", "Send one message in a request, not an array of them.")
}

/** The tools for one caller. */
function backendOf(deps: McpRouteDeps, exchange: Exchange): McpBackend {
  const { account } = callerOf(exchange)
  const log = logOf(deps.log, exchange)
  return {
    check: input =>
      toolResult(log, async () => {
        const parsed = parseCheckRequest(inputFromBody(input), deps.testDomain, account.id)
        return fullResult(await runCheck(deps, exchange, parsed), exchange.id)
      }),
    check_batch: input =>
      toolResult(log, () => runBatch(deps, exchange, input, outcomes => batchResult(outcomes, exchange.id))),
    explain_listing: async input => listingResult(deps.lists().lookUpDomain(String(Object(input).domain))),
    usage: () => toolResult(log, async () => deps.usageOf(account, null)),
    own_list: input =>
      toolResult(log, () => readOwnList(deps, exchange, listOf(input), ownListInput(parametersOf(input)))),
    own_list_add: input =>
      toolResult(log, async () => {
        admitLongRequest(deps, exchange)
        return (await addToOwnList(deps, exchange, listOf(input), input)).body
      }),
    own_list_remove: input =>
      toolResult(log, () => {
        admitLongRequest(deps, exchange)
        return removeFromOwnList(deps, exchange, listOf(input), parseSentEntries(input))
      }),
    rules: () => toolResult(log, () => readRules(deps.changes, exchange)),
    rules_set: input =>
      toolResult(log, () => {
        const rules = validRules(parseRules(Object.entries(Object(ownMember(input, "rules")))))
        return replaceRules(deps.changes, exchange, rules)
      }),
  }
}

/** The list that a tool is about, whose input was validated. */
const listOf = (input: unknown): OwnList => (ownMember(input, "list") === "allow" ? "allow" : "block")

function parametersOf(input: unknown) {
  const textOf = (name: string): string | null => {
    const value = ownMember(input, name)
    return value === undefined ? null : String(value)
  }
  return { entry: textOf("entry"), after: textOf("after"), limit: textOf("limit") }
}

/** A `Problem` is what the tool answers. Of another error only its name and its place are logged, because its message may hold a part of the input. */
async function toolResult(log: Log, work: () => Promise<unknown>): Promise<ToolResult> {
  try {
    return { kind: "result", value: await work() }
  } catch (error) {
    const problem = problemOf(error)
    if (problem === null) {
      log("error", "a tool of an agent failed", defectFields(error))
      return { kind: "problem", code: "internal_error", detail: PROBLEMS.internal_error.cause }
    }
    const { retry_after: retryAfterS } = problem.extensions
    return {
      kind: "problem",
      code: problem.code,
      detail: problem.detail,
      ...(retryAfterS !== undefined && { retryAfterS }),
    }
  }
}
