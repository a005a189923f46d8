import { Elysia } from "elysia"
import type { Log } from "../../base/log.ts"
import { kindOf, parseSubject } from "../../check/address/parse.ts"
import { type Batch, checkBatch } from "../../check/batch.ts"
import type { Check } from "../../check/check.ts"
import type { Outcome } from "../../check/present.ts"
import { writtenBatch } from "../../check/written.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { KnownKey } from "../../customers/keys/held-keys.ts"
import type { OwnLists } from "../../customers/own-lists/held-own-lists.ts"
import type { UsageMeter } from "../../customers/usage/usage-meter.ts"
import type { Answers } from "../answer.ts"
import { batchInput } from "../batch-input.ts"
import { jsonBody } from "../body.ts"
import type { Keyed } from "../keyed.ts"
import type { Load } from "../load.ts"
import type { Meter } from "../metrics/meter.ts"
import type { Pass } from "../pass.ts"

type Needs = {
  readonly answers: Answers
  readonly keyed: Keyed
  readonly check: Check
  readonly ownLists: OwnLists
  readonly usage: UsageMeter
  readonly log: Log
  readonly meter: Meter
  readonly load: Load
  readonly testDomain: string
}

/** POST /v1/check/batch: many addresses, domains and URLs, each answered as a check of it would be. */
export function batchRoute(needs: Needs) {
  const { answers, keyed, ownLists, log, testDomain, load } = needs
  const answer = async (request: Request, known: KnownKey, pass: Pass | null): Promise<Response> => {
    const { items, policy } = batchInput(await jsonBody(request, LIMITS.batchBodyBytesMax, load))
    const requestId = answers.requestId(request)
    const batch: Batch = {
      subjects: items.map(item => parseSubject(kindOf(item), item, testDomain)),
      policy,
      standing: (normalized, domain) => ownLists.standing(known.account.id, normalized, domain),
      failed: error => log("error", "a domain of a batch was not asked about", failure(error, requestId)),
    }
    // What is written is to be copied into the answer before anybody else writes.
    const tell = (outcomes: readonly Outcome[]) =>
      answers.written(writtenBatch(outcomes, requestId), requestId, 200, pass?.told())
    return await metered(needs, batch, known, pass, tell)
  }
  return new Elysia({ normalize: false }).post(
    ROUTES.postBatch.path,
    ({ request }) => keyed(request, (known, pass) => answer(request, known, pass), true),
    { parse: "none" },
  )
}

/**
 * Checks at the cost of a unit an item, all or none, which are given back when the batch fails, and counts what was done.
 * A test address costs nothing; one that asks for a problem is one that has no verdict of its own here, for a problem
 * would be all the items'.
 */
async function metered(
  { check, usage, meter }: Needs,
  batch: Batch,
  { key, account }: KnownKey,
  pass: Pass | null,
  tell: (outcomes: readonly Outcome[]) => Response,
): Promise<Response> {
  const units = batch.subjects.filter(({ isTest }) => !isTest).length
  if (units > 0) await pass?.charge(units)
  try {
    const outcomes = await checkBatch(check, batch)
    const response = tell(outcomes)
    const paid = outcomes.filter(({ subject }) => !subject.isTest)
    for (const { settled } of paid) meter.verdict(settled.verdict, settled.evidence.isCached)
    usage.note(account.id, key, { kind: "batch", categories: paid.map(({ settled }) => settled.verdict.category) })
    return response
  } catch (error) {
    pass?.refund(units)
    throw error
  }
}

/** An error's own message may hold what a caller sent, so only its name is written. */
const failure = (error: unknown, requestId: string) => ({
  request_id: requestId,
  error: error instanceof Error ? error.name : typeof error,
})
