import { Deadline } from "../../base/concurrency.ts"
import { type ByteConnection, type Connect, ConnectError, type ConnectTarget } from "../../base/connect.ts"
import { assert } from "../../base/errors.ts"
import { isRedirect } from "../../base/fetch.ts"
import type { SetTimer } from "../../base/outside-world.ts"
import type { CachingResolver } from "../dns/dns-types.ts"
import {
  FetchError,
  type FetchErrorCause,
  type FetchTarget,
  parseFetchTarget,
  parseLocalTarget,
} from "./fetch-target.ts"
import {
  ACCEPTED_CODINGS,
  ConnectionReader,
  decodeBody,
  type ResponseHead,
  readResponseBody,
  readResponseHead,
} from "./http-response.ts"
import { resolvePublicAddresses } from "./public-address.ts"

/** What a guarded fetch needs. */
export type GuardedFetchDeps = {
  readonly resolver: CachingResolver
  readonly connect: Connect
  readonly setTimer: SetTimer
  /** The `User-Agent` header (RFC 9110 §10.1.5): who we are and how to reach us. Printable ASCII. */
  readonly userAgent: string
}

/** The bounds of a guarded fetch. */
export const GUARDED_FETCH_BOUNDS = {
  /** For all of it, redirects included. */
  timeoutMs: 5000,
  /** To open one connection. */
  connectMs: 2000,
  /** How many addresses of a name are tried. */
  addressesMax: 2,
  redirectsMax: 3,
  /** Of one response, with its interim (1xx) responses. */
  headBytesMax: 32_768,
  /** Of a body, before and after decompression. A longer body is truncated. */
  bodyBytesMax: 262_144,
  /** Of all bytes of one connection. It leaves room for chunks of a few bytes each. */
  wireBytesMax: 1_048_576,
} as const

/** A deadline, or several combined. */
export type DeadlineView = Pick<Deadline, "wait" | "isExpired">

/** A response that is no redirect. */
export type FetchedPage = {
  readonly status: number
  /** The `Content-Type` header; null: there is none. */
  readonly contentType: string | null
  /** The decompressed body, or its beginning. */
  readonly body: Uint8Array
  readonly isTruncated: boolean
  /** A redirect went from https to http. */
  readonly isDowngraded: boolean
}

/** The result of a guarded fetch. `redirectChain`: every URL in order; the last one may have been refused. */
export type GuardedFetchResult = { readonly redirectChain: readonly string[] } & (
  | { readonly known: true; readonly value: FetchedPage }
  | { readonly known: false; readonly cause: FetchErrorCause }
)

/**
 * Fetches a URL that a stranger chose, and is safe against requests to our own network (SSRF). Only names are allowed, on ports
 * 80 and 443. A name is resolved once, all its addresses must be public, and the connection goes to one of these addresses. The
 * same holds for each redirect. No cookie is kept or sent. It never rejects, it settles within its own timeout and the
 * deadline, and no connection outlives it.
 */
export type GuardedFetch = (url: string, deadline: DeadlineView) => Promise<GuardedFetchResult>

/** Builds a guarded fetch. */
export function createGuardedFetch(deps: GuardedFetchDeps): GuardedFetch {
  assert(/^[ -~]+$/.test(deps.userAgent), "the user agent is printable ASCII")
  return async (url, deadline) => {
    const redirectChain: string[] = []
    const settled = await settle(deps, GUARDED_FETCH_BOUNDS.timeoutMs, deadline, context =>
      followRedirects(context, url, redirectChain),
    )
    return { ...settled, redirectChain: [...redirectChain] }
  }
}

