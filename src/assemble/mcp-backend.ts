import { detectSubjectKind, parseSubject } from "../check/address/parse-subject.ts"
import { checkBatch } from "../check/batch.ts"
import { NO_OWN_LIST_MATCH } from "../check/check.ts"
import type { LoadedLists } from "../check/domain-lookup.ts"
import { explainDomain } from "../check/explain-domain.ts"
import { batchResult, fullResult } from "../check/result/result.ts"
import type { CheckCommandDeps } from "../cli/check.ts"
import { serverFailureRemedy } from "../cli/server.ts"
import type { Mailkind } from "../client/client.ts"
import type { Failure, Reply } from "../client/outcome.ts"
import { inputFromBody, parseBatchRequest, parseCheckRequest } from "../http/request/check-input.ts"
import { Problem } from "../http/response/problem.ts"
import { listingResult } from "../mcp/explain-listing.ts"
import type { McpBackend, ToolResult } from "../mcp/tools.ts"

/** All look-ups of an agent are those of one caller. */
const LOCAL_CALLER = "agent"

const NO_ACCOUNT: ToolResult = {
  kind: "problem",
  code: "no_account",
  detail:
    "This program has no account, no limits and no own lists. Start it with --server and --key-file to use those of a server.",
}

/** Answers the tools by this program's own lists and network. */
export function createLocalBackend(
  { check, testDomain, requestId }: CheckCommandDeps,
  loadLists: () => Promise<LoadedLists>,
): McpBackend {
  return {
    check: input =>
      problemAsResult(async () => {
        const request = parseCheckRequest(inputFromBody(input), testDomain, null)
        return fullResult(await check(request), requestId())
      }),
    check_batch: input =>
      problemAsResult(async () => {
        const { items, policy, showsMail } = parseBatchRequest(input)
        const id = requestId()
        const subjects = items.map(item => parseSubject(detectSubjectKind(item), item, testDomain))
        const outcomes = await checkBatch(check, {
          ...{ subjects, policy, showsMail, callerId: LOCAL_CALLER },
          ownListMatch: () => NO_OWN_LIST_MATCH,
        })
        return { results: batchResult(outcomes, id).results }
      }),
    explain_listing: domain => explain(loadLists, domain),
    usage: async () => NO_ACCOUNT,
    own_list: async () => NO_ACCOUNT,
    own_list_add: async () => NO_ACCOUNT,
    own_list_remove: async () => NO_ACCOUNT,
    rules: async () => NO_ACCOUNT,
    rules_set: async () => NO_ACCOUNT,
  }
}

/** Answers the tools by a server. What the lists say comes from this program, which has them too. */
export const createServerBackend = (client: Mailkind, loadLists: () => Promise<LoadedLists>): McpBackend => ({
  check: async input => {
    const outcome = await client.check(Object(input))
    return outcome.outcome === "checked" ? { kind: "result", value: outcome.result } : failureResult(outcome)
  },
  check_batch: async input => {
    const { items, policy } = Object(input)
    const outcomes = await client.batch(items, { policy, retries: 0 })
    const failed = outcomes.find(each => each.outcome === "unchecked")
    if (failed?.outcome === "unchecked") return failureResult(failed)
    return {
      kind: "result",
      value: { results: outcomes.flatMap(each => (each.outcome === "checked" ? [each.result] : [])) },
    }
  },
  explain_listing: domain => explain(loadLists, domain),
  usage: async () => replyResult(await client.usage()),
  own_list: async input => {
    const { list, entry, after, limit } = Object(input)
    if (entry === undefined) return replyResult(await listOf(client, list).page({ after, limit }))
    const found = await listOf(client, list).find(entry)
    if (found.outcome === "unanswered") return failureResult(found)
    const entries = found.result === null ? [] : [found.result]
    return { kind: "result", value: { entries, next: null, total: entries.length } }
  },
  own_list_add: async input => replyResult(await listOf(client, Object(input).list).add(Object(input).entries)),
  own_list_remove: async input => replyResult(await listOf(client, Object(input).list).remove(Object(input).entries)),
  rules: async () => replyResult(await client.rules()),
  rules_set: async input => replyResult(await client.setRules(Object(input).rules)),
})

const listOf = (client: Mailkind, list: unknown) => (list === "allow" ? client.allowList : client.blockList)

const replyResult = (reply: Reply<unknown>): ToolResult =>
  reply.outcome === "answered" ? { kind: "result", value: reply.result } : failureResult(reply)

const explain = async (loadLists: () => Promise<LoadedLists>, input: unknown): Promise<ToolResult> =>
  listingResult(explainDomain(await loadLists(), String(Object(input).domain)))

async function problemAsResult(work: () => Promise<unknown>): Promise<ToolResult> {
  try {
    return { kind: "result", value: await work() }
  } catch (error) {
    if (error instanceof Problem) return { kind: "problem", code: error.code, detail: error.detail }
    throw error
  }
}

function failureResult(failure: Failure): ToolResult {
  const { because, problem, retryAfterMs } = failure
  const message = problem?.detail ?? failure.message
  const detail = serverFailureRemedy(failure, message) ?? message
  return {
    ...{ kind: "problem", code: problem?.code ?? (because === "invalid_subject" ? "invalid_input" : because), detail },
    ...(retryAfterMs !== undefined && { retryAfterS: Math.ceil(retryAfterMs / 1000) }),
  }
}
