import { isRecord, isVerdict } from "./answers.ts"
import type {
  BatchItemResult,
  CheckResult,
  FeedbackBody,
  FeedbackReceipt,
  Health,
  Policy,
  ReducedResult,
  RulesAnswer,
  Usage,
  WantedRules,
} from "./api-types.ts"
import { type BatchItems, type BatchOptions, type BatchRun, createBatchRun } from "./batch.ts"
import { type ClientCache, createClientCache } from "./cache.ts"
import { API_LIMITS } from "./chunks.ts"
import { createJobs, type MailkindJobs } from "./jobs.ts"
import {
  type AnyCheckResult,
  type CallOptions,
  type ClientSettings,
  type MailkindOptions,
  type OnceOptions,
  type PublishableOptions,
  readClientOptions,
} from "./options.ts"
import {
  CAUSES,
  type Checked,
  type Failure,
  type ItemOutcome,
  type Outcome,
  type Reply,
  type Unchecked,
} from "./outcome.ts"
import { createOwnLists, type MailkindList } from "./own-lists.ts"
import type { ClientPlatform } from "./platform.ts"
import { type ClientRequests, createRequests, replyTo, singleRequest } from "./requests.ts"
import { type ClientStatistics, createStatistics, type MailkindStats } from "./statistics.ts"

/** What is checked: exactly one of an address, a domain and a website address. */
export type CheckSubject = (
  | { readonly email: string; readonly domain?: undefined; readonly url?: undefined }
  | { readonly domain: string; readonly email?: undefined; readonly url?: undefined }
  | { readonly url: string; readonly email?: undefined; readonly domain?: undefined }
) &
  CheckTerms

/** How it is checked. */
export type CheckTerms = {
  readonly policy?: Policy | undefined
  /** Adds the domain's age and a homepage check. */
  readonly deep?: boolean | undefined
  /** False skips the look-up of the suite_b tenant. */
  readonly workspace?: boolean | undefined
  /** False asks DNS only for what decides the verdict: `mail`, `workspace` and `integrations` hold only that. */
  readonly mail?: boolean | undefined
}

/** The methods that both kinds of key have. */
export type MailkindBrowser<R = ReducedResult> = {
  /** Checks one input. It never throws because there is no answer: then the outcome is `unchecked`. */
  readonly check: (input: CheckSubject, options?: CallOptions) => Promise<Outcome<R>>
  readonly checkEmail: (email: string, options?: CheckTerms & CallOptions) => Promise<Outcome<R>>
  /** What the client has counted since it was created. */
  readonly stats: () => MailkindStats
}

/** A client with a secret key. */
export type Mailkind = MailkindBrowser<CheckResult> & {
  /** Checks any number of items, in order. */
  readonly batch: (items: BatchItems, options?: BatchOptions) => BatchRun
  /** Reports a wrong verdict. */
  readonly feedback: (report: FeedbackBody, options?: OnceOptions) => Promise<Reply<FeedbackReceipt>>
  /** Uploads whole lists, watches them and downloads their results. */
  readonly jobs: MailkindJobs
  /** What the account recommends instead of the policy. */
  readonly rules: (options?: CallOptions) => Promise<Reply<RulesAnswer>>
  /** Replaces all rules of the account: what is left out has none. */
  readonly setRules: (rules: WantedRules, options?: CallOptions) => Promise<Reply<RulesAnswer>>
  /** The entries that are always blocked, and those that are always allowed. */
  readonly blockList: MailkindList
  readonly allowList: MailkindList
  readonly usage: (options?: CallOptions) => Promise<Reply<Usage>>
  readonly health: (options?: CallOptions) => Promise<Reply<Health>>
}

/** A client on a platform. */
export function createClient(options: MailkindOptions | PublishableOptions, platform: ClientPlatform): Mailkind {
  const settings = readClientOptions(options, platform.isPage())
  const statistics = createStatistics()
  const ask = createRequests(platform, settings, statistics)
  const cache = createClientCache<KeptResult>(settings.cacheEntriesMax)
  const deps: CheckDeps = { ask, cache, statistics, settings, now: platform.now }
  const tell = (outcome: Outcome<AnyCheckResult | BatchItemResult>): void =>
    countOutcome(outcome, statistics, options.onUnchecked)
  const check: Mailkind["check"] = async (input, call = {}) => {
    const outcome = await checkOutcome(deps, input, call)
    tell(outcome)
    return outcome as Outcome<CheckResult> // the overloads of `createMailkind` say which result a key gets
  }
  const reply = <R>(path: string, body: string | null, call: OnceOptions = {}): Promise<Reply<R>> => {
    const { idempotencyKey, ...options } = call
    return replyTo(ask, singleRequest(settings, { path, body, idempotencyKey, isAnswer: isObject<R> }, options))
  }
  return Object.freeze({
    check,
    checkEmail: (email: string, { timeoutMs, retries, signal, ...terms }: CheckTerms & CallOptions = {}) =>
      check({ ...terms, email }, { timeoutMs, retries, signal }),
    batch: (items: BatchItems, batchOptions: BatchOptions = {}) =>
      createBatchRun(
        {
          ask,
          timeoutMs: settings.batchTimeoutMs,
          onOutcome: (outcome: ItemOutcome<BatchItemResult>) => tell(outcome),
        },
        items,
        batchOptions,
      ),
    feedback: (report: FeedbackBody, call?: OnceOptions) =>
      reply<FeedbackReceipt>("/v1/feedback", JSON.stringify(report), call),
    jobs: createJobs({ platform, settings, ask }),
    rules: (call?: CallOptions) => reply<RulesAnswer>(RULES_PATH, null, call),
    setRules: (rules: WantedRules, call: CallOptions = {}) => {
      const put = {
        path: RULES_PATH,
        method: "PUT",
        body: JSON.stringify({ rules }),
        isAnswer: isObject<RulesAnswer>,
      } as const
      return replyTo(ask, singleRequest(settings, put, call))
    },
    ...createOwnLists({ settings, ask }),
    usage: (call?: CallOptions) => reply<Usage>("/v1/usage", null, call),
    health: (call?: CallOptions) => reply<Health>("/v1/health", null, call),
    stats: statistics.stats,
  })
}

