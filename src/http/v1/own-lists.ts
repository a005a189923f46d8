import { createTimedPause, type Pause } from "../../base/concurrency.ts"
import type { Stopwatch } from "../../base/outside-world.ts"
import { isoInstant } from "../../base/time.ts"
import { parseAddressOrDomain } from "../../check/address/parse-subject.ts"
import { LIMITS } from "../../contract/limits.ts"
import type {
  OwnListAddition,
  OwnListEntryBody,
  OwnListFault,
  OwnListPage,
  OwnListRemoval,
} from "../../contract/own-lists-schema.ts"
import { type LabelledEntry, parseNotedEntry } from "../../customers/own-lists/entries.ts"
import {
  addEntries,
  countEntries,
  type DatedOwnListEntry,
  findEntry,
  hearOfLists,
  listEntries,
  type OwnList,
  removeEntries,
} from "../../customers/own-lists/own-lists.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import { rateSubject } from "../../customers/quota/rate/rate-subject.ts"
import type { AttributedLog, ChangeLog } from "../../customers/store/change-log/change-log.ts"
import type { LoadShedder } from "../admission/load-shedder.ts"
import { callerOf, type Exchange } from "../exchange.ts"
import { readBytes, readJsonBody } from "../request/body.ts"
import { invalidKey } from "../request/caller.ts"
import { callerActor } from "../request/caller-actor.ts"
import {
  assertNamesNoEntries,
  type OwnListInput,
  parseOwnListQuery,
  parseQueryEntries,
  parseSentEntries,
  type SentEntry,
} from "../request/own-list-input.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { ownListsFull } from "../response/own-list-problems.ts"
import { rateLimited } from "../response/problem.ts"
import { handlers } from "../router.ts"
import { answerOnce, onceResponse } from "./answer-once.ts"

/** What changes and shows own lists. */
export type OwnListDeps = {
  readonly changes: ChangeLog
  readonly loadShedder: LoadShedder
  readonly stopwatch: Stopwatch
  readonly rates: RateLimiter
}

/** The block and allow lists of an account: read, added to, removed from. They cost no units. */
export function ownListRoutes(deps: OwnListDeps & { readonly responses: JsonResponses }) {
  const block = endpointsOf(deps, "block")
  const allow = endpointsOf(deps, "allow")
  return handlers({
    getBlockList: block.get,
    postBlockList: block.post,
    deleteBlockList: block.delete,
    getAllowList: allow.get,
    postAllowList: allow.post,
    deleteAllowList: allow.delete,
  })
}

function endpointsOf(deps: OwnListDeps & { readonly responses: JsonResponses }, list: OwnList) {
  const { responses, loadShedder } = deps
  const json = ({ id, lease }: Exchange, body: OwnListPage | OwnListRemoval): Response =>
    responses.serialized(JSON.stringify(body), id, 200, lease?.headers())
  const read = ({ request }: Exchange) => readJsonBody(request, BODY_BYTES_MAX, loadShedder)
  return {
    get: async (exchange: Exchange) =>
      json(exchange, await readOwnList(deps, exchange, list, parseOwnListQuery(exchange.request.url))),
    post: async (exchange: Exchange) => {
      admitLongRequest(deps, exchange)
      const { isReplay, body } = await addToOwnList(deps, exchange, list, await read(exchange))
      return onceResponse(responses, exchange, { isReplay, answer: JSON.stringify(body) })
    },
    delete: async (exchange: Exchange) => {
      admitLongRequest(deps, exchange)
      const named = parseQueryEntries(exchange.request.url)
      const sent = named ?? parseSentEntries(await read(exchange))
      if (named !== null)
        assertNamesNoEntries(exchange.request, await readBytes(exchange.request, BODY_BYTES_MAX, loadShedder))
      return json(exchange, await removeFromOwnList(deps, exchange, list, sent))
    },
  }
}

const BODY_BYTES_MAX = LIMITS.ownListBodyBytesMax

const LONG_REQUEST_RATE = {
  perSecond: LIMITS.ownListLongRequestsPerSecond,
  burst: LIMITS.ownListLongRequestsBurst,
  isBurstWhole: true,
} as const

/** Throws `rate_limited` for too many long requests: one of a thousand entries takes up to 70 ms of processor time, and no units. */
export function admitLongRequest({ rates }: Pick<OwnListDeps, "rates">, exchange: Exchange): void {
  const { body, headers } = exchange.request
  const length = headers.get("content-length")
  if (body === null || (length !== null && Number(length) <= LIMITS.ownListShortTextMax)) return
  const { waitS } = rates.admit(rateSubject("ownListRequest", callerOf(exchange).account.id), LONG_REQUEST_RATE)
  if (waitS > 0) throw rateLimited(TOO_MANY_REQUESTS, waitS, LIMITS.ownListLongRequestsBurst)
}

const TOO_MANY_REQUESTS = "You sent too many long changes of your lists at once."

