import type { CheckResult, ReducedResult } from "./api-types.ts"
import type { Unchecked } from "./outcome.ts"
import type { NetworkOption } from "./platform.ts"

/** The options of `createMailkind`. */
export type MailkindOptions = NetworkOption & {
  /** The address of the server, such as `https://mailkind.example.com`. */
  readonly url: string
  /** A secret key. Without a key only test addresses are checked. */
  readonly key?: string | undefined
  /** How long a call waits in all, in milliseconds. For a batch: each try. */
  readonly timeoutMs?: number | undefined
  /** How often a call other than a batch is tried again. */
  readonly retries?: number | undefined
  /** A `Retry-After` that is longer is not waited for. */
  readonly retryWaitMaxMs?: number | undefined
  /** How many results are kept in memory. Only answers whose `Cache-Control` allows it are kept. 0: none. */
  readonly cacheEntriesMax?: number | undefined
  /** Is called for every check and item that ends unchecked: to log it and to count it. */
  readonly onUnchecked?: ((unchecked: Unchecked) => void) | undefined
}

/** The options of `createMailkind` in a page: a publishable key, and reduced results. */
export type PublishableOptions = Omit<MailkindOptions, "key"> & { readonly publishableKey: string }

/** The options of one call. */
export type CallOptions = {
  readonly timeoutMs?: number | undefined
  readonly retries?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The options of a call that can be sent again. With the same key and the same request, the server gives the first answer for a day and does nothing twice. */
export type OnceOptions = CallOptions & { readonly idempotencyKey?: string | undefined }

/** What a check gives with a secret key, and with a publishable one. */
export type AnyCheckResult = CheckResult | ReducedResult

/** What an option is when it is absent. */
export const CLIENT_DEFAULTS = {
  timeoutMs: 5_000,
  retries: 0,
  retryWaitMaxMs: 60_000,
  cacheEntriesMax: 1_000,
  batchTimeoutMs: 30_000,
  batchRetries: 4,
  batchConcurrency: 4,
} as const

/** The first wait between two tries, where the server names none. Each further one is twice as long. */
export const BACKOFF_FIRST_MS = 500

/** No wait that the server does not ask for is longer. */
export const BACKOFF_MAX_MS = 16_000

/** So much is added to a wait at most, by chance, so that clients do not come back together. */
export const JITTER_MAX_MS = 1_000

/** A longer answer is malformed. That of a full batch is a tenth of it. */
export const ANSWER_BYTES_MAX = 4_194_304

/** After so many requests of a batch in a row that are given up, the rest of its items is not sent. */
export const GIVEN_UP_MAX = 5

/** What the options come to. */
export type ClientSettings = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly batchTimeoutMs: number
  readonly retries: number
  readonly retryWaitMaxMs: number
  readonly cacheEntriesMax: number
}

/** Reads the options. Throws what a programmer must see at once; the text never holds the key. */
export function readClientOptions(options: MailkindOptions | PublishableOptions, isPage: boolean): ClientSettings {
  const key = readKey("publishableKey" in options ? options.publishableKey : options.key)
  if (isPage && key?.startsWith("svc_live_"))
    throw new TypeError(
      "mailkind: everybody can read a secret key in a page. Use `publishableKey` there, and the secret key on your server.",
    )
  return {
    url: readUrl(options.url),
    headers: { Accept: "application/json", ...(key === null ? {} : { Authorization: `Bearer ${key}` }) },
    timeoutMs: readCount("timeoutMs", options.timeoutMs, CLIENT_DEFAULTS.timeoutMs, 1),
    batchTimeoutMs: readCount("timeoutMs", options.timeoutMs, CLIENT_DEFAULTS.batchTimeoutMs, 1),
    retries: readCount("retries", options.retries, CLIENT_DEFAULTS.retries, 0),
    retryWaitMaxMs: readCount("retryWaitMaxMs", options.retryWaitMaxMs, CLIENT_DEFAULTS.retryWaitMaxMs, 0),
    cacheEntriesMax: readCount("cacheEntriesMax", options.cacheEntriesMax, CLIENT_DEFAULTS.cacheEntriesMax, 0),
  }
}

/** Timers of browsers and Node hold no more milliseconds. */
const COUNT_MAX = 2_147_483_647

/** A whole number of at least `min`. Throws if it is something else. */
export function readCount(name: string, value: number | undefined, absent: number, min: number): number {
  if (value === undefined) return absent
  if (Number.isInteger(value) && value >= min) return Math.min(value, COUNT_MAX)
  throw new TypeError(`mailkind: \`${name}\` must be a whole number of at least ${min}.`)
}

/** A key that a header can hold. Throws if it is something else. */
export function readIdempotencyKey(key: string | undefined): string | undefined {
  if (key === undefined || (typeof key === "string" && /^[\x21-\x7e]{1,255}$/.test(key))) return key
  throw new TypeError("mailkind: `idempotencyKey` must have 1 to 255 characters of ASCII, without spaces.")
}

/** An empty key, as that of a variable that is not set, is none: the server refuses the request, and nobody is kept out. */
function readKey(given: unknown): string | null {
  if (given === undefined || given === null) return null
  const key = typeof given === "string" ? given.trim() : null
  if (key === null || !/^[\x21-\x7e]*$/.test(key))
    throw new TypeError("mailkind: the key has characters that no key has. Copy it again from the dashboard.")
  return key === "" ? null : key
}

function readUrl(given: unknown): string {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new TypeError("mailkind: `url` must be the address of the server, such as https://mailkind.example.com.")
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`
}