/** What a request comes to within its time and the deadline, if any. It never rejects, and no connection outlives it. */
async function settle<D extends PostDeps, T>(
  deps: D,
  timeoutMs: number,
  deadline: DeadlineView | null,
  run: (context: D & { readonly signal: AbortSignal }) => Promise<T>,
): Promise<{ readonly known: true; readonly value: T } | { readonly known: false; readonly cause: FetchErrorCause }> {
  const own = new Deadline(deps.setTimer, timeoutMs)
  const abort = new AbortController()
  try {
    const inTime = own.wait(run({ ...deps, signal: abort.signal }), null)
    const value = await (deadline === null ? inTime : deadline.wait(inTime, null))
    return value === null ? { known: false, cause: "timed_out" } : { known: true, value }
  } catch (error) {
    return { known: false, cause: error instanceof FetchError ? error.reason : "failed" }
  } finally {
    own.cancel()
    abort.abort()
  }
}

/** The result of a guarded POST: the status of its response, whose body is not read, or why there is none. */
export type GuardedPostResult =
  | { readonly known: true; readonly status: number }
  | { readonly known: false; readonly cause: FetchErrorCause }

/**
 * Posts to a URL of https that a stranger chose, as guarded as `GuardedFetch` is. A redirect is not followed. Values of headers are
 * printable ASCII. It never rejects, settles within `timeoutMs`, and no connection outlives it.
 */