/** A page of a list of the caller, or the one entry that is asked for. */
export async function readOwnList(
  { changes: { store } }: Pick<OwnListDeps, "changes">,
  exchange: Exchange,
  list: OwnList,
  { entry, after, limit }: OwnListInput,
): Promise<OwnListPage> {
  const owner = { accountId: callerOf(exchange).account.id }
  const total = (await countEntries(store, owner))[list]
  if (entry !== null) {
    const found = await findEntry(store, owner, list, entry)
    return { entries: found === null ? [] : [entryBody(found)], next: null, total }
  }
  const found = await listEntries(store, owner, list, after, limit + 1)
  const entries = found.slice(0, limit)
  return {
    entries: entries.map(entryBody),
    next: found.length > limit ? (entries.at(-1)?.storedText ?? null) : null,
    total,
  }
}

const entryBody = ({ storedText, shownAs, kind, domain, note, addedAtMs }: DatedOwnListEntry): OwnListEntryBody => ({
  ...{ entry: storedText, shown_as: shownAs, kind, domain, note, added_at: isoInstant(addedAtMs) },
})

/** Adds the good ones of the entries of a body, all or none. The same request with the same idempotency key gets the same answer. */
export async function addToOwnList(
  deps: OwnListDeps,
  exchange: Exchange,
  list: OwnList,
  body: unknown,
): Promise<{ readonly body: OwnListAddition; readonly isReplay: boolean }> {
  const { store, clock } = deps.changes
  const pause = createTimedPause(deps.loadShedder.nextTick, deps.stopwatch)
  const parsed = await parseAll(parseSentEntries(body), pause)
  const { log, owner } = targetOf(deps, exchange)
  const { answer, isReplay } = await answerOnce({ store, clock }, exchange, body, async record => {
    const outcomes = (added: ReadonlySet<string>): string => outcomeLetters(parsed, added)
    const addition = await addEntries(log, owner, list, parsed.filter(isEntry), pause, (inner, { added }) =>
      record(inner, outcomes(added)),
    )
    if (addition.kind === "too_many") throw ownListsFull()
    if (addition.kind === "unknown_account") throw invalidKey("This key does not exist.")
    return outcomes(addition.added)
  })
  if (isReplay) hearOfLists(log, owner)
  const { counts, results } = tell(parsed, answer, { [CHANGED]: "added", [UNCHANGED]: "present" } as const)
  return { isReplay, body: { added: counts[CHANGED], present: counts[UNCHANGED], invalid: counts[INVALID], results } }
}

/** Removes the good ones of the entries, all or none. */
export async function removeFromOwnList(
  deps: OwnListDeps,
  exchange: Exchange,
  list: OwnList,
  sent: readonly SentEntry[],
): Promise<OwnListRemoval> {
  const pause = createTimedPause(deps.loadShedder.nextTick, deps.stopwatch)
  const parsed = await parseAll(sent, pause)
  const { log, owner } = targetOf(deps, exchange)
  const { removed } = await removeEntries(log, owner, list, parsed.filter(isEntry), pause)
  const answer = outcomeLetters(parsed, removed)
  const { counts, results } = tell(parsed, answer, { [CHANGED]: "removed", [UNCHANGED]: "absent" } as const)
  return { removed: counts[CHANGED], absent: counts[UNCHANGED], invalid: counts[INVALID], results }
}

/** Whose lists are changed, and who changes them. */
function targetOf({ changes }: OwnListDeps, exchange: Exchange) {
  const { account, key } = callerOf(exchange)
  const log: AttributedLog = { ...changes, actor: callerActor(account.id, key.id) }
  return { log, owner: { accountId: account.id } }
}

type ParsedEntry = LabelledEntry | OwnListFault
const isEntry = (parsed: ParsedEntry): parsed is LabelledEntry => typeof parsed !== "string"

async function parseAll(sent: readonly SentEntry[], pause: Pause): Promise<readonly ParsedEntry[]> {
  const parsed: ParsedEntry[] = []
  for (const { entry, note } of sent) {
    parsed.push(parseNotedEntry(entry, note, parseAddressOrDomain))
    await pause()
  }
  return parsed
}

/** What became of an entry, as one letter of a stored answer: the rest of it follows from the request, which is sent again. */
const [CHANGED, UNCHANGED, INVALID] = ["c", "u", "i"] as const
type Outcome = typeof CHANGED | typeof UNCHANGED | typeof INVALID

/** Of several equal entries the first one has changed the list. */
function outcomeLetters(parsed: readonly ParsedEntry[], changed: ReadonlySet<string>): string {
  const left = new Set(changed)
  const letterOf = (entry: ParsedEntry): Outcome => {
    if (!isEntry(entry)) return INVALID
    return left.delete(entry.storedText) ? CHANGED : UNCHANGED
  }
  return parsed.map(letterOf).join("")
}

/** The results of entries by their letters. */
function tell<C extends string, U extends string>(
  parsed: readonly ParsedEntry[],
  letters: string,
  statuses: { readonly [CHANGED]: C; readonly [UNCHANGED]: U },
) {
  const counts = { [CHANGED]: 0, [UNCHANGED]: 0, [INVALID]: 0 }
  const results = parsed.map((entry, index) => {
    if (!isEntry(entry)) {
      counts[INVALID]++
      return { index, status: "invalid" as const, entry: null, shown_as: null, reason: entry }
    }
    const outcome = letters[index] === CHANGED ? CHANGED : UNCHANGED
    counts[outcome]++
    return { index, status: statuses[outcome], entry: entry.storedText, shown_as: entry.shownAs, reason: null }
  })
  return { counts, results }
}
