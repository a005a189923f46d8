import { fileURLToPath } from "node:url"
import { Deadline } from "../../base/concurrency.ts"
import { errorCode } from "../../base/errors.ts"
import { type CacheValidators, type Fetch, isRedirect, statusName } from "../../base/fetch.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { decodeUtf8 } from "../../base/text.ts"
import type { ReadParts, ReadTexts } from "../../base/text-file.ts"
import type { CachingResolver } from "../dns/dns-types.ts"
import { addressInUrl, addressKind, parsePublicAddress } from "./public-address.ts"

/** The bounds of a download. */
export type DownloadBounds = {
  /** The size of the body, both as sent and after decompression. */
  readonly bytesMax: number
  /** The time for the complete download, redirects included. */
  readonly timeoutMs: number
  /** The time without a new part of the response. */
  readonly idleMs: number
  readonly redirectsMax: number
}

/** The bounds of every list source. The longest one has 4 MB. */
export const DOWNLOAD_BOUNDS = {
  bytesMax: 16 * 1024 * 1024,
  timeoutMs: 60_000,
  idleMs: 15_000,
  redirectsMax: 3,
} as const satisfies DownloadBounds

/** What a download needs. */
export type DownloadDeps = {
  readonly fetchUrl: Fetch
  readonly setTimer: SetTimer
  /** The value of the User-Agent header (RFC 9110 §10.1.5). */
  readonly userAgent: string
  /** Resolves the names to which redirects lead; absent or null: names are not looked up, only addresses in URLs are judged. */
  readonly resolver?: CachingResolver | null
  /** Reads files of this host at `file:` URLs; absent: they are refused. */
  readonly readTexts?: ReadTexts | undefined
  /** Reads a file of this host as a stream, for downloads whose body is read as it comes; absent: they are refused. */
  readonly readParts?: ReadParts | undefined
}

/** The result of a download. */
export type DownloadResult =
  /** The download that the validators belong to is still the newest. */
  | { readonly kind: "unchanged" }
  /** The complete text, without a byte order mark; it may be empty. */
  | { readonly kind: "taken"; readonly text: string; readonly validators: CacheValidators }
  /** A sentence for the log. Of the response it contains only the status, a length and a host. */
  | { readonly kind: "failed"; readonly message: string }

/** The result of a download whose body is read as it comes. */
export type StreamedResult<T> =
  | { readonly kind: "unchanged" }
  | { readonly kind: "taken"; readonly value: T; readonly validators: CacheValidators }
  | { readonly kind: "failed"; readonly message: string }

/**
 * Downloads a text if it is newer than the download that `known` belongs to; null: there is none. It never rejects, settles
 * within `timeoutMs`, and leaves no request running. A redirect of a public server is followed only to public addresses; a server
 * that is itself on loopback or in a private network, which an operator has named, may redirect within it.
 *
 * A body that ends before its Content-Length, its last chunk or the end of its compression is a failure. A body without any
 * of these ends where its connection does (RFC 9112 §6.3), so its truncation cannot be detected here.
 */
export async function download(
  deps: DownloadDeps,
  url: string,
  known: CacheValidators | null,
  bounds: DownloadBounds,
): Promise<DownloadResult> {
  const readText = async (parts: AsyncIterable<Uint8Array>) => decodeText(Buffer.concat(await Array.fromAsync(parts)))
  const result = await receive({ ...deps, readParts: undefined }, url, known, bounds, readText)
  if (result.kind !== "taken") return result
  const { value: text, validators } = result
  return { kind: "taken", text, validators }
}

/**
 * Downloads what `read` makes of the parts of a body, under the same rules. Their sum is bounded as a text is; what they unpack to is for
 * `read` to bound. If it rejects, the download fails with the error's code.
 */