export type GuardedPost = (
  url: string,
  request: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<GuardedPostResult>

/** Builds a guarded POST. */
export function createGuardedPost(deps: GuardedFetchDeps, timeoutMs: number): GuardedPost {
  return async (url, request) => {
    const settled = await settle(deps, timeoutMs, null, async context => {
      const target = requireTarget(url)
      if (!target.isTls) throw new FetchError("bad_scheme")
      return await postOnce(context, target, await connectToHost(context, target), request)
    })
    return settled.known ? { known: true, status: settled.value } : settled
  }
}

/** Builds a POST to this host, for URLs that `parseLocalTarget` takes. It is bounded as `GuardedPost` is. */
export function createLocalPost(deps: PostDeps, timeoutMs: number): GuardedPost {
  return async (url, request) => {
    const settled = await settle(deps, timeoutMs, null, async context => {
      const target = parseLocalTarget(url)
      if (target === null) throw new FetchError("bad_url")
      const addresses = target.host === "localhost" ? LOOPBACK : [target.host.replace(/^\[|\]$/g, "")]
      return await postOnce(context, target, await connectToFirst(context, target, addresses), request)
    })
    return settled.known ? { known: true, status: settled.value } : settled
  }
}

const LOOPBACK = ["127.0.0.1", "::1"] as const

async function postOnce(
  context: PostContext,
  target: FetchTarget,
  connection: ByteConnection,
  { headers, body }: Parameters<GuardedPost>[1],
): Promise<number> {
  const all = {
    "User-Agent": context.userAgent,
    ...headers,
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
  }
  connection.send(headText("POST", target, all) + body)
  const reader = new ConnectionReader(connection.chunks, GUARDED_FETCH_BOUNDS.wireBytesMax)
  return (await readResponseHead(reader, GUARDED_FETCH_BOUNDS.headBytesMax)).status
}

type PostDeps = Omit<GuardedFetchDeps, "resolver">
type PostContext = PostDeps & { readonly signal: AbortSignal }
type FetchContext = GuardedFetchDeps & { readonly signal: AbortSignal }

async function followRedirects(context: FetchContext, url: string, redirectChain: string[]): Promise<FetchedPage> {
  let target = requireTarget(url)
  let isDowngraded = false
  for (let redirects = 0; ; redirects++) {
    redirectChain.push(target.href)
    const response = await requestOnce(context, target)
    if (!("redirect" in response)) return { ...response, isDowngraded }
    if (redirects === GUARDED_FETCH_BOUNDS.redirectsMax) throw new FetchError("too_many_redirects")
    const next = requireTarget(response.redirect, target.href, redirectChain)
    isDowngraded ||= target.isTls && !next.isTls
    target = next
  }
}

/** The target of a URL. A URL that is refused is added to the redirect chain. */
function requireTarget(text: string, base?: string, redirectChain?: string[]): FetchTarget {
  const target = parseFetchTarget(text, base)
  if (typeof target !== "string") return target
  const refused = URL.parse(text, base)
  if (refused !== null) redirectChain?.push(refused.href)
  throw new FetchError(target)
}

/** Sends one request on a new connection, and returns the page or the target of the redirect. */
async function requestOnce(
  context: FetchContext,
  target: FetchTarget,
): Promise<Omit<FetchedPage, "isDowngraded"> | { redirect: string }> {
  const connection = await connectToHost(context, target)
  connection.send(getText(target, context.userAgent))
  const reader = new ConnectionReader(connection.chunks, GUARDED_FETCH_BOUNDS.wireBytesMax)
  const head = await readResponseHead(reader, GUARDED_FETCH_BOUNDS.headBytesMax)
  const redirect = redirectLocation(head)
  // The body of a redirect is not read. The connection ends with the fetch.
  if (redirect !== null) return { redirect }
  const { bodyBytesMax } = GUARDED_FETCH_BOUNDS
  const raw = await readResponseBody(reader, head, bodyBytesMax)
  const { bytes, isTruncated } = await decodeBody(raw, head.headers.get("content-encoding"), bodyBytesMax)
  return { status: head.status, contentType: head.headers.get("content-type") ?? null, body: bytes, isTruncated }
}

const redirectLocation = ({ status, headers }: ResponseHead): string | null =>
  isRedirect(status) ? (headers.get("location") ?? null) : null

const getText = (target: FetchTarget, userAgent: string): string =>
  headText("GET", target, {
    "User-Agent": userAgent,
    Accept: "text/html, application/xhtml+xml;q=0.9, */*;q=0.5",
    "Accept-Encoding": ACCEPTED_CODINGS,
    Connection: "close",
  })

/** The head of a request. Host and path of a target are printable ASCII, so that a URL cannot inject a header line. */
function headText(
  method: "GET" | "POST",
  { host: name, port, path, isTls }: FetchTarget,
  headers: Readonly<Record<string, string>>,
): string {
  const host = port === (isTls ? 443 : 80) ? name : `${name}:${port}`
  const lines = Object.entries({ Host: host, ...headers }).map(([key, value]) => `${key}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`
}

/** Connects to the first address of the host that accepts. All addresses are checked before the first is tried. */
async function connectToHost(context: FetchContext, target: FetchTarget): Promise<ByteConnection> {
  return await connectToFirst(context, target, await resolvePublicAddresses(context.resolver, target.host))
}

async function connectToFirst(
  context: PostContext,
  { host, port, isTls }: FetchTarget,
  addresses: readonly string[],
): Promise<ByteConnection> {
  const tlsName = isTls ? host : null
  let failure: FetchErrorCause = "no_address"
  for (const address of addresses.slice(0, GUARDED_FETCH_BOUNDS.addressesMax)) {
    const connection = await connectToAddress(context, { address, port, tlsName })
    if (typeof connection !== "string") return connection
    failure = connection
    // The other addresses would have the same certificate.
    if (failure === "untrusted") break
  }
  throw new FetchError(failure)
}

async function connectToAddress(
  { connect, setTimer, signal }: PostContext,
  target: ConnectTarget,
): Promise<ByteConnection | FetchErrorCause> {
  // The fetch may have ended while DNS was queried.
  if (signal.aborted) return "timed_out"
  const abort = new AbortController()
  signal.addEventListener("abort", () => abort.abort(), { once: true })
  const deadline = new Deadline(setTimer, GUARDED_FETCH_BOUNDS.connectMs)
  const connecting = connect(target, abort.signal).catch(toFetchErrorCause)
  const connection = await deadline.wait<ByteConnection | FetchErrorCause>(connecting, "timed_out")
  deadline.cancel()
  if (connection === "timed_out") abort.abort()
  return connection
}

function toFetchErrorCause(error: unknown): FetchErrorCause {
  if (error instanceof ConnectError) return error.reason
  throw error
}
