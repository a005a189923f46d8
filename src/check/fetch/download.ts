import { STATUS_CODES } from "node:http"
import { Deadline } from "../../base/concurrency.ts"
import { errorCode } from "../../base/errors.ts"
import { type CacheValidators, type Fetch, isRedirect } from "../../base/fetch.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import { decodeUtf8 } from "../../base/text.ts"

/** How far a download may go. */
export type DownloadBounds = {
  /** Of the body, as it came and as it is after decompression. */
  readonly bytesMax: number
  /** For all of it, redirects included. */
  readonly timeoutMs: number
  /** For the next part of the answer. */
  readonly idleMs: number
  readonly redirectsMax: number
}

/** The bounds of every list source. */
export const DOWNLOAD_BOUNDS = {
  bytesMax: 64 * 1024 * 1024,
  timeoutMs: 60_000,
  idleMs: 15_000,
  redirectsMax: 3,
} as const satisfies DownloadBounds

/** What a download needs of the outside world, and how it names itself there (RFC 9110 §10.1.5). */
type DownloadDeps = { readonly fetchUrl: Fetch; readonly setTimer: SetTimer; readonly userAgent: string }

/** What became of a download. */
export type DownloadResult =
  /** The copy that the validators are of is the newest. */
  | { readonly kind: "unchanged" }
  /** The whole text, without a byte order mark; it may be empty. `bytes` counts its octets after decompression. */
  | { readonly kind: "taken"; readonly text: string; readonly validators: CacheValidators; readonly byteCount: number }
  /** Why there is no copy: a sentence for the log, which holds nothing that came in but a status, a length and a host. */
  | { readonly kind: "failed"; readonly message: string }

/**
 * Downloads the text of a list source, if it is newer than the copy that `known` is of; null: there is none. It never
 * rejects, it settles within `timeoutMs`, and no request outlives it.
 *
 * A body that breaks off short of its Content-Length, of its last chunk or of the end of its compression is a failure. One
 * that has none of the three ends where its connection does (RFC 9112 §6.3): nothing here can tell that it was cut.
 */
export async function download(
  deps: DownloadDeps,
  url: string,
  known: CacheValidators | null,
  bounds: DownloadBounds,
): Promise<DownloadResult> {
  const deadline = new Deadline(deps.setTimer, bounds.timeoutMs)
  try {
    return await followRedirects({ deps, bounds, deadline, conditions: conditionalHeaders(known) }, url)
  } catch (fault) {
    return {
      kind: "failed",
      message: fault instanceof DownloadRefusal ? fault.message : `It failed by ${errorCode(fault)}.`,
    }
  } finally {
    deadline.cancel()
  }
}

type DownloadContext = {
  readonly deps: DownloadDeps
  readonly bounds: DownloadBounds
  readonly deadline: Deadline
  readonly conditions: Readonly<Record<string, string>>
}

/** Why the answer is not taken. */
class DownloadRefusal extends Error {}

async function followRedirects(asking: DownloadContext, text: string): Promise<DownloadResult> {
  const { redirectsMax } = asking.bounds
  let url = URL.parse(text)
  if (url === null) throw new DownloadRefusal("Its URL is none.")
  if (!isAllowedSourceUrl(url))
    throw new DownloadRefusal(
      `It is not asked at ${originOf(url)}: by https alone, or http on loopback, and without a user name.`,
    )
  for (let redirects = 0; ; redirects++) {
    const answer = await sendRequest(asking, url)
    if (!(answer instanceof URL)) return answer
    if (redirects === redirectsMax) throw new DownloadRefusal(`It has more than ${redirectsMax} redirects.`)
    url = answer
  }
}

/** Puts one request: where it is redirected to, or what was downloaded. What is not read of an answer is not waited for. */
async function sendRequest(asking: DownloadContext, url: URL): Promise<DownloadResult | URL> {
  const request = new AbortController()
  const headers = { ...asking.conditions, "user-agent": asking.deps.userAgent }
  try {
    const sent = asking.deps.fetchUrl(url.href, { signal: request.signal, headers })
    const response = await withinDeadline(asking, sent, "Nobody answered")
    if (isRedirect(response.status)) return redirectTarget(response, url)
    return await readDownload(asking, response)
  } finally {
    request.abort()
  }
}

function redirectTarget({ status, headers }: Response, from: URL): URL {
  const to = URL.parse(headers.get("location") ?? "", from)
  if (to === null || !headers.has("location")) throw new DownloadRefusal(`${statusText(status)}, but no URL to go to.`)
  if (!isAllowedRedirect(from, to))
    throw new DownloadRefusal(`${statusText(status)} and leads to ${originOf(to)}, where no source is asked.`)
  return to
}