export const downloadStreamed = <T>(
  deps: DownloadDeps,
  url: string,
  bounds: DownloadBounds,
  read: (parts: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<StreamedResult<T>> => receive({ ...deps, readTexts: undefined }, url, null, bounds, read)

async function receive<T>(
  deps: DownloadDeps,
  url: string,
  known: CacheValidators | null,
  bounds: DownloadBounds,
  read: (parts: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<StreamedResult<T>> {
  const deadline = new Deadline(deps.setTimer, bounds.timeoutMs)
  try {
    return await followRedirects({ deps, bounds, deadline, conditions: conditionalHeaders(known), read }, url)
  } catch (fault) {
    return {
      kind: "failed",
      message: fault instanceof DownloadRefusal ? fault.message : `It failed with ${errorCode(fault)}.`,
    }
  } finally {
    deadline.cancel()
  }
}

type RequestContext = {
  readonly deps: DownloadDeps
  readonly bounds: DownloadBounds
  readonly deadline: Deadline
  readonly conditions: Readonly<Record<string, string>>
}

type DownloadContext<T> = RequestContext & { readonly read: (parts: AsyncIterable<Uint8Array>) => Promise<T> }

/** A failure with a message of this file; other errors are reported by their code only. */
class DownloadRefusal extends Error {}

async function followRedirects<T>(context: DownloadContext<T>, text: string): Promise<StreamedResult<T>> {
  const { redirectsMax } = context.bounds
  let url = URL.parse(text)
  if (url === null) throw new DownloadRefusal("Its URL is invalid.")
  if (url.protocol === "file:") {
    const { readTexts, readParts } = context.deps
    if (readTexts !== undefined) return await readLocal(context, localText(context, readTexts, url))
    if (readParts !== undefined)
      return await readLocal(context, partsOf(context, readParts(localPath(url)), "It cannot be read"))
  }
  if (!isAllowedSourceUrl(url))
    throw new DownloadRefusal(
      `${originOf(url)} is not allowed: a source needs https, or http on loopback, and no user name.`,
    )
  for (let redirectCount = 0; ; redirectCount++) {
    const result: StreamedResult<T> | URL = await sendRequest(context, url)
    if (!(result instanceof URL)) return result
    if (redirectCount === redirectsMax) throw new DownloadRefusal(`It has more than ${redirectsMax} redirects.`)
    await requireNoWayInside(context, url, result)
    url = result
  }
}

async function readLocal<T>(
  { read }: DownloadContext<T>,
  parts: AsyncIterable<Uint8Array>,
): Promise<StreamedResult<T>> {
  return { kind: "taken", value: await read(parts), validators: { etag: null, lastModified: null } }
}

/** The text of a file of this host, or of the files of a directory. */
async function* localText({ bounds }: RequestContext, readTexts: ReadTexts, url: URL): AsyncGenerator<Uint8Array> {
  const file = readTexts(localPath(url), bounds.bytesMax)
  if (file.kind === "unreadable") throw new DownloadRefusal(`It cannot be read: ${file.why}.`)
  yield Buffer.from(file.text)
}

function localPath(url: URL): string {
  if (url.host !== "") throw new DownloadRefusal("Its URL names a host. Write it with three slashes: file:///path.")
  return fileURLToPath(url)
}

/** Sends one request and returns the download or the target of a redirect. The unread rest of a response is aborted. */
async function sendRequest<T>(context: DownloadContext<T>, url: URL): Promise<StreamedResult<T> | URL> {
  const request = new AbortController()
  const headers = { ...context.conditions, "user-agent": context.deps.userAgent }
  try {
    const pending = context.deps.fetchUrl(url.href, { signal: request.signal, headers })
    const response = await withinDeadline(context, pending, `Nobody answered at ${originOf(url)}`)
    if (isRedirect(response.status)) return redirectTarget(response, url)
    return await readDownload(context, response)
  } finally {
    request.abort()
  }
}

/** Throws a refusal when a public server redirects to one that is not public, or of which that is not known. */
async function requireNoWayInside(context: RequestContext, from: URL, to: URL): Promise<void> {
  const isRefused = await withinDeadline(context, isWayInside(from, to, context.deps.resolver ?? null), "Nobody knows")
  if (isRefused) throw new DownloadRefusal(`It redirects to ${originOf(to)}, which has no public address.`)
}

async function isWayInside(from: URL, to: URL, resolver: CachingResolver | null): Promise<boolean> {
  // The server of the same name has answered already.
  if (from.host === to.host || isInternal(from)) return false
  if (resolver === null) return isInternal(to)
  if (!isInternal(to) && (await addressKind(resolver, to)) === "public") return false
  return (await addressKind(resolver, from)) !== "private"
}

function redirectTarget({ status, headers }: Response, from: URL): URL {
  const to = URL.parse(headers.get("location") ?? "", from)
  if (to === null || !headers.has("location")) throw new DownloadRefusal(`${statusText(status)}, but without a URL.`)
  if (!isAllowedRedirect(from, to))
    throw new DownloadRefusal(`${statusText(status)} and redirects to ${originOf(to)}, which is not allowed.`)
  return to
}

async function readDownload<T>(context: DownloadContext<T>, response: Response): Promise<StreamedResult<T>> {
  const { status, headers } = response
  if (status === 304) {
    if (Object.keys(context.conditions).length === 0)
      throw new DownloadRefusal(`${statusText(status)}, although the request was not conditional.`)
    return { kind: "unchanged" }
  }
  if (status !== 200) throw new DownloadRefusal(`${statusText(status)}.`)
  if (HTML_TYPE.test(headers.get("content-type") ?? "")) throw new DownloadRefusal("It is an HTML page.")
  const value = await context.read(bodyParts(context, response))
  return { kind: "taken", value, validators: readValidators(headers) }
}

const HTML_TYPE = /^\s*text\/html\s*(?:;|$)/i

/** The parts of the body, decompressed. */
async function* bodyParts(context: RequestContext, { headers, body }: Response): AsyncGenerator<Uint8Array, undefined> {
  const { bytesMax } = context.bounds
  const announced = headers.get("content-length")
  if (announced !== null && Number(announced) > bytesMax)
    throw new DownloadRefusal(`Its Content-Length is ${Number(announced)} bytes, more than ${bytesMax}.`)
  const count = body === null ? 0 : yield* partsOf(context, body, "The body broke off")
  // Content-Length counts compressed bytes, which are unknown here; the decompression reports a truncated body itself.
  if (announced !== null && !headers.has("content-encoding") && count !== Number(announced))
    throw new DownloadRefusal(`Its Content-Length is ${Number(announced)} bytes, but it has ${count}.`)
}

/** The parts of a body or a file, within its bounds, and at last how many bytes they had. `failure`: what is said if it breaks off. */
async function* partsOf(
  context: RequestContext,
  source: AsyncIterable<Uint8Array>,
  failure: string,
): AsyncGenerator<Uint8Array, number> {
  const { bytesMax } = context.bounds
  const parts = source[Symbol.asyncIterator]()
  try {
    for (let count = 0; ; ) {
      const { done, value } = await withinDeadline(context, parts.next(), failure)
      if (done === true) return count
      count += value.byteLength
      if (count > bytesMax) throw new DownloadRefusal(`It has more than ${bytesMax} bytes.`)
      yield value
    }
  } finally {
    // Not awaited: after a time-out the part before is still waited for.
    parts.return?.().catch(() => undefined)
  }
}

function decodeText(body: Uint8Array): string {
  const text = decodeUtf8(body)
  if (text === null) throw new DownloadRefusal("It is not UTF-8.")
  if (/^\s*</.test(text)) throw new DownloadRefusal("It begins with `<`, as HTML and XML do.")
  return text
}

/** The value of a promise. Throws a refusal if it rejects (`failure`), or at the end of the idle time or of the deadline. */
async function withinDeadline<T>(
  { deps, bounds, deadline }: RequestContext,
  pending: T | Promise<T>,
  failure: string,
): Promise<T> {
  const { timeoutMs, idleMs } = bounds
  const idle = new Deadline(deps.setTimer, idleMs)
  const settled = Promise.resolve(pending).then(
    value => ({ value }),
    fault => ({ message: `${failure} (${errorCode(fault)}).` }),
  )
  const idled = idle.wait<StepResult<T>>(settled, { message: `No data arrived for ${idleMs / 1000} s.` })
  const timedOut = { message: `It was not complete after ${timeoutMs / 1000} s.` }
  const step = await deadline.wait<StepResult<T>>(idled, timedOut)
  idle.cancel()
  if ("message" in step) throw new DownloadRefusal(step.message)
  return step.value
}

type StepResult<T> = { readonly value: T } | { readonly message: string }

const statusText = (status: number): string =>
  `The server answered ${status} (${statusName(status) ?? "no known status"})`

/** The scheme and host of a URL. Its path may be a secret, so no message contains it. */
const originOf = ({ protocol, host }: URL): string => `${protocol}//${host}`

/** Loopback hosts as the URL parser serialises them (`127.1` becomes `127.0.0.1`). */
const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/

/** Whether a source may be downloaded from the URL: https, or http on loopback; without user name and password. */
export function isAllowedSourceUrl(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))
}

/**
 * Whether the URLs alone let a redirect be followed: its target is an allowed URL, and is loopback only if the origin is. So no remote
 * server can redirect a download to a service on this machine.
 */
export function isAllowedRedirect(from: URL, to: URL): boolean {
  return isAllowedSourceUrl(to) && (isLoopback(from) || !isLoopback(to))
}

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK_HOST.test(hostname)

/** Names that no public DNS has: with one label, or below `localhost` (RFC 6761 §6.3). */
const INTERNAL_NAME = /^[^.]+\.?$|(?:^|\.)localhost\.?$/

/** Whether the host of a URL is, as it is written, on this machine or in a private network. */
function isInternal(url: URL): boolean {
  const address = addressInUrl(url)
  return address === null ? INTERNAL_NAME.test(url.hostname) : parsePublicAddress(address) === null
}

/** RFC 9110 §8.8.3, ASCII only: other bytes do not survive a round trip through a header. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/
/** RFC 9110 §5.6.7, the format that servers must generate. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** The validators of a response. */
export function readValidators(headers: Headers): CacheValidators {
  return wellFormedValidators({ etag: headers.get("etag"), lastModified: headers.get("last-modified") })
}

/** The headers of a conditional request (RFC 9110 §13.1.2, §13.1.3); none if nothing is known. */
export function conditionalHeaders(known: CacheValidators | null): Readonly<Record<string, string>> {
  const { etag, lastModified } = wellFormedValidators(known ?? { etag: null, lastModified: null })
  return {
    ...(etag === null ? {} : { "if-none-match": etag }),
    ...(lastModified === null ? {} : { "if-modified-since": lastModified }),
  }
}

/** Drops malformed validators: a server could misread them, or the header could not be sent. */
const wellFormedValidators = ({ etag, lastModified }: CacheValidators): CacheValidators => ({
  etag: etag !== null && ENTITY_TAG.test(etag) ? etag : null,
  lastModified: lastModified !== null && HTTP_DATE.test(lastModified) ? lastModified : null,
})