const RULES_PATH = "/v1/rules"

/** A result in memory, with the id of the request that got it. */
type KeptResult = { readonly result: AnyCheckResult; readonly requestId: string }

type CheckDeps = {
  readonly ask: ClientRequests
  readonly cache: ClientCache<KeptResult>
  readonly statistics: ClientStatistics
  readonly settings: ClientSettings
  readonly now: () => number
}

/** From memory where it may be, else from the server. */
async function checkOutcome(
  { ask, cache, statistics, settings, now }: CheckDeps,
  input: CheckSubject,
  call: CallOptions,
): Promise<Outcome<AnyCheckResult>> {
  const subject = readSubject(input)
  if (subject === null)
    return { outcome: "unchecked", because: "invalid_subject", message: CAUSES.invalid_subject, requestId: "" }
  const { policy, deep, workspace, mail } = input
  const body = JSON.stringify({ ...subject, policy, deep, workspace, mail })
  const kept = cache.get(body, now())
  if (kept !== undefined) {
    statistics.count("cached")
    // A caller may change what it gets.
    return { outcome: "checked", ...structuredClone(kept) }
  }
  const ended = await ask(singleRequest(settings, { path: "/v1/check", body, isAnswer: isResult }, call))
  if (ended.kind === "failure") {
    const { failure } = ended
    const because = isAboutSubject(failure, subject, policy) ? "invalid_subject" : failure.because
    return { ...failure, because, outcome: "unchecked" }
  }
  const { value: result, maxAgeMs, requestId } = ended
  // Less evidence than usual is not kept.
  const isWhole = !("degraded" in result && (result.degraded || result.workspace?.pending))
  if (maxAgeMs > 0 && isWhole) cache.set(body, structuredClone({ result, requestId }), now() + maxAgeMs)
  return { outcome: "checked", result, requestId }
}

/** What is checked, as it is sent. */
type SentSubject = { readonly email?: unknown; readonly domain?: unknown; readonly url?: unknown }

/**
 * The subject without white space around it. Null: it is missing, empty, no text, or longer than any that the API takes. Several
 * subjects are a mistake of the program, which the server explains.
 */
function readSubject({ email, domain, url }: SentSubject): SentSubject | null {
  const sent = Object.entries({ email, domain, url }).filter(([, value]) => value !== undefined)
  if (sent.length > 1) return { email, domain, url }
  const [[kind = "", value] = []] = sent
  const text = typeof value === "string" ? value.trim() : ""
  return text === "" || [...text].length > API_LIMITS.batchItemLengthMax ? null : { [kind]: text }
}

/** Whether the server refused a check because of its subject. A body is too large because of the longest text in it. */
function isAboutSubject({ status, problem }: Failure, subject: SentSubject, policy: unknown): boolean {
  const [[kind = "", value] = [], another] = Object.entries(subject)
  if (another !== undefined) return false
  if (status === 413) return String(value).length >= String(policy ?? "").length
  const faults = problem?.code === "invalid_input" ? problem.errors : undefined
  return Array.isArray(faults) && faults.some(fault => fault?.pointer === `/${kind}`)
}

function countOutcome(
  outcome: Checked<unknown> | Unchecked,
  statistics: ClientStatistics,
  onUnchecked: MailkindOptions["onUnchecked"],
): void {
  if (outcome.outcome === "checked") {
    statistics.count("checked")
    return
  }
  statistics.countUnchecked(outcome.because)
  const { because, message, problem, status, retryAfterMs, requestId } = outcome
  // Only what a log may hold: the item of a batch is left out.
  const told = { because, message, problem, status, retryAfterMs, requestId, outcome: "unchecked" } as Unchecked
  // What logs a failure must not become one of the sign-up.
  void (async () => await onUnchecked?.(told))().catch(() => undefined)
}

const isResult = (value: unknown): value is AnyCheckResult => isVerdict(value)
const isObject = <R>(value: unknown): value is R & object => isRecord(value)