async function readDownload(asking: DownloadContext, response: Response): Promise<DownloadResult> {
  const { status, headers } = response
  if (status === 304) {
    if (Object.keys(asking.conditions).length === 0)
      throw new DownloadRefusal(`${statusText(status)}, though it was not asked whether anything changed.`)
    return { kind: "unchanged" }
  }
  if (status !== 200) throw new DownloadRefusal(`${statusText(status)}.`)
  if (HTML_TYPE.test(headers.get("content-type") ?? "")) throw new DownloadRefusal("It is an HTML page.")
  const body = await readBody(asking, response)
  return { kind: "taken", text: decodeText(body), validators: readValidators(headers), byteCount: body.byteLength }
}

const HTML_TYPE = /^\s*text\/html\s*(?:;|$)/i

/** The body, decompressed. */
async function readBody(asking: DownloadContext, { headers, body }: Response): Promise<Uint8Array> {
  const { bytesMax } = asking.bounds
  const announced = headers.get("content-length")
  if (announced !== null && Number(announced) > bytesMax)
    throw new DownloadRefusal(`It says that it has ${Number(announced)} octets, more than ${bytesMax}.`)
  const reader = body?.getReader()
  const chunks: Uint8Array[] = []
  let count = 0
  for (;;) {
    const chunk = (await withinDeadline(asking, reader?.read(), "The body broke off"))?.value
    if (chunk === undefined) break
    count += chunk.byteLength
    if (count > bytesMax) throw new DownloadRefusal(`It has more than ${bytesMax} octets.`)
    chunks.push(chunk)
  }
  // The length is that of what was sent, which is not known once it is decompressed; the decompression notices then.
  if (announced !== null && !headers.has("content-encoding") && count !== Number(announced))
    throw new DownloadRefusal(`It says that it has ${Number(announced)} octets, and has ${count}.`)
  return Buffer.concat(chunks)
}

function decodeText(body: Uint8Array): string {
  const text = decodeUtf8(body)
  if (text === null) throw new DownloadRefusal("It is no UTF-8.")
  if (/^\s*</.test(text)) throw new DownloadRefusal("It begins with `<`, as HTML and XML do.")
  return text
}

/** What is promised, if it comes before the time is over and the other side is given up. */
async function withinDeadline<T>(
  { deps, bounds, deadline }: DownloadContext,
  promised: T | Promise<T>,
  broken: string,
): Promise<T> {
  const { timeoutMs, idleMs } = bounds
  const idle = new Deadline(deps.setTimer, idleMs)
  const heard = Promise.resolve(promised).then(
    value => ({ value }),
    fault => ({ says: `${broken} (${errorCode(fault)}).` }),
  )
  const silent = idle.wait<StepResult<T>>(heard, { says: `Nothing came for ${idleMs / 1000} s.` })
  const step = await deadline.wait<StepResult<T>>(silent, { says: `It was not whole after ${timeoutMs / 1000} s.` })
  idle.cancel()
  if ("says" in step) throw new DownloadRefusal(step.says)
  return step.value
}

type StepResult<T> = { readonly value: T } | { readonly says: string }

const statusText = (status: number): string =>
  `The server answered ${status} (${STATUS_CODES[status] ?? "no known status"})`

/** A URL by its scheme and host alone: its path may be a secret. */
const originOf = ({ protocol, host }: URL): string => `${protocol}//${host}`

/** IPv4 and IPv6 loopback and the name for both, as the URL parser writes them: `127.1` has become `127.0.0.1` by then. */
const LOOPBACK_HOST = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/

/** Whether a list source may be asked at the URL: by https, or by http on loopback; and without a user name or a password. */
export function isAllowedSourceUrl(url: URL): boolean {
  if (url.username !== "" || url.password !== "") return false
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))
}

/**
 * Whether a redirect may be followed: to where a source may be asked, and to loopback from there only. No server elsewhere
 * sends us to what listens on this machine.
 */
export function isAllowedRedirect(from: URL, to: URL): boolean {
  return isAllowedSourceUrl(to) && (isLoopback(from) || !isLoopback(to))
}

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK_HOST.test(hostname)

/** RFC 9110 §8.8.3, without the octets beyond ASCII: they do not come back from a header as they went in. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/
/** RFC 9110 §5.6.7, the form that servers must write. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** The validators of an answer. */
export function readValidators(headers: Headers): CacheValidators {
  return wellFormedValidators({ etag: headers.get("etag"), lastModified: headers.get("last-modified") })
}

/** The headers that ask for what is newer than `known` (RFC 9110 §13.1.2, §13.1.3); none when nothing is known. */
export function conditionalHeaders(known: CacheValidators | null): Readonly<Record<string, string>> {
  const { etag, lastModified } = wellFormedValidators(known ?? { etag: null, lastModified: null })
  return {
    ...(etag === null ? {} : { "if-none-match": etag }),
    ...(lastModified === null ? {} : { "if-modified-since": lastModified }),
  }
}

/** A validator of another form would be misread, or would make a header that cannot be sent. */
const wellFormedValidators = ({ etag, lastModified }: CacheValidators): CacheValidators => ({
  etag: etag !== null && ENTITY_TAG.test(etag) ? etag : null,
  lastModified: lastModified !== null && HTTP_DATE.test(lastModified) ? lastModified : null,
})
