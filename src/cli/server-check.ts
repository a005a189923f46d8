import { jsonMembers } from "../base/json-members.ts"
import type { AddressHints } from "../check/address/address-hints.ts"
import { A_SUITE, canonicalEmail } from "../check/address/canonical-email.ts"
import { detectSubjectKind } from "../check/address/parse-subject.ts"
import type { Subject } from "../check/address/subject.ts"
import type { Check, CheckRequest } from "../check/check.ts"
import type { CheckOutcome, fullResult } from "../check/result/result.ts"
import { ALL_PARTS, ANSWER_PARTS } from "../check/verdict/evidence-need.ts"
import type { BatchItemResult, CheckResult } from "../client/api-types.ts"
import { API_LIMITS } from "../client/chunks.ts"
import type { CheckSubject, Mailkind } from "../client/client.ts"
import { resultMembersOf } from "../contract/result-schema.ts"
import { serverFailure } from "./server.ts"

/** How often a request is tried again, with the waits of the client. */
const RETRIES = 3

type Waiting = {
  readonly request: CheckRequest
  readonly resolve: (outcome: CheckOutcome) => void
  readonly reject: (error: Error) => void
}

/**
 * A check that asks a server, in batches of what is asked for at the same time. What has no domain is judged here and is not sent.
 * Rejects with a `CommandError` when the server gives no result.
 */
export function createServerCheck(client: Mailkind, localCheck: Check): Check {
  let waiting: Waiting[] = []
  const send = (): void => {
    const batch = waiting
    waiting = []
    if (batch.length > 0) void sendBatch(client, batch)
  }
  return request => {
    const { subject } = request
    if (subject.domain === null) return localCheck(request)
    // A batch knows the kind of an item by its text, and has no deep checks.
    if (request.isDeep || detectSubjectKind(subject.sent) !== subject.kind) return checkAlone(client, request)
    const { promise, resolve, reject } = Promise.withResolvers<CheckOutcome>()
    waiting.push({ request, resolve, reject })
    if (waiting.length === 1) queueMicrotask(send)
    if (waiting.length === API_LIMITS.batchItemsMax) send()
    return promise
  }
}

async function sendBatch(client: Mailkind, batch: readonly Waiting[]): Promise<void> {
  const policy = batch[0]?.request.policy
  const texts = batch.map(({ request }) => request.subject.sent)
  const mail = batch.some(({ request }) => showsMail(request))
  const answers = await client.batch(texts, { policy, mail, retries: RETRIES })
  for (const [at, { request, resolve, reject }] of batch.entries()) {
    const answer = answers[at]
    if (answer?.outcome === "checked") resolve(outcomeOf(request.subject, answer.result))
    else if (answer !== undefined) reject(serverFailure(answer))
  }
}

/** Whether a row shows what an answer with `mail: false` lacks. */
const showsMail = ({ parts = ALL_PARTS }: CheckRequest): boolean => (parts & ~PARTS_WITHOUT_MAIL) !== 0

const PARTS_WITHOUT_MAIL = ANSWER_PARTS.mailbox | ANSWER_PARTS.disposableHosts

async function checkAlone(client: Mailkind, request: CheckRequest): Promise<CheckOutcome> {
  const { subject, policy, isDeep } = request
  const asked = { [subject.kind]: subject.sent } as CheckSubject & Record<string, string> // one of its members
  const answer = await client.check({ ...asked, policy, deep: isDeep, mail: showsMail(request) }, { retries: RETRIES })
  if (answer.outcome === "unchecked") throw serverFailure(answer)
  return outcomeOf(subject, answer.result)
}

/** The outcome that a result of a server stands for: as much of it as results are written from. */
function outcomeOf(subject: Subject, answer: CheckResult | BatchItemResult): CheckOutcome {
  const { index: _, input: __, ...result }: CheckResult & Partial<BatchItemResult> = answer
  const { category, confidence, recommendation, policy, reasons, degraded, domain, did_you_mean: suggestion } = result
  const { cached: isCached, took_ms: tookMs } = result
  const own = Object.entries(result).filter(([name]) => !WRITTEN_APART.has(name))
  const all = Object.keys(result)
  const hintsAt = all.findIndex(name => HINTS.has(name))
  const beforeHints = own.filter(([name]) => all.indexOf(name) < hintsAt).length
  // Both parts need a member. A server of another version may send no hints.
  const split = hintsAt < 0 ? own.length - 1 : Math.min(beforeHints, own.length - 1)
  const judged = {
    ...{ domain, policy, evidence: { suggestion, isCached, mail: mailOf(subject, result) }, shared: null },
    parts: { verdict: result, evidence: result },
    verdict: { category, confidence, recommendation, reasons, isDegraded: degraded },
    text: {
      verdict: jsonMembers(Object.fromEntries(own.slice(0, split))),
      evidence: jsonMembers(Object.fromEntries(own.slice(split))),
    },
  } as unknown as CheckOutcome["judged"] // the evidence stays at the server
  const outcome = { subject, hints: hintsOf(result), judged, tookMs, wasFetched: false }
  serverResults.set(outcome, result as FullResult) // JSON has no `undefined`
  return outcome
}

/** Who runs the mail, as far as the mailbox tells that the server found behind the address. */
const mailOf = (subject: Subject, { canonical_email: mailbox }: Partial<CheckResult>) => ({
  known: true,
  value: { operatedBy: mailbox !== null && canonicalEmail(subject, A_SUITE) === mailbox ? A_SUITE : null },
})

const HINTS = resultMembersOf("hints")
/** The members of a result that are written for each input. */
const WRITTEN_APART = resultMembersOf("input", "mailbox", "hints", "run")

/** The hints in a result. The server may be of another version, which sends none. */
function hintsOf({ is_role_account: isRole, shared_inbox, group }: Partial<CheckResult>): AddressHints {
  const isService = group?.confidence === 1
  const groupMatch = group?.match ?? null
  return {
    isRole: isRole ?? false,
    sharedInbox: shared_inbox?.match ?? null,
    group: isService ? null : groupMatch,
    groupService: isService ? groupMatch : null,
  }
}

type FullResult = ReturnType<typeof fullResult>

const serverResults = new WeakMap<CheckOutcome, FullResult>()

/** The result that a server gave for an outcome; undefined: no server was asked. */
export const serverResult = (outcome: CheckOutcome): FullResult | undefined => serverResults.get(outcome)
